/**
 * The plans of a fleet. Each distinct assignment is planned once. Where a version rolls out that it admits, there is a plan
 * for each choice that its nodes make, and each of these nodes is asked.
 */

import type { FleetSnapshot } from '../db/fleet-snapshot.ts';
import type { Assignment, ScopeLink } from '../db/node-lookup.ts';
import type { RolloutRecord, ScopeIds } from '../domain/rollout.ts';
import { type Awaitable, andThen } from '../lib/awaitable.ts';
import { HawserError } from '../lib/errors.ts';
import type { RepositoryRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { DeliveryError, GivenFile } from './delivery.ts';
import { keyOfManifest, type ManifestMaker, partsOf } from './manifest-maker.ts';
import { type ByNode, Fork, isOpen, type OpenTo, valueFor } from './open-versions.ts';
import type { ConfigurationPlan, Plan, Planner } from './plans.ts';
import type { GivenVersions } from './wanted-version.ts';

/** The names of all that an assignment gives, as far as they are known. */
export interface AssignedNames {
  composite: string | null;
  configurations: readonly string[];
}

export interface PlannedPart {
  plan: ConfigurationPlan;
  /** The file that each scope gives, by the scope. Scopes of nodes are not remembered. */
  given: Map<ScopeLink, GivenFile | null>;
}

/** What one assignment gives to some nodes, or why it gives nothing. */
export interface Planned {
  names: AssignedNames;
  /** What of it an exact version holds: the whole by the assignment, and children of a composite by its document. */
  pinned: { whole: boolean; children: ReadonlySet<string> };
  channel: string | null;
  plan:
    | { whole: Plan; key: string; parts: readonly PlannedPart[]; hasVariables: boolean }
    | { error: DeliveryError };
}

export type Takers = (nodeId: string, scopes: readonly ScopeIds[]) => boolean;

export interface OfferTools {
  /** It lists versions as they were when they were first looked at. */
  source: VersionSource;
  planner: Planner;
  maker: ManifestMaker;
  /** Texts that stand for parts of keys. Offers with the same map have comparable keys. */
  keys: Map<string, number>;
  /** Tells of nodes, by their ids and scopes, whether they have taken what rolls out. It is asked only where that matters. */
  takersOf(repository: RepositoryRef, record: RolloutRecord): Awaitable<Takers>;
}

export interface FleetPlans {
  planned: readonly Planned[];
  /** The place of each node's plan among these; -1 where nothing is assigned. */
  places: Int32Array;
  /** Whether it was asked who has taken a version. */
  asksTaken: boolean;
}

export async function planFleet(snapshot: FleetSnapshot, tools: OfferTools): Promise<FleetPlans> {
  const { assignmentOf } = snapshot.nodes;
  const plans: ByNode<Planned>[] = [];
  for (const assignment of snapshot.assignments) plans.push(await plansFor(snapshot, tools, assignment));
  if (!plans.some(isFork)) return { planned: plans as Planned[], places: assignmentOf, asksTaken: false };
  const planned: Planned[] = [];
  const known = new Map<Planned, number>();
  const placeOf = (one: Planned) => {
    const place = known.get(one) ?? planned.push(one) - 1;
    known.set(one, place);
    return place;
  };
  const settled = plans.map((each) => (each instanceof Fork ? null : placeOf(each)));
  const asking = new Asking(snapshot, tools);
  const places = new Int32Array(assignmentOf.length);
  for (const [at, assigned] of assignmentOf.entries()) {
    const each = plans[assigned];
    const made = each instanceof Fork ? valueFor(each, asking.openTo(at)) : null;
    if (made === null) places[at] = settled[assigned] ?? -1;
    else places[at] = placeOf(made instanceof Promise ? await made : made);
  }
  return { planned, places, asksTaken: asking.asksTaken };
}

const isFork = (plans: ByNode<Planned>) => plans instanceof Fork;

/** Tells which versions are open to the nodes of a snapshot. */
class Asking {
  asksTaken = false;
  private readonly snapshot: FleetSnapshot;
  private readonly tools: OfferTools;

  constructor(snapshot: FleetSnapshot, tools: OfferTools) {
    this.snapshot = snapshot;
    this.tools = tools;
  }

  openTo(at: number): OpenTo {
    const { nodes, scopes } = this.snapshot;
    const nodeId = nodes.nodeIds[at] ?? '';
    const links = scopes[nodes.scopesOf[at] ?? 0] ?? [];
    return (repository, rollout) =>
      isOpen(rollout, {
        nodeId,
        links,
        hasTaken: (scopes) => {
          this.asksTaken = true;
          return andThen(this.tools.takersOf(repository, rollout.record), (has) => has(nodeId, scopes));
        },
      });
  }
}

async function plansFor(
  snapshot: FleetSnapshot,
  tools: OfferTools,
  assignment: Assignment,
): Promise<ByNode<Planned>> {
  const { prereleaseChannel: channel, version } = assignment;
  const planned = (given: GivenVersions | null, plan: Planned['plan']): Planned => ({
    names: given ? namesIn(given) : namesOf(snapshot, assignment),
    pinned: { whole: version !== null, children: pinnedIn(given) },
    ...{ channel, plan },
  });
  try {
    return await tools.planner.byVersions(assignment, async (given) => {
      try {
        return planned(given, keyed(await tools.planner.make(given), tools));
      } catch (error) {
        return planned(given, { error: toDeliveryError(error) });
      }
    });
  } catch (error) {
    return planned(null, { error: toDeliveryError(error) });
  }
}

function pinnedIn(given: GivenVersions | null): ReadonlySet<string> {
  const children = given?.composite?.document.children ?? [];
  return new Set(children.flatMap(({ configuration, version }) => (version === null ? [] : configuration)));
}

function keyed(whole: Plan, { keys, maker }: OfferTools): Planned['plan'] {
  const parts = partsOf(whole);
  const selections = parts.map((plan) => ({ plan, refs: [], links: [], values: null }));
  const key = `${numberOf(keys, keyOfManifest(whole, selections, maker.generation))}:`;
  const hasVariables = parts.some(({ merging }) => merging.hasVariables);
  return { whole, key, parts: parts.map((plan) => ({ plan, given: new Map() })), hasVariables };
}

function namesIn({ repository: { name }, composite }: GivenVersions): AssignedNames {
  if (composite === null) return { composite: null, configurations: [name] };
  const { children } = composite.document;
  return { composite: name, configurations: children.map(({ configuration }) => configuration) };
}

/** The name of what is assigned, where no version of it can be had. */
function namesOf(
  { registry: { configurations, composites } }: FleetSnapshot,
  { configurationId, compositeId }: Assignment,
): AssignedNames {
  const name = configurations.get(configurationId ?? '')?.name;
  if (name !== undefined) return { composite: null, configurations: [name] };
  return { composite: composites.get(compositeId ?? '') ?? null, configurations: [] };
}

/** The words of the poll. @throws what the poll has no words for */
export function toDeliveryError(error: unknown): DeliveryError {
  if (!(error instanceof HawserError)) throw error;
  return { code: error.code, message: error.message };
}

export function numberOf(numbers: Map<string, number>, text: string): number {
  const known = numbers.get(text) ?? numbers.size;
  numbers.set(text, known);
  return known;
}
