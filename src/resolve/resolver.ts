/**
 * Answers what a node gets. The answer is remembered per node until the generation changes. After that it is made of a
 * plan that many nodes share and the few files that apply to this node, and many nodes share the manifest as well.
 */

import type { Database } from '../db/database.ts';
import { type Assignment, type KnownNode, MAX_NODES, type ScopeLink } from '../db/node-lookup.ts';
import { type Awaitable, andThen, singleFlight, thenOrElse } from '../lib/awaitable.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import { RecentMap } from '../lib/recent-map.ts';
import type { Manifest } from './manifest.ts';
import {
  type BundleEntry,
  keyOfManifest,
  type ManifestMaker,
  partsOf,
  type Selection,
} from './manifest-maker.ts';
import { type ChosenRefs, chooseRefs } from './parameters.ts';
import { valuesFor } from './planned-merging.ts';
import type { ConfigurationPlan, Plan, Planner } from './plans.ts';

type AssignedNode = KnownNode & { assignment: Assignment };

interface KeyedManifest {
  /** Everything that the manifest is made of. */
  key: string;
  manifest: Manifest;
}

/** The result of a node's last poll. */
interface Remembered {
  generation: number;
  assignment: Assignment;
  made: KeyedManifest;
}

/** The number of recent manifests that are kept for nodes to share. At most twice as many are; each costs some 1 KB. */
const MAX_MANIFESTS = 5_000;

const NO_LINKS: readonly ScopeLink[] = [];

export interface ResolverTools {
  planner: Planner;
  maker: ManifestMaker;
  /** Is told how long each manifest took to make. */
  onResolved(milliseconds: number): void;
}

export class Resolver {
  private readonly database: Database;
  private readonly planner: Planner;
  private readonly maker: ManifestMaker;
  /** The results of the last polls. A node takes some 200 bytes beside its manifest. */
  private readonly nodes = new RecentMap<string, Remembered>(MAX_NODES);
  private readonly manifests = new RecentMap<string, KeyedManifest>(MAX_MANIFESTS);
  private readonly making = new Map<string, Promise<KeyedManifest>>();
  private readonly onResolved: ResolverTools['onResolved'];

  constructor(database: Database, { planner, maker, onResolved }: ResolverTools) {
    this.database = database;
    this.planner = planner;
    this.maker = maker;
    this.onResolved = onResolved;
  }

  /** The number of nodes whose manifest is in memory. */
  get rememberedNodes(): number {
    return this.nodes.size;
  }

  /**
   * The manifest for a node that polls. In the steady state this is one look-up in a map. While the database is away, it is
   * the one of the node's last poll, whatever was written since.
   * @throws HawserError as `manifest`
   */
  polled(node: KnownNode): Awaitable<Manifest> {
    const known = this.nodes.get(node.nodeId);
    const { changes } = this.database;
    if (known !== undefined && (isFor(known, node) || changes.isAway)) return known.made.manifest;
    return thenOrElse(
      () =>
        changes.orKept(
          () => this.manifest(node),
          () => this.nodes.get(node.nodeId)?.made.manifest,
        ),
      (manifest) => manifest,
      (error) => {
        // The node is told that it gets nothing, and must not hear of an earlier answer once the database is away.
        if (!(error instanceof HawserError && error.kind === 'unavailable')) this.nodes.delete(node.nodeId);
        throw error;
      },
    );
  }

  /**
   * The manifest for a node as it was looked up.
   * @throws HawserError not_found `no_configuration_assigned`, and `no_eligible_version` if no published version fits the
   *   assignment
   */
  manifest(node: KnownNode): Awaitable<Manifest> {
    const { assignment } = node;
    if (assignment === null)
      throw notFound('No configuration is assigned to this node', 'no_configuration_assigned');
    const known = this.nodes.get(node.nodeId);
    if (known !== undefined && isFor(known, node)) return known.made.manifest;
    const plan = this.planner.plan(assignment, node);
    return andThen(plan, (made) => this.fill(node as AssignedNode, made));
  }

  /** Lets all manifests be made anew, for other keys of secrets. */
  forget(): void {
    for (const map of [this.nodes, this.manifests]) map.clear();
  }

  /** All files of the bundle in its order. */
  files(manifest: Manifest): Promise<BundleEntry[]> {
    return this.maker.files(manifest);
  }

  private fill(node: AssignedNode, plan: Plan): Awaitable<Manifest> {
    const hasParameters = partsOf(plan).some(({ parameters }) => parameters !== null);
    const links = hasParameters ? this.database.nodeLookup.scopesOf(node) : NO_LINKS;
    return andThen(links, (known) => this.fillFor(node, plan, known));
  }

  private fillFor(node: AssignedNode, plan: Plan, links: readonly ScopeLink[]): Awaitable<Manifest> {
    const { prereleaseChannel } = node.assignment;
    const parts = partsOf(plan);
    const values = valuesFor(parts, { nodeId: node.nodeId, fqdn: node.scopes?.fqdn ?? '', links });
    const selections: Selection[] = parts.map((each) => ({
      ...{ plan: each, values },
      ...refsOf(each, links, prereleaseChannel),
    }));
    const key = keyOfManifest(plan, selections, this.maker.generation);
    const known = this.nodes.get(node.nodeId)?.made;
    const shared = known?.key === key ? known : this.manifests.get(key);
    const made = shared ?? this.make(key, plan, selections);
    return andThen(made, (keyed) => this.remember(node, keyed));
  }

  /** Nodes that need the same manifest while it is being made share one making. A failure is not kept. */
  private make(key: string, plan: Plan, selections: readonly Selection[]): Awaitable<KeyedManifest> {
    return singleFlight(this.making, key, () => {
      const start = performance.now();
      return andThen(this.maker.build(plan, selections), (manifest) => {
        this.onResolved(performance.now() - start);
        const keyed = { key, manifest };
        this.manifests.set(key, keyed);
        return keyed;
      });
    });
  }

  private remember({ nodeId, generation, assignment }: AssignedNode, made: KeyedManifest): Manifest {
    this.nodes.set(nodeId, { generation, assignment, made });
    return made.manifest;
  }
}

function refsOf(
  plan: ConfigurationPlan,
  links: readonly ScopeLink[],
  prereleaseChannel: string | null,
): ChosenRefs {
  const constraint = { configurationVersion: plan.tag.version, prereleaseChannel };
  return chooseRefs(plan, links, constraint);
}

function isFor({ generation, assignment }: Remembered, node: KnownNode): boolean {
  return generation === node.generation && node.assignment !== null && isSame(assignment, node.assignment);
}

function isSame(a: Assignment, b: Assignment): boolean {
  return (
    a === b ||
    (a.configurationId === b.configurationId &&
      a.compositeId === b.compositeId &&
      a.majorVersion === b.majorVersion &&
      a.prereleaseChannel === b.prereleaseChannel &&
      a.version === b.version)
  );
}
