/**
 * Calls of an administrator and of a node to a running Hawser, for scripts. Every answer but the expected one throws.
 */

import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { fromBufferPromise } from 'yauzl';
import { type Client, makeUncheckedClient, type Reply, type Target } from '../../test/support/client.ts';
import { makeClientCertificate } from '../../test/support/client-certificates.ts';
import { testedService, testOutput } from '../../test/support/dsc-results.ts';

/** The scopes that the stories of a first pull and of rollouts need. */
const SCOPES = [
  'configurations.create',
  'configurations.grants',
  'registration-keys.manage',
  'nodes.read',
  'nodes.assign-configuration',
  ...['nodes.write', 'scopes.admin-override', 'server.settings.write', 'rollouts.manage'],
];

export interface Poll {
  /** False means 304: the checksum that was sent is still current. */
  isNew: boolean;
  checksum: string;
  /** Null for a 304, which has no body. */
  version: string | null;
}

export interface Rollout {
  state: string;
  history: { reason: string }[];
}

/** Maps a path to its content. */
export type Files = Record<string, string>;

function expectStatus(reply: Reply, ...allowed: number[]): Reply {
  if (allowed.includes(reply.status)) return reply;
  throw new Error(`the server answered ${reply.status} instead of ${allowed.join(' or ')}: ${reply.text}`);
}

/** Calls of one administrator, who uses a token. */
export class Administrator {
  private readonly target: Target;
  private readonly client: Client;

  private constructor(target: Target, client: Client) {
    this.target = target;
    this.client = client;
  }

  /** Signs in, changes the password if the server asks for it, and makes a token. */
  static async signIn(target: Target, password: string, newPassword: string): Promise<Administrator> {
    const client = makeUncheckedClient(target);
    const login = expectStatus(await client.post('/api/v1/auth/login', { username: 'admin', password }), 200);
    const session = client.with({ Cookie: String(login.headers['set-cookie']).split(';', 1)[0] ?? '' });
    if (login.json.requirePasswordChange) {
      const change = { currentPassword: password, newPassword };
      expectStatus(await session.post('/api/v1/auth/change-password', change), 204);
    }
    const token = await session.post('/api/v1/auth/tokens', { name: 'script', scopes: SCOPES });
    const authorization = `Bearer ${expectStatus(token, 201).json.token}`;
    return new Administrator(target, client.with({ Authorization: authorization }));
  }

  /** Makes the configuration, with a draft as its first version. */
  async createConfiguration(name: string, version: string, files: Files): Promise<void> {
    const form = { fields: { name, version }, files };
    expectStatus(await this.client.upload('/api/v1/configurations', form), 201);
  }

  async createDraft(name: string, version: string, files: Files): Promise<void> {
    const path = `/api/v1/configurations/${name}/versions`;
    expectStatus(await this.client.upload(path, { fields: { version }, files }), 201);
  }

  /** @returns the commit that the version's tag points to */
  async publish(name: string, version: string): Promise<string> {
    const path = `/api/v1/configurations/${name}/versions/${version}/publish`;
    return expectStatus(await this.client.put(path), 200).json.commit;
  }

  /** Registers a new node, with a key for one use and a certificate of its own. */
  async registerNode(fqdn: string): Promise<RegisteredNode> {
    const key = await this.client.post('/api/v1/admin/registration-keys', { maxUses: 1 });
    const registrationKey: string = expectStatus(key, 201).json.key;
    const identity = await makeClientCertificate({ commonName: fqdn });
    const client = makeUncheckedClient(this.target, identity);
    const reply = await client.post('/api/v1/nodes/register', { registrationKey, fqdn });
    return new RegisteredNode(expectStatus(reply, 200).json.nodeId, identity.thumbprint, client);
  }

  async assign(node: RegisteredNode, configurationName: string, majorVersion?: number): Promise<void> {
    const assignment = { configurationName, majorVersion: majorVersion ?? null };
    expectStatus(await this.client.put(`/api/v1/nodes/${node.id}/configuration`, assignment), 204);
  }

  /** Makes a scope type whose values are the rings of rollouts from now on, with a first ring. @returns the ring's id */
  async makeRing(ring: string): Promise<string> {
    const body = { name: 'Ring', valueMode: 'Restricted' };
    const { id } = expectStatus(await this.client.post('/api/v1/scope-types', body), 201).json;
    const value = await this.client.post(`/api/v1/scope-types/${id}/values`, { value: ring });
    const setting = { rolloutScopeType: 'Ring' };
    expectStatus(await this.client.put('/api/v1/settings/rollouts', setting), 200);
    return expectStatus(value, 201).json.id;
  }

  async tag(node: RegisteredNode, scopeValueId: string): Promise<void> {
    expectStatus(await this.client.post(`/api/v1/nodes/${node.id}/tags`, { scopeValueId }), 201);
  }

  async rollOut(name: string, plan: object): Promise<void> {
    expectStatus(await this.client.post(`/api/v1/configurations/${name}/rollouts`, plan), 201);
  }

  async readRollout(name: string, version: string): Promise<Rollout> {
    const path = `/api/v1/configurations/${name}/rollouts/${version}`;
    return expectStatus(await this.client.get(path), 200).json;
  }

  close(): void {
    this.client.close();
  }
}

/** Calls of one node over mTLS. */
export class RegisteredNode {
  readonly id: string;
  /** The SHA-256 of the node's certificate. */
  readonly thumbprint: string;
  private readonly client: Client;

  constructor(id: string, thumbprint: string, client: Client) {
    this.id = id;
    this.thumbprint = thumbprint;
    this.client = client;
  }

  async poll(known?: string): Promise<Poll> {
    const headers: Record<string, string> = known === undefined ? {} : { 'If-None-Match': `"${known}"` };
    const reply = expectStatus(await this.client.get(this.path('/checksum'), headers), 200, 304);
    if (reply.status === 304) return { isNew: false, checksum: known ?? '', version: null };
    return { isNew: true, checksum: reply.json.checksum, version: reply.json.version };
  }

  /** Downloads the bundle, checks its digest, and unpacks it in memory. */
  async pull(): Promise<Files> {
    const { headers, bytes } = expectStatus(await this.client.get(this.path('/bundle')), 200);
    const digest = `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`;
    if (headers['repr-digest'] !== digest)
      throw new Error('the bundle does not have the digest it came with');
    const files: Files = {};
    const zip = await fromBufferPromise(bytes);
    for await (const entry of zip.eachEntry()) {
      files[entry.fileName] = (await buffer(await zip.openReadStreamPromise(entry))).toString('utf8');
    }
    return files;
  }

  /** Reports a test, which may have failed. */
  async report(hadErrors: boolean): Promise<void> {
    const result = testOutput([testedService(!hadErrors)], hadErrors);
    const path = `/api/v1/nodes/${this.id}/reports`;
    expectStatus(await this.client.post(path, { operation: 'Test', result }), 201);
  }

  /** @returns the status that the node gets when it asks in another node's name */
  async statusOfOther(other: RegisteredNode): Promise<number> {
    return (await this.client.get(other.path('/checksum'))).status;
  }

  close(): void {
    this.client.close();
  }

  private path(end: string): string {
    return `/api/v1/nodes/${this.id}/configuration${end}`;
  }
}
