/** A server with three rings and a node in each, for rollouts that go on although their server is killed. */

import type { Deed } from '../../../../src/domain/rollout-machine.ts';
import { DEFAULT_SCOPE_TYPE_ID } from '../../../../src/domain/scopes.ts';
import { type Client, makeClient, type Reply, type Target } from '../../client.ts';
import { type ClientCertificate, makeClientCertificate } from '../../client-certificates.ts';
import { documentWith } from '../../documents.ts';
import { testedService, testOutput } from '../../dsc-results.ts';
import { unzipTexts } from '../../unzip.ts';
import { UnexpectedAnswer, unexpected } from '../acts/act.ts';
import { Model } from '../model.ts';
import { prepareSite } from '../prepare.ts';

const CONFIGURATIONS = '/api/v1/configurations';
const VERSIONS = `${CONFIGURATIONS}/web/versions`;
const ROLLOUTS = `${CONFIGURATIONS}/web/rollouts`;

/** In the order of the rollout. */
export const RINGS = ['canary', 'early', null] as const;
export type Ring = (typeof RINGS)[number];

export interface RingNode {
  ring: Ring;
  id: string;
  identity: ClientCertificate;
  /** The version that it runs, with its checksum. */
  held: { version: string; checksum: string } | null;
  /** What its last report said of which version; null where it must report in any case. */
  said: string | null;
}

export interface RolloutView {
  state: string;
  steps: { ring: Ring; state: string }[];
  history: { actorName: string; to: string; reason: string }[];
}

export class RingedSite {
  readonly nodes: RingNode[] = [];
  private target: Target;
  private token = '';
  private ringType = '';
  /** The path of the parameter files. */
  private files = '';
  /** The versions with which a file of that version rolled out. */
  private readonly together = new Set<string>();
  private clients = new Map<RingNode | null, Client>();

  private constructor(target: Target) {
    this.target = target;
  }

  /** Makes rings and nodes on a new server. All nodes run version 1.0.0. */
  static async prepare(target: Target): Promise<RingedSite> {
    const site = new RingedSite(target);
    const model = new Model();
    const { token, registrationKey } = await prepareSite(target, model);
    site.token = token;
    const files = { 'main.dsc.yaml': documentWith('1.0.0') };
    expectStatus(
      await site.admin.upload(CONFIGURATIONS, { fields: { name: 'web', version: '1.0.0' }, files }),
    );
    expectStatus(await site.admin.put(`${VERSIONS}/1.0.0/publish`));
    const { id } = expectStatus(await site.admin.get(`${CONFIGURATIONS}/web`)).json;
    site.files = `/api/v1/parameters/${DEFAULT_SCOPE_TYPE_ID}/${id}`;
    await site.draftFile('1.0.0');
    expectStatus(await site.admin.put(`${site.files}/versions/1.0.0/publish`));
    site.ringType = model.ids.get('scope-types/Ring') ?? '';
    for (const ring of RINGS) {
      const node = await site.register(registrationKey, ring);
      if (ring !== null) {
        const scopeValueId = await site.addRing(ring);
        expectStatus(await site.admin.post(`/api/v1/nodes/${node.id}/tags`, { scopeValueId }));
      }
      site.nodes.push(node);
    }
    await site.visit();
    return site;
  }

  /** @returns the id of the value */
  async addRing(value: string): Promise<string> {
    const path = `/api/v1/scope-types/${this.ringType}/values`;
    return expectStatus(await this.admin.post(path, { value })).json.id;
  }

  /** From now on all calls go to another server, or to the same one after a start. */
  use(target: Target): void {
    this.close();
    this.target = target;
    // A power cut takes away what the server has noted of who runs what.
    this.reportAgain();
  }

  /** The next visit of each node brings a report, as an agent sends one after each of its intervals. */
  reportAgain(): void {
    for (const node of this.nodes) node.said = null;
  }

  close(): void {
    for (const client of this.clients.values()) client.close();
    this.clients.clear();
  }

  /**
   * Each node polls, takes what it is offered, and reports.
   * @param breaking where nodes are not well with this version
   */
  async visit(breaking: readonly Ring[] = [], version = ''): Promise<void> {
    const isWell = ({ ring, held }: RingNode) => !(breaking.includes(ring) && held?.version === version);
    await Promise.all(this.nodes.map((node) => this.visitOf(node, isWell)));
  }

  /** @returns null where there is no such rollout */
  async read(version: string): Promise<RolloutView | null> {
    const reply = await this.admin.get(`${ROLLOUTS}/${version}`);
    return reply.status === 404 ? null : expectStatus(reply).json;
  }

  /** Whether the leader has a rollout to look at. */
  async isUnderWay(): Promise<boolean> {
    const rollouts: RolloutView[] = expectStatus(await this.admin.get(`${ROLLOUTS}?take=1000`)).json;
    return rollouts.some(({ state }) => state === 'Running');
  }

  /**
   * @param more members of the plan; its steps are all rings in their order
   * @param withFile whether a parameter file of the same version goes with it
   */
  async start(version: string, more: Record<string, unknown>, withFile = false): Promise<void> {
    if ((await this.admin.get(`${VERSIONS}/${version}`)).status === 404) await this.draft(version);
    const steps = RINGS.map((ring) => ({ ring, gate: { bakeTime: '00:00:00.001' } }));
    const file = { scopeTypeName: 'Default', scopeValue: null, version };
    if (withFile) {
      this.together.add(version);
      if ((await this.admin.get(`${this.files}/versions/${version}`)).status === 404)
        await this.draftFile(version);
    }
    const parameters = withFile ? { parameters: [file] } : {};
    expectStatus(await this.admin.post(ROLLOUTS, { version, steps, ...parameters, ...more }));
  }

  async doDeed(version: string, deed: Deed, expectedState: string): Promise<void> {
    expectStatus(
      await this.admin.post(`${ROLLOUTS}/${version}/${deed}`, { reason: `${deed} it`, expectedState }),
    );
  }

  /** Moves the repository, so that the leader looks at its rollouts within a second and not within ten. */
  async poke(): Promise<void> {
    const version = '0.0.1-poke';
    if ((await this.admin.delete(`${VERSIONS}/${version}`)).status === 404) await this.draft(version);
  }

  /** What the audit trail says of the states that a rollout came to, the oldest first. */
  async audited(version: string): Promise<string[]> {
    const entries = ['rollout_moved', 'rollout_started'].map(async (action) => {
      const path = `/api/v1/audit?action=configuration.${action}&take=1000`;
      return expectStatus(await this.admin.get(path)).json as { details: { version: string; to?: string } }[];
    });
    return (await Promise.all(entries))
      .flat()
      .filter(({ details }) => details.version === version)
      .map(({ details }) => details.to ?? 'Running')
      .reverse();
  }

  private async draft(version: string): Promise<void> {
    const files = { 'main.dsc.yaml': documentWith(version) };
    expectStatus(await this.admin.upload(VERSIONS, { fields: { version }, files }));
  }

  private async draftFile(version: string): Promise<void> {
    expectStatus(await this.admin.put(this.files, { version, content: `parameters:\n  of: ${version}\n` }));
  }

  /** A version and the file that rolls out with it come together, and go together. */
  private async checkBundle(bytes: Buffer): Promise<void> {
    const { 'main.dsc.yaml': main = '', 'parameters.yaml': parameters = '' } = await unzipTexts(bytes);
    const [version = '', file = ''] = [main, parameters].map((text) => /1\.(\d+)\.0/.exec(text)?.[0]);
    const minor = (text: string) => Number(text.split('.')[1]);
    const isWhole = this.together.has(version) ? file === version : minor(file) < Math.max(1, minor(version));
    if (!isWhole) throw new Error(`a node gets version ${version} with the parameters of ${file}`);
  }

  private async register(registrationKey: string, ring: Ring): Promise<RingNode> {
    const fqdn = `${ring ?? 'other'}.example.org`;
    const node: RingNode = {
      ring,
      id: '',
      identity: await makeClientCertificate({ commonName: fqdn }),
      held: null,
      said: null,
    };
    const body = { registrationKey, fqdn };
    node.id = expectStatus(await this.connect(node).post('/api/v1/nodes/register', body)).json.nodeId;
    const path = `/api/v1/nodes/${node.id}/configuration`;
    expectStatus(await this.admin.put(path, { configurationName: 'web' }));
    return node;
  }

  private async visitOf(node: RingNode, isWell: (node: RingNode) => boolean): Promise<void> {
    const client = this.connect(node);
    const path = `/api/v1/nodes/${node.id}`;
    const known = { 'If-None-Match': `"${node.held?.checksum ?? ''}"` };
    const reply = await client.get(`${path}/configuration/checksum`, known);
    if (reply.status !== 304) {
      const { version, checksum } = expectStatus(reply).json;
      await this.checkBundle(expectStatus(await client.get(`${path}/configuration/bundle`)).bytes);
      node.held = { version, checksum };
    }
    const inDesiredState = isWell(node);
    const said = `${inDesiredState} ${node.held?.version}`;
    // Whoever says the same again and again is refused for a while.
    if (said === node.said) return;
    const result = testOutput([testedService(inDesiredState)]);
    const report = { operation: 'Test', result, configurationChecksum: node.held?.checksum };
    expectStatus(await client.post(`${path}/reports`, report));
    node.said = said;
  }

  private get admin(): Client {
    return this.connect(null).with({ Authorization: `Bearer ${this.token}` });
  }

  private connect(node: RingNode | null): Client {
    const known = this.clients.get(node);
    if (known) return known;
    const client = makeClient(this.target, node?.identity);
    this.clients.set(node, client);
    return client;
  }
}

/** @throws UnexpectedAnswer unless it was done */
function expectStatus(reply: Reply): Reply {
  if (reply.status >= 200 && reply.status < 300) return reply;
  throw unexpected('rollout', reply);
}

/** Whether a call failed because its server died or is about to, so that it may be made again. */
export function isOfDeath(error: unknown): boolean {
  if (error instanceof UnexpectedAnswer) return error.status === 503;
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '');
}
