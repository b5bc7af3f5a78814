/** The people behind a fleet: one who registers nodes, and an author who publishes. */

import type { RolloutState, RolloutStep } from '../../src/domain/rollout.ts';
import { type Client, makeUncheckedClient, type Reply, type Target } from '../../test/support/client.ts';
import type { Published } from './published.ts';

/** These scopes are also in the usage text, for users who give a token of their own. */
const SCOPES = [
  'configurations.create',
  'configurations.grants',
  'registration-keys.manage',
  'nodes.read',
  'nodes.assign-configuration',
  'retention.manage',
  ...['nodes.write', 'scopes.admin-override', 'server.settings.write', 'rollouts.manage'],
];

/** The limits are small, so that each cleanup finds something to delete. Retention never deletes what nodes get. */
const CLEANUPS: Record<string, unknown> = {
  configurations: { keepVersions: 5, keepDays: 0, keepReleaseVersions: false },
  reports: { keepCount: 5, keepDays: 0 },
  'status-events': { keepCount: 5, keepDays: 0 },
};

/** @returns a token of `admin` with the scopes that a fleet needs */
export async function makeToken(target: Target, password: string): Promise<string> {
  const client = makeUncheckedClient(target);
  try {
    const login = await client.post('/api/v1/auth/login', { username: 'admin', password });
    const cookie = String(expectStatus(login, 200).headers['set-cookie']).split(';', 1)[0] ?? '';
    const session = client.with({ Cookie: cookie });
    const reply = await session.post('/api/v1/auth/tokens', { name: 'fleet', scopes: SCOPES });
    return expectStatus(reply, 201).json.token;
  } finally {
    client.close();
  }
}

export interface RolloutView {
  state: RolloutState;
  steps: RolloutStep[];
  history: { reason: string }[];
}

export class Operator {
  private readonly connections: Client;
  private readonly client: Client;
  private readonly lag: number;

  /** @param lag milliseconds after which nodes must get what was published */
  constructor(target: Target, token: string, lag: number) {
    this.lag = lag;
    this.connections = makeUncheckedClient(target);
    this.client = this.connections.with({ Authorization: `Bearer ${token}` });
  }

  async makeRegistrationKey(nodes: number): Promise<string> {
    const body = { description: 'fleet simulator', maxUses: nodes };
    return expectStatus(await this.client.post('/api/v1/admin/registration-keys', body), 201).json.key;
  }

  async assign(nodeId: string, { configurationName }: Published): Promise<void> {
    expectStatus(await this.client.put(`/api/v1/nodes/${nodeId}/configuration`, { configurationName }), 204);
  }

  /** Uploads and publishes the next version. The first one also makes the configuration. */
  async publish(published: Published): Promise<void> {
    const version = await this.draft(published);
    const path = `/api/v1/configurations/${published.configurationName}/versions/${version}`;
    expectStatus(await this.client.put(`${path}/publish`), 200);
    this.makeCertain(published);
  }

  /** Uploads the next version. @returns which it is */
  async draft(published: Published): Promise<string> {
    const { configurationName: name } = published;
    const isFirst = published.count === 0;
    const { version, files } = published.prepare();
    const path = isFirst ? '/api/v1/configurations' : `/api/v1/configurations/${name}/versions`;
    const fields = isFirst ? { name, version } : { version };
    expectStatus(await this.client.upload(path, { fields, files }), 201);
    return version;
  }

  /** All nodes must get the last version from now on, or a little later where there are several servers. */
  makeCertain(published: Published): void {
    const { count } = published;
    if (this.lag === 0) published.certain = count;
    else setTimeout(() => (published.certain = Math.max(published.certain, count)), this.lag).unref();
  }

  /** Makes a scope type whose values are the rings from now on. @returns the ids of the values */
  async makeRings(name: string, rings: readonly string[]): Promise<Map<string, string>> {
    const type = expectStatus(
      await this.client.post('/api/v1/scope-types', { name, valueMode: 'Restricted' }),
      201,
    ).json;
    const ids = new Map<string, string>();
    for (const value of rings) {
      const reply = await this.client.post(`/api/v1/scope-types/${type.id}/values`, { value });
      ids.set(value, expectStatus(reply, 201).json.id);
    }
    expectStatus(await this.client.put('/api/v1/settings/rollouts', { rolloutScopeType: name }), 200);
    return ids;
  }

  async tag(nodeId: string, scopeValueId: string): Promise<void> {
    expectStatus(await this.client.post(`/api/v1/nodes/${nodeId}/tags`, { scopeValueId }), 201);
  }

  async startRollout({ configurationName }: Published, plan: object): Promise<void> {
    const path = `/api/v1/configurations/${configurationName}/rollouts`;
    expectStatus(await this.client.post(path, plan), 201);
  }

  async readRollout({ configurationName }: Published, version: string): Promise<RolloutView> {
    const path = `/api/v1/configurations/${configurationName}/rollouts/${version}`;
    return expectStatus(await this.client.get(path), 200).json;
  }

  /**
   * Deletes old versions and records.
   * @returns how many were deleted
   */
  async cleanUp(): Promise<number> {
    let deleted = 0;
    for (const [kind, rule] of Object.entries(CLEANUPS)) {
      const reply = await this.client.post(`/api/v1/retention/${kind}/cleanup`, rule);
      deleted += expectStatus(reply, 200).json.deletedCount;
    }
    return deleted;
  }

  /** @returns how many nodes the server lists whose names contain the text */
  async countNodes(fqdn: string, filter: Record<string, string>): Promise<number> {
    const query = new URLSearchParams({ fqdn, take: '1', ...filter });
    const reply = expectStatus(await this.client.get(`/api/v1/nodes?${query}`), 200);
    return Number(reply.headers['x-total-count']);
  }

  close(): void {
    this.connections.close();
  }
}

function expectStatus(reply: Reply, expected: number): Reply {
  if (reply.status === expected) return reply;
  throw new Error(`the server answered ${reply.status} instead of ${expected}: ${reply.text}`);
}
