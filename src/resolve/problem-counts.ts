/**
 * Counts the problems in the parameters of nodes, for lists of nodes. A count is made of a plan that many nodes share and
 * of the few files that apply to a node, so nodes that get the same share their count. No poll asks for any of this.
 */

import type { Database } from '../db/database.ts';
import { type KnownNode, keyOfAssignment, MAX_NODES, ownerIdOf, type ScopeLink } from '../db/node-lookup.ts';
import { allOf } from '../lib/awaitable.ts';
import { HawserError } from '../lib/errors.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import type { Pace } from '../lib/pace.ts';
import { RecentMap } from '../lib/recent-map.ts';
import { type Declared, schemaIn } from './declared.ts';
import { type Explainer, type Part, toPart } from './explain.ts';
import { partsOf } from './manifest-maker.ts';
import type { ByNode } from './open-versions.ts';
import { chooseRefs } from './parameters.ts';
import { valuesFor } from './planned-merging.ts';
import type { ConfigurationPlan, Plan, Planner } from './plans.ts';

interface Count {
  /** Everything that the count is made of. */
  key: string;
  problems: number;
}

/** The last count of a node. */
interface Remembered {
  generation: number;
  assignment: string;
  count: Count;
}

/** The plan of a configuration whose parameters the server manages, with what its version declares. */
interface PlannedPart {
  plan: ConfigurationPlan;
  declared: Declared;
}

/** What all nodes of a plan share. */
interface Prepared {
  parts: readonly PlannedPart[];
  prereleaseChannel: string | null;
}

/** What has been begun for one list. So nodes that share a failure share the one attempt that failed, too. */
class Attempts {
  readonly plans = new Map<string, Promise<ByNode<Plan> | null>>();
  readonly prepared = new Map<Plan, Promise<readonly PlannedPart[]>>();
  readonly counts = new Map<string, Promise<Count>>();
}

/** The number of recent counts that are kept for nodes to share. */
const MAX_COUNTS = 5_000;
/** Nodes of a list that are counted at the same time, so that their scopes can be read together. */
const AT_ONCE = 20;

export class ProblemCounts {
  private readonly database: Database;
  private readonly planner: Planner;
  private readonly explainer: Explainer;
  /** The last counts of nodes. A node takes some 200 bytes beside its count. */
  private readonly nodes = new RecentMap<string, Remembered>(MAX_NODES);
  private readonly counts = new RecentMap<string, Count>(MAX_COUNTS);

  constructor(database: Database, { planner, explainer }: { planner: Planner; explainer: Explainer }) {
    this.database = database;
    this.planner = planner;
    this.explainer = explainer;
  }

  /**
   * Counts the problems in what the node gets now. For a composite these are the problems of all its children. Files that
   * cannot be merged count as one problem. A node that gets nothing has none.
   * @param caller is the one in whose turn documents are read
   * @throws HawserError of kind internal or unavailable if what the node gets cannot be read
   */
  async ofNode(node: KnownNode, caller: string): Promise<number> {
    return this.remembered(node) ?? (await this.count(node, caller, new Attempts()));
  }

  /**
   * The same for several nodes, by their ids. Null means that what the node gets cannot be read at the moment. A node
   * that is no longer there has no problems.
   */
  async ofNodes(
    nodeIds: readonly string[],
    caller: string,
    pace: Pace,
  ): Promise<ReadonlyMap<string, number | null>> {
    const nodes = await allOf(nodeIds.map((nodeId) => this.database.nodeLookup.byNodeId(nodeId)));
    // The counts are in the order of the ids, also where they come later.
    const counts = new Map<string, number | null>();
    const uncounted: KnownNode[] = [];
    for (const [at, nodeId] of nodeIds.entries()) {
      const node = nodes[at] ?? null;
      const known = node ? this.remembered(node) : 0;
      counts.set(nodeId, known);
      if (node !== null && known === null) uncounted.push(node);
    }
    const attempts = new Attempts();
    await forEachOf(uncounted, AT_ONCE, async (node) => {
      if (pace.isDue) await pace.rest();
      counts.set(node.nodeId, await orUnknown(() => this.count(node, caller, attempts)));
    });
    return counts;
  }

  private remembered({ nodeId, assignment, generation }: KnownNode): number | null {
    if (assignment === null) return 0;
    const known = this.nodes.get(nodeId);
    const isCurrent = known?.generation === generation && known.assignment === keyOfAssignment(assignment);
    return isCurrent ? known.count.problems : null;
  }

  private async count(node: KnownNode, caller: string, attempts: Attempts): Promise<number> {
    const { nodeId, assignment, generation } = node;
    if (assignment === null) return 0;
    const key = keyOfAssignment(assignment);
    const plans = await once(attempts.plans, key, () =>
      orNothing(async () => this.planner.plans(assignment, generation)),
    );
    const plan = plans && (await orNothing(async () => this.planner.planIn(plans, node)));
    const parts = plan
      ? await once(attempts.prepared, plan, () => this.prepare(partsOf(plan), caller))
      : NO_PARTS;
    const prepared = { parts, prereleaseChannel: assignment.prereleaseChannel };
    const count = await this.countOf(node, prepared, caller, attempts);
    this.nodes.set(nodeId, { generation, assignment: key, count });
    return count.problems;
  }

  private async countOf(
    node: KnownNode,
    { parts, prereleaseChannel }: Prepared,
    caller: string,
    attempts: Attempts,
  ): Promise<Count> {
    const links = parts.length === 0 ? [] : await this.database.nodeLookup.scopesOf(node);
    const values = valuesFor(
      parts.map(({ plan }) => plan),
      {
        ...{ nodeId: node.nodeId, fqdn: node.scopes?.fqdn ?? '', links },
      },
    );
    const key = `${keyFor(parts, links, prereleaseChannel)}${values === null ? '' : JSON.stringify(values)}`;
    const last = this.nodes.get(node.nodeId)?.count;
    const known = last?.key === key ? last : this.counts.get(key);
    if (known) return known;
    return once(attempts.counts, key, async () => {
      const count = { key, problems: 0 };
      for (const { plan, declared } of parts)
        count.problems += await this.problemsIn(
          toPart(plan, links, { node, prereleaseChannel }),
          declared,
          caller,
        );
      this.counts.set(key, count);
      return count;
    });
  }

  private async problemsIn(part: Part, declared: Declared, caller: string): Promise<number> {
    try {
      return (await this.explainer.problemsIn(part, declared, caller)).length;
    } catch (error) {
      if (error instanceof HawserError && error.code === 'parameter_merge_failed') return 1;
      throw error;
    }
  }

  private async prepare(plans: readonly ConfigurationPlan[], caller: string): Promise<PlannedPart[]> {
    const parts: PlannedPart[] = [];
    for (const plan of plans)
      if (plan.parameters !== null)
        parts.push({ plan, declared: await this.explainer.declaredBy(plan, caller) });
    return parts;
  }
}

const NO_PARTS: readonly PlannedPart[] = [];

/** Everything that a count is made of, by ids whose content never changes. */
function keyFor(
  parts: readonly PlannedPart[],
  links: readonly ScopeLink[],
  prereleaseChannel: string | null,
): string {
  let key = '';
  for (const { plan, declared } of parts) {
    key += `${plan.id} ${plan.name} ${schemaIn(declared)?.key ?? ''} ${plan.merging.key}\n`;
    const constraint = { configurationVersion: plan.tag.version, prereleaseChannel };
    const chosen = chooseRefs(plan, links, constraint);
    for (const [at, link] of chosen.links.entries()) key += `${chosen.refs[at]?.oid}@${ownerIdOf(link)} `;
  }
  return key;
}

/** What has been begun under this key, or else a new beginning. */
function once<K, T>(begun: Map<K, Promise<T>>, key: K, begin: () => Promise<T>): Promise<T> {
  const known = begun.get(key);
  if (known) return known;
  const made = begin();
  begun.set(key, made);
  return made;
}

/** Gives null for what cannot be read at the moment. */
const orUnknown = <T>(work: () => Promise<T>) => orNull(['internal', 'unavailable'], work);

/** Gives null if nothing is assigned any more, or no version fits. */
const orNothing = <T>(work: () => Promise<T>) => orNull(['not_found'], work);

async function orNull<T>(kinds: readonly string[], work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof HawserError && kinds.includes(error.kind)) return null;
    throw error;
  }
}
