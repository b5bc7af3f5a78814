/**
 * A site that changes at random: configurations, composites, parameter files of all scopes, tags and assignments. The
 * same seed gives the same changes.
 */

import { expect } from 'chai';
import type { Client, Reply } from './client.ts';
import {
  addChild,
  addCompositeDraft,
  compositeVersionOf,
  compositeVersionsOf,
  publishComposite,
  publishWithChildren,
} from './composites.ts';
import { addVersion, create, MAIN, publish, versionsOf } from './configurations.ts';
import type { Hawser, NodeUnderTest } from './hawser.ts';
import { assign, configurationId, configurationPath } from './parameter-files.ts';
import type { Wish } from './previews.ts';
import { ok } from './replies.ts';
import { createScopeType, createScopeValue, DEFAULT_ID, NODE_ID } from './scopes.ts';
import { type NamedFile, offerFileAgain, withdraw, withdrawComposite, withdrawFile } from './withdrawals.ts';

const CONFIGURATIONS = ['web', 'db', 'own'];
const WITH_PARAMETERS = ['web', 'db'];
const COMPOSITES = ['stack', 'pair'];
const CHANNELS = [null, null, 'beta', 'rc'];
const SCHEMA = 'parameters:\n  port: {type: int}\n  key: {type: secureString, defaultValue: x}\n';
/** Two such files together have more leaves than may be merged. */
const LEAVES = Object.fromEntries(Array.from({ length: 11_000 }, (_, at) => [`k${at}`, at]));

/** What there is, as far as changes depend on it. */
interface Known {
  /** Versions of configurations and composites by name. */
  published: Map<string, string[]>;
  /** The drafts that may be published, each as the change that publishes it. */
  drafts: Wish[];
  /** The tags that there are, each as the change that removes it. */
  tags: Wish[];
  /** The parameter files that are published. */
  files: (NamedFile & { isWithdrawn: boolean })[];
}

const nothingKnown = (): Known => ({ published: new Map(), drafts: [], tags: [], files: [] });

interface Scope {
  type: string;
  typeId: string;
  value: string | null;
}

/** Numbers between 0 and 1, the same ones for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class RandomSite {
  readonly nodes: NodeUnderTest[] = [];
  private readonly admin: Client;
  private readonly hawser: Hawser;
  private readonly random: () => number;
  private readonly scopes: Scope[] = [];
  private readonly values: string[] = [];
  private readonly ids = new Map<string, string>();
  private versions = 0;
  private known: Known = nothingKnown();

  constructor(hawser: Hawser, seed: number) {
    this.hawser = hawser;
    this.admin = hawser.admin;
    this.random = randomFrom(seed);
  }

  /** Makes what the changes need: nodes with an assignment, scopes, configurations and composites. */
  async prepare(nodes: number): Promise<void> {
    this.scopes.push({ type: 'Default', typeId: DEFAULT_ID, value: null });
    for (const type of ['Region', 'Stage']) {
      const typeId = await createScopeType(this.hawser, type);
      for (const value of ['one', 'two']) {
        this.values.push(await createScopeValue(this.hawser, typeId, value));
        this.scopes.push({ type, typeId, value });
      }
    }
    for (let at = 0; at < nodes; at += 1) {
      const node = await this.hawser.registerNode(`node-${(at * 7) % 10}-${at}.example.org`);
      this.nodes.push(node);
      if (at % 4 === 0) this.scopes.push({ type: 'Node', typeId: NODE_ID, value: node.fqdn });
    }
    for (const name of CONFIGURATIONS) {
      const more = name === 'own' ? { useServerManagedParameters: 'false' } : {};
      await ok(201, create(this.admin, name, { version: '0.1.0', ...more }, { files: this.files() }));
      this.ids.set(name, await configurationId(this.admin, name));
      await ok(200, publish(this.admin, name, '0.1.0'));
    }
    await publishWithChildren(this.admin, 'stack', '0.1.0', WITH_PARAMETERS);
    await publishWithChildren(this.admin, 'pair', '0.1.0', ['own', { name: 'web', activeVersion: '0.1.0' }]);
    const assigned = [...WITH_PARAMETERS, ...COMPOSITES, ...CONFIGURATIONS, null];
    for (const [at, node] of this.nodes.entries()) {
      const name = assigned[at % assigned.length] ?? null;
      if (name !== null) await assign(this.hawser, node, name, { isComposite: COMPOSITES.includes(name) });
    }
  }

  /** Changes something at random. What the state does not allow is refused, and changes nothing. */
  async mutate(): Promise<void> {
    const reply = await this.pick([
      () => this.draft(),
      () => this.draft(),
      () => this.draftComposite(),
      () => this.saveFile(),
      () => this.saveFile(),
      () => this.withdraw(),
      () => this.withdrawOrOfferFile(),
      () => this.carryOut(this.publishing()),
      () => this.carryOut(this.change()),
      () => this.carryOut(this.change()),
    ])();
    expect(reply?.status ?? 200, reply?.text).to.be.below(500);
  }

  /** Looks at what there is, so that most of the next changes are possible. */
  async look(): Promise<void> {
    const known = nothingKnown();
    for (const [names, path, kind, member] of [
      [CONFIGURATIONS, versionsOf, 'PublishConfiguration', 'configurationName'],
      [COMPOSITES, compositeVersionsOf, 'PublishComposite', 'compositeName'],
    ] as const) {
      for (const name of names) {
        const versions = await ok(200, this.admin.get(`${path(name)}?take=1000`));
        const named = (status: string): string[] =>
          versions.flatMap((each: { version: string; status: string }) =>
            each.status === status ? [each.version] : [],
          );
        known.published.set(name, named('Published'));
        for (const version of named('Draft')) known.drafts.push({ kind, [member]: name, version });
      }
    }
    for (const configurationName of WITH_PARAMETERS) {
      const path = `/api/v1/configurations/${configurationName}/parameter-files?take=1000`;
      for (const file of await ok(200, this.admin.get(path))) {
        const { scopeTypeId, scopeTypeName, scopeValue, configurationId, version, withdrawn } = file;
        const scope = { scopeTypeName, ...(scopeValue === null ? {} : { scopeValue }) };
        if (file.status === 'Draft')
          known.drafts.push({ kind: 'PublishParameters', configurationName, ...scope, version });
        else
          known.files.push({
            ...{ configurationId, scopeTypeId, version, isWithdrawn: withdrawn !== null },
            ...(scopeValue !== null && { value: scopeValue }),
          });
      }
    }
    for (const { nodeId } of this.nodes)
      for (const { scopeValueId } of await ok(200, this.admin.get(`/api/v1/nodes/${nodeId}/tags`)))
        known.tags.push({ kind: 'Untag', nodeIds: [nodeId], scopeValueId });
    this.known = known;
  }

  /** A change as a preview takes it, which may be impossible. */
  change(): Wish {
    return this.pick([
      () => this.publishing(),
      () => this.publishing(),
      () => this.publishing(),
      () => this.setting(),
      () => this.setting(),
      () => this.assigning(),
      () => this.assigning(),
      () => ({ kind: 'Unassign', nodeIds: this.someNodes() }),
      () => ({ kind: 'Tag', nodeIds: this.someNodes(1), scopeValueId: this.pick(this.values) }),
      () => this.pick(this.known.tags) ?? this.publishing(),
    ])();
  }

  /** Makes a change by the API. Gives the first refusal, or nothing where the change was made. */
  async carryOut(change: Wish): Promise<Reply | undefined> {
    for (const step of this.stepsOf(change)) {
      const reply = await step();
      if (reply.status >= 300) return reply;
    }
    return undefined;
  }

  /** A whole number below `below`. */
  below(below: number): number {
    return Math.floor(this.random() * below);
  }

  private stepsOf(change: Wish): (() => Promise<Reply>)[] {
    const { kind, nodeIds = [], ...rest } = change as Wish & { nodeIds?: string[]; version: string };
    const { admin } = this;
    switch (kind) {
      case 'PublishConfiguration':
        return [() => publish(admin, String(rest['configurationName']), rest.version)];
      case 'PublishComposite':
        return [() => publishComposite(admin, String(rest['compositeName']), rest.version)];
      case 'PublishParameters':
        return [() => this.publishFile(change)];
      case 'SetParameters': {
        const { version, scopeValue, content, contentType } = rest as Record<string, unknown>;
        const body = { version, content, contentType, ...(scopeValue ? { scopeValue } : {}) };
        return [() => admin.put(this.pathOfFiles(change), body), () => this.publishFile(change)];
      }
      case 'Assign':
        return nodeIds.map((nodeId) => () => admin.put(configurationPath({ nodeId }), rest));
      case 'Unassign':
        return nodeIds.map((nodeId) => () => admin.delete(configurationPath({ nodeId })));
      case 'Tag':
        return nodeIds.map((nodeId) => () => admin.post(`/api/v1/nodes/${nodeId}/tags`, rest));
      default:
        return nodeIds.map(
          (nodeId) => () => admin.delete(`/api/v1/nodes/${nodeId}/tags/${rest['scopeValueId']}`),
        );
    }
  }

  private pathOfFiles({ configurationName, scopeTypeName }: Wish): string {
    const scope = this.scopes.find(({ type }) => type === scopeTypeName);
    return `/api/v1/parameters/${scope?.typeId}/${this.ids.get(String(configurationName))}`;
  }

  private publishFile(change: Wish): Promise<Reply> {
    const { scopeValue, version } = change;
    const query = scopeValue === undefined ? '' : `?scopeValue=${scopeValue}`;
    return this.admin.put(`${this.pathOfFiles(change)}/versions/${version}/publish${query}`);
  }

  private publishing(): Wish {
    const { drafts } = this.known;
    if (drafts.length > 0 && this.below(20) > 0) return this.pick(drafts);
    const version = this.version();
    return this.pick<() => Wish>([
      () => ({ kind: 'PublishConfiguration', configurationName: this.pick(CONFIGURATIONS), version }),
      () => ({ kind: 'PublishComposite', compositeName: this.pick(COMPOSITES), version }),
      () => ({ kind: 'PublishParameters', ...this.fileName(), version }),
    ])();
  }

  private fileName(): Record<string, unknown> {
    const { type, value } = this.pick([...this.scopes, ...this.scopes.slice(0, 1)]);
    const scope = { scopeTypeName: type, ...(value === null ? {} : { scopeValue: value }) };
    return { configurationName: this.pick(WITH_PARAMETERS), ...scope };
  }

  private setting(): Wish {
    const { content, contentType } = this.document();
    return { kind: 'SetParameters', ...this.fileName(), version: this.version(), content, contentType };
  }

  private document(): { content: string; contentType: string } {
    const parameters = { port: this.below(3), [this.pick(['a', 'b', 'key'])]: this.pick([1, 'x', [2]]) };
    if (this.below(6) > 0)
      return { content: JSON.stringify({ parameters }), contentType: 'application/json' };
    const many = { parameters: { [`many${this.below(3)}`]: LEAVES } };
    return { content: JSON.stringify(many), contentType: 'application/json' };
  }

  private assigning(): Wish {
    const isComposite = this.below(3) === 0;
    const configurationName = this.pick(isComposite ? COMPOSITES : CONFIGURATIONS);
    const target = { kind: 'Assign', nodeIds: this.someNodes(), configurationName, isComposite };
    if (this.below(4) === 0) return { ...target, version: this.publishedOf(configurationName) };
    const [majorVersion, prereleaseChannel] = [this.pick([null, null, 1, 2]), this.pick(CHANNELS)];
    return {
      ...target,
      ...(majorVersion === null ? {} : { majorVersion }),
      ...(prereleaseChannel === null ? {} : { prereleaseChannel }),
    };
  }

  private someNodes(most = 3): string[] {
    const count = 1 + this.below(most);
    const ids = Array.from({ length: count }, () => this.pick(this.nodes).nodeId);
    return [...new Set(ids)];
  }

  private draft(): Promise<Reply> {
    const version = this.version();
    return addVersion(this.admin, this.pick(CONFIGURATIONS), { version }, { files: this.files() });
  }

  private files(): Record<string, string> {
    const files: Record<string, string> = { [MAIN]: `$schema: x\n${this.pick(['', SCHEMA])}resources: []\n` };
    for (const path of ['a.txt', 'b.txt', 'folder/c.txt'])
      if (this.below(2) === 0) files[path] = `${this.below(2)}\n`;
    return files;
  }

  private async draftComposite(): Promise<Reply> {
    const [name, version] = [this.pick(COMPOSITES), this.version()];
    const made = await addCompositeDraft(this.admin, name, version);
    if (made.status !== 201) return made;
    for (const child of CONFIGURATIONS) {
      const pin = this.below(3) === 0 ? { activeVersion: this.publishedOf(child) } : {};
      if (this.below(2) === 0) await addChild(this.admin, name, version, child, pin);
    }
    return this.admin.get(compositeVersionOf(name, version));
  }

  private saveFile(): Promise<Reply> {
    const { scopeValue, ...name } = this.fileName();
    const content = this.below(8) === 0 ? { isPassthrough: true } : this.document();
    const body = { version: this.version(), ...content, ...(scopeValue ? { scopeValue } : {}) };
    return this.admin.put(this.pathOfFiles({ kind: '', ...name }), body);
  }

  private withdraw(): Promise<Reply> {
    const name = this.pick([...CONFIGURATIONS, ...COMPOSITES]);
    const make = COMPOSITES.includes(name) ? withdrawComposite : withdraw;
    return make(this.admin, name, this.publishedOf(name));
  }

  private async withdrawOrOfferFile(): Promise<Reply | undefined> {
    if (this.known.files.length === 0) return undefined;
    const { isWithdrawn, ...file } = this.pick(this.known.files);
    return isWithdrawn ? offerFileAgain(this.admin, file) : withdrawFile(this.admin, file);
  }

  /** A published version, or one that may not be there. */
  private publishedOf(name: string): string {
    const published = this.known.published.get(name) ?? [];
    return published.length > 0 && this.below(8) > 0 ? this.pick(published) : this.version();
  }

  /** A version, mostly higher than those before it. Half of them are prereleases. */
  private version(): string {
    this.versions += 1;
    const version = `${1 + this.below(2)}.${Math.floor(this.versions / 8)}.${this.below(4)}`;
    return this.pick([version, version, `${version}-beta.${this.below(3)}`, `${version}-rc.1`]);
  }

  private pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }
}
