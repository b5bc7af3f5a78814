/**
 * What each node of a fleet gets. Its plan is shared by many nodes, and the files that are merged are chosen once for all
 * nodes of the same plan and the same tags.
 */

import type { FleetSnapshot } from '../db/fleet-snapshot.ts';
import { idsOfLink, ownerIdOf, ownScope, type ScopeLink } from '../db/node-lookup.ts';
import { THE_VERSION } from '../db/read-rollouts.ts';
import { keyOfScope } from '../db/scope-grants.ts';
import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import type { VariableValues } from '../domain/variables.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { entryOf } from '../lib/entry-of.ts';
import { RecentMap } from '../lib/recent-map.ts';
import type { SortedVersions } from '../versions/sorted-versions.ts';
import type { RepositoryRef, VersionRef } from '../versions/store.ts';
import type { GivenFile, Outcome } from './delivery.ts';
import {
  type AssignedNames,
  type FleetPlans,
  numberOf,
  type OfferTools,
  type Planned,
  type PlannedPart,
  planFleet,
  toDeliveryError,
} from './fleet-plans.ts';
import type { ManifestMaker } from './manifest-maker.ts';
import { chooseFile } from './parameters.ts';
import { valuesFor } from './planned-merging.ts';
import type { ConfigurationPlan } from './plans.ts';

/** The files that are merged, part by part. */
interface ChosenFiles {
  /** Two nodes have the same key only if they get the same. */
  key: string;
  scopes: readonly (readonly GivenFile[])[];
}

/** How a configuration or composite reaches a node. */
export interface Way {
  /** The composite that brings it; null where it is assigned itself. */
  via: string | null;
  /** Whether an exact version holds it: that of the assignment, or that of the child in the composite. */
  isPinned: boolean;
  /** The version that the node gets; null where it gets an error or nothing. */
  version: string | null;
}

/** The number of recent outcomes, and of recent choices of files, that are kept for nodes to share. */
const MAX_OUTCOMES = 500;
const MAX_CHOICES = 5_000;
const NOTHING_ASSIGNED = 'nothing';
const NOTHING: readonly string[] = [];
const VERSION_ALONE: readonly string[] = [THE_VERSION];

export class FleetOffers {
  readonly snapshot: FleetSnapshot;
  private readonly tools: OfferTools;
  private readonly plans: FleetPlans;
  /** By the number that `filesOf` makes of a plan and a list of scopes. */
  private readonly shared = new RecentMap<number, ChosenFiles>(MAX_CHOICES);
  /** The key is the place of a plan. */
  private readonly given = new Map<number, readonly { key: string; version: string }[]>();
  private readonly outcomes = new RecentMap<string, { outcome: Awaitable<Outcome> }>(MAX_OUTCOMES);

  private readonly keysOfScopes = new WeakMap<ChosenFiles['scopes'], readonly string[]>();
  private ids: ReadonlyMap<string, string> | undefined;

  private constructor(snapshot: FleetSnapshot, tools: OfferTools, plans: FleetPlans) {
    this.snapshot = snapshot;
    this.tools = tools;
    this.plans = plans;
  }

  /** Plans each assignment. After that nothing depends on what the repositories list. */
  static async of(snapshot: FleetSnapshot, tools: OfferTools): Promise<FleetOffers> {
    return new FleetOffers(snapshot, tools, await planFleet(snapshot, tools));
  }

  /** The versions of a repository as they were when the nodes were looked at. */
  versions(repository: RepositoryRef): Promise<SortedVersions> {
    return this.tools.source.versions(repository);
  }

  /** Whether it was asked what nodes have taken, on which the offers depend then. */
  get asksTaken(): boolean {
    return this.plans.asksTaken;
  }

  /** The names of all that the node at this place is assigned; null where that is nothing. */
  namesOf(at: number): AssignedNames | null {
    return this.plannedFor(at)?.names ?? null;
  }

  /** The versions of configurations that some node is offered, alone or in a composite, each once. */
  configurationsOffered(): readonly ConfigurationPlan[] {
    const offered = new Map<string, ConfigurationPlan>();
    for (const place of new Set(this.plans.places)) {
      const plan = this.plans.planned[place]?.plan;
      if (plan === undefined || 'error' in plan) continue;
      for (const part of plan.parts) offered.set(`${part.plan.name} ${part.plan.tag.oid}`, part.plan);
    }
    return [...offered.values()];
  }

  /**
   * Tells of each place by which way the configuration or composite reaches the node; null where it does not. The
   * parameters are not merged for that, so it may be a node that gets an error in its place.
   */
  waysTo(repository: RepositoryRef): (at: number) => Way | null {
    const ways = this.plans.planned.map((planned) => wayIn(planned, repository));
    return (at) => ways[this.plans.places[at] ?? -1] ?? null;
  }

  /** Tells of each place whether the version is in what the node gets, as `waysTo`. */
  giving(repository: RepositoryRef, version: string): (at: number) => boolean {
    const wayTo = this.waysTo(repository);
    return (at) => wayTo(at)?.version === version;
  }

  /**
   * Tells of each place what of a rollout is in what the node gets, as `waysTo`: `THE_VERSION`, and the tags of the files.
   */
  givenOf(
    repository: RepositoryRef,
    { version, tags }: { version: string | null; tags: readonly string[] },
  ): (at: number) => readonly string[] {
    const wayTo = this.waysTo(repository);
    const rolled = new Set(tags);
    const known = new WeakMap<readonly GivenFile[], readonly string[]>();
    const tagsIn = (files: readonly GivenFile[]) => {
      const found = known.get(files) ?? files.map(({ file }) => file.oid).filter((oid) => rolled.has(oid));
      known.set(files, found);
      return found;
    };
    return (at) => {
      const given = wayTo(at)?.version ?? null;
      if (given === null) return NOTHING;
      const files = rolled.size === 0 ? NOTHING : tagsIn(this.filesOfPart(at, repository.name));
      if (version === null || given !== version) return files;
      return files.length === 0 ? VERSION_ALONE : [THE_VERSION, ...files];
    };
  }

  /** The files that are merged for one configuration of the node at this place. */
  private filesOfPart(at: number, name: string): readonly GivenFile[] {
    const planned = this.plannedFor(at);
    if (planned === null || 'error' in planned.plan) return [];
    const part = planned.plan.parts.findIndex((each) => each.plan.name === name);
    return this.filesOf(at, planned).scopes[part] ?? [];
  }

  /**
   * The versions that the node at this place is offered: of its configuration, or of its composite and of the children. The
   * parameters are not merged for that, as for `giving`.
   */
  versionsFor(at: number): readonly { key: string; version: string }[] {
    const place = this.plans.places[at] ?? -1;
    return entryOf(this.given, place, () => {
      const plan = this.plans.planned[place]?.plan;
      if (plan === undefined || 'error' in plan) return [];
      const { whole, parts } = plan;
      const own =
        whole.kind === 'composite' ? [{ key: `composites/${whole.name}`, version: whole.tag.version }] : [];
      const ofParts = parts.map(({ plan: { name, tag } }) => ({
        key: `configurations/${name}`,
        version: tag.version,
      }));
      return [...own, ...ofParts];
    });
  }

  /** Two nodes, before or after a change, have the same key only if their outcome is the same. */
  keyOf(at: number): string {
    const planned = this.plannedFor(at);
    if (planned === null) return NOTHING_ASSIGNED;
    return 'error' in planned.plan ? `!${planned.plan.error.code}` : this.madeOf(at, planned).key;
  }

  /** The files that are merged for the node at this place, each with the name of its configuration. */
  filesFor(at: number): { name: string; file: VersionRef }[] {
    const planned = this.plannedFor(at);
    if (planned === null || 'error' in planned.plan) return [];
    const { parts } = planned.plan;
    const { scopes } = this.filesOf(at, planned);
    return parts.flatMap(({ plan: { name } }, part) =>
      (scopes[part] ?? []).map(({ file }) => ({ name, file })),
    );
  }

  /** The scopes of these files, each as its key. Nodes of the same plan and the same tags share the list. */
  scopesFor(at: number): readonly string[] {
    const planned = this.plannedFor(at);
    if (planned === null || 'error' in planned.plan) return [];
    const { parts } = planned.plan;
    const { scopes } = this.filesOf(at, planned);
    const known = this.keysOfScopes.get(scopes);
    if (known !== undefined) return known;
    const keys = parts.flatMap(({ plan: { name } }, part) => {
      const configurationId = this.idOf(name);
      return (scopes[part] ?? []).map((link) => keyOfScope({ configurationId, ...idsOfLink(link) }));
    });
    this.keysOfScopes.set(scopes, keys);
    return keys;
  }

  /** The id of a configuration; of one that is deleted at this moment a text that is none. */
  private idOf(name: string): string {
    this.ids ??= new Map([...this.snapshot.registry.configurations].map(([id, known]) => [known.name, id]));
    return this.ids.get(name) ?? '?';
  }

  /** What the node at this place gets. @throws what is no HawserError */
  outcomeOf(at: number): Awaitable<Outcome> {
    const planned = this.plannedFor(at);
    if (planned === null) return null;
    const { plan } = planned;
    if ('error' in plan) return plan;
    const { key, scopes, values } = this.madeOf(at, planned);
    const known = this.outcomes.get(key);
    if (known) return known.outcome;
    const made = settle(this.tools.maker.deliver(plan.whole, scopes, values));
    const entry = { outcome: made };
    this.outcomes.set(key, entry);
    return andThen(made, (outcome) => {
      entry.outcome = outcome;
      return outcome;
    });
  }

  private plannedFor(at: number): Planned | null {
    return this.plans.planned[this.plans.places[at] ?? -1] ?? null;
  }

  /** The files, and the node's variables where what it gets depends on them. */
  private madeOf(at: number, planned: Planned): ChosenFiles & { values: VariableValues | null } {
    const files = this.filesOf(at, planned);
    if ('error' in planned.plan || !planned.plan.hasVariables) return { ...files, values: null };
    const { scopes, nodes } = this.snapshot;
    const [nodeId, fqdn] = [nodes.nodeIds[at] ?? '', nodes.fqdns[at] ?? ''];
    const links = scopes[nodes.scopesOf[at] ?? 0] ?? [];
    const values = valuesFor(
      planned.plan.parts.map(({ plan }) => plan),
      { nodeId, fqdn, links },
    );
    return { ...files, key: `${files.key} $${numberOf(this.tools.keys, JSON.stringify(values))}`, values };
  }

  private filesOf(at: number, { plan, channel }: Planned): ChosenFiles {
    if ('error' in plan) throw new Error('an assignment that gives nothing has no files');
    const { scopes, nodes } = this.snapshot;
    const place = nodes.scopesOf[at] ?? 0;
    const pair = (this.plans.places[at] ?? 0) * scopes.length + place;
    const links = scopes[place] ?? [];
    let shared = this.shared.get(pair);
    if (shared === undefined) {
      shared = this.chooseShared(plan, links, channel);
      this.shared.set(pair, shared);
    }
    const own = links.at(-1);
    // The scope of the node itself is the last one, because nothing goes before it.
    if (own?.scopeTypeId !== NODE_SCOPE_TYPE_ID) return shared;
    const [fqdn, nodeId] = [nodes.fqdns[at] ?? '', nodes.nodeIds[at] ?? ''];
    const link = ownScope(own, fqdn, { nodeId, isSuccessor: nodes.succeeded.has(fqdn) });
    return this.withOwnFiles(shared, plan.parts, link, channel);
  }

  private chooseShared(
    { key, parts }: Extract<Planned['plan'], { key: string }>,
    links: readonly ScopeLink[],
    prereleaseChannel: string | null,
  ): ChosenFiles {
    const scopes = parts.map(({ plan, given }) => {
      const files: GivenFile[] = [];
      for (const link of links) {
        let file = given.get(link);
        if (file === undefined) {
          file = fileOf(plan, link, prereleaseChannel);
          given.set(link, file);
        }
        if (file) files.push(file);
      }
      return files;
    });
    return { key: `${key}${scopes.map((files) => this.keyOfFiles(files)).join('/')}`, scopes };
  }

  private withOwnFiles(
    shared: ChosenFiles,
    parts: readonly PlannedPart[],
    own: ScopeLink,
    prereleaseChannel: string | null,
  ): ChosenFiles {
    let chosen = shared;
    for (const [at, { plan }] of parts.entries()) {
      const file = fileOf(plan, own, prereleaseChannel);
      if (file === null) continue;
      const scopes = [...chosen.scopes];
      scopes[at] = [...(scopes[at] ?? []), file];
      chosen = { key: `${chosen.key} ${at}:${file.file.oid}@${ownerIdOf(file)}`, scopes };
    }
    return chosen;
  }

  private keyOfFiles(files: readonly GivenFile[]): string {
    return files.map((file) => numberOf(this.tools.keys, `${file.file.oid}@${ownerIdOf(file)}`)).join();
  }
}

function wayIn({ names, pinned, plan }: Planned, { kind, name }: RepositoryRef): Way | null {
  if (kind === 'composites') {
    if (names.composite !== name) return null;
    const version = 'error' in plan ? null : plan.whole.tag.version;
    return { via: null, isPinned: pinned.whole, version };
  }
  if (!names.configurations.includes(name)) return null;
  const part = 'error' in plan ? undefined : plan.parts.find((each) => each.plan.name === name);
  const { composite: via } = names;
  const isPinned = via === null ? pinned.whole : pinned.children.has(name);
  return { via, isPinned, version: part?.plan.tag.version ?? null };
}

function fileOf(
  plan: ConfigurationPlan,
  link: ScopeLink,
  prereleaseChannel: string | null,
): GivenFile | null {
  return chooseFile(plan, link, { configurationVersion: plan.tag.version, prereleaseChannel });
}

function settle(delivery: ReturnType<ManifestMaker['deliver']>): Awaitable<Outcome> {
  if (!(delivery instanceof Promise)) return { delivery };
  return delivery.then(
    (made) => ({ delivery: made }),
    (error) => ({ error: toDeliveryError(error) }),
  );
}
