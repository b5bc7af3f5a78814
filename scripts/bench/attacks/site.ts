/** A fresh server for an attack: its administrator, its nodes, what they get, and the attackers. */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  openRaw,
  type RawConnection,
  type RawOptions,
} from '../../../test/support/attacks/raw-connection.ts';
import { type Client, makeUncheckedClient, type Reply } from '../../../test/support/client.ts';
import { makeClientCertificate } from '../../../test/support/client-certificates.ts';
import type { Endpoint } from '../messages.ts';
import { signIn } from '../probe.ts';
import type { AttackNode } from './attack.ts';
import { Caller, type CallerOptions } from './caller.ts';
import { Traffic } from './traffic.ts';

export const ENTRY_POINT = 'main.dsc.yaml';
const SMALL = { [ENTRY_POINT]: '$schema: x\nresources: []\n' };
const SCOPES = [
  'configurations.create',
  'configurations.admin-override',
  'composite-configurations.create',
  'composite-configurations.admin-override',
  'parameters.admin-override',
  'registration-keys.manage',
  'nodes.read',
  'nodes.assign-configuration',
  'server.settings.write',
];
const PASSWORD = 'a-password-of-another-user';

interface Named {
  id: string;
  name: string;
}

/** Maps a path to its content. */
export type Files = Record<string, string | Buffer>;

export class Site {
  readonly endpoint: Endpoint;
  /** The folder that contains `data`. */
  readonly folder: string;
  readonly isQuick: boolean;
  readonly traffic = new Traffic();
  /** Uses a session of the first administrator. Its requests are not counted. */
  private readonly session: Client;
  /** Uses a token of the same administrator. Its requests are not counted either. */
  private readonly admin: Client;
  private readonly authorization: string;

  private constructor(endpoint: Endpoint, folder: string, isQuick: boolean, session: Client, token: string) {
    this.endpoint = endpoint;
    this.folder = folder;
    this.isQuick = isQuick;
    this.session = session;
    this.authorization = `Bearer ${token}`;
    this.admin = makeUncheckedClient(endpoint).with({ Authorization: this.authorization });
  }

  static async open(endpoint: Endpoint, folder: string, isQuick: boolean): Promise<Site> {
    const session = await signIn(endpoint);
    return new Site(endpoint, folder, isQuick, session, await tokenOf(session));
  }

  /** Returns the full amount, or the smaller one with `--quick`. */
  amount(full: number, quick: number): number {
    return this.isQuick ? quick : full;
  }

  /** Makes a node with the configuration of that name. The configuration is made if it does not exist. */
  async nodeWith(fqdn: string, configurationName: string): Promise<AttackNode> {
    const there = await this.admin.get(`/api/v1/configurations/${configurationName}`);
    if (there.status === 404) await this.publish(configurationName, SMALL);
    const node = await this.register(fqdn);
    await this.assign(node, configurationName);
    return node;
  }

  async register(fqdn: string): Promise<AttackNode> {
    const made = ok(201, await this.admin.post('/api/v1/admin/registration-keys', {}));
    const identity = await makeClientCertificate({ commonName: fqdn });
    const client = makeUncheckedClient(this.endpoint, identity);
    const { json } = ok(
      200,
      await client.post('/api/v1/nodes/register', { registrationKey: made.json.key, fqdn }),
    );
    client.close();
    return { nodeId: json.nodeId, identity };
  }

  async assign({ nodeId }: AttackNode, configurationName: string, isComposite = false): Promise<void> {
    const path = `/api/v1/nodes/${nodeId}/configuration`;
    ok(204, await this.admin.put(path, { configurationName, isComposite }));
  }

  /**
   * Makes a configuration with the draft 1.0.0.
   * @returns the configuration's id
   */
  async draft(name: string, files: Files): Promise<string> {
    const form = { fields: { name, version: '1.0.0' }, files };
    return ok(201, await this.admin.upload('/api/v1/configurations', form)).json.id;
  }

  /** Adds a draft to a configuration. */
  async revise(name: string, version: string, files: Files): Promise<void> {
    const form = { fields: { version }, files };
    ok(201, await this.admin.upload(`/api/v1/configurations/${name}/versions`, form));
  }

  /** Makes a configuration like `draft`, and publishes its version. */
  async publish(name: string, files: Files): Promise<string> {
    const id = await this.draft(name, files);
    ok(200, await this.admin.put(`/api/v1/configurations/${name}/versions/1.0.0/publish`));
    return id;
  }

  async publishComposite(name: string, children: readonly string[]): Promise<void> {
    const path = '/api/v1/composite-configurations';
    ok(201, await this.admin.post(path, { name }));
    ok(201, await this.admin.post(`${path}/${name}/versions`, { version: '1.0.0' }));
    for (const childConfigurationName of children) {
      ok(201, await this.admin.post(`${path}/${name}/versions/1.0.0/children`, { childConfigurationName }));
    }
    ok(200, await this.admin.put(`${path}/${name}/versions/1.0.0/publish`));
  }

  /** Makes an attacker, without credentials if none are given. */
  caller(options: CallerOptions = {}): Caller {
    return new Caller(this.endpoint, this.traffic, options);
  }

  /** An attacker with the administrator's token. */
  get author(): Caller {
    return this.authorWith({});
  }

  /** The same, with more headers. */
  authorWith(headers: Record<string, string>): Caller {
    return this.caller({ headers: { Authorization: this.authorization, ...headers } });
  }

  /** The administrator's token as a header line. */
  get authorLine(): string {
    return `Authorization: ${this.authorization}`;
  }

  /** Makes another user, who is also an administrator. */
  async otherAuthor(): Promise<Caller> {
    const user = {
      username: 'other',
      email: 'other@example.org',
      password: PASSWORD,
      requirePasswordChange: false,
    };
    const { json } = ok(201, await this.session.post('/api/v1/users', user));
    const { json: roles } = ok(200, await this.session.get('/api/v1/roles'));
    const roleIds = roles.filter(({ name }: Named) => name === 'Administrator').map(({ id }: Named) => id);
    ok(200, await this.session.put(`/api/v1/users/${json.id}/roles`, { roleIds }));
    const token = await tokenOf(await signIn(this.endpoint, user));
    return this.caller({ headers: { Authorization: `Bearer ${token}` } });
  }

  /** A raw connection of an attacker; null if the server refuses it. */
  async raw(options: RawOptions): Promise<RawConnection | null> {
    try {
      const connection = await openRaw(this.endpoint, options);
      this.traffic.watch(connection);
      return connection;
    } catch {
      this.traffic.addAnswer('not connected');
      return null;
    }
  }

  /** @param milliseconds a time by which this attack is judged */
  took(milliseconds: number): void {
    this.traffic.setTook(milliseconds);
  }
}

async function tokenOf(session: Client): Promise<string> {
  return ok(201, await session.post('/api/v1/auth/tokens', { name: 'bench', scopes: SCOPES })).json.token;
}

/** @throws Error if it is another status */
export function ok(status: number, reply: Reply): Reply {
  if (reply.status === status) return reply;
  throw new Error(`expected ${status}, got ${reply.status} ${reply.text.slice(0, 400)}`);
}

/**
 * Does the work this many times, with this many in progress at once.
 * @param work is called with its number
 */
export async function inLanes(
  lanes: number,
  count: number,
  work: (at: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const at = next;
      next += 1;
      await work(at);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/**
 * Waits until the condition holds, at most this time in milliseconds.
 * @returns whether it holds
 */
export async function until(holds: () => boolean, milliseconds: number): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (!holds() && performance.now() < deadline) await sleep(20);
  return holds();
}
