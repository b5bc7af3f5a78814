/** What the withdrawal of a version would mean: which nodes would get another version, and who is pinned to it. */

import type { Database, Db } from '../db/database.ts';
import { HawserError } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import type { ResourceKind } from '../versions/rows.ts';
import type { GitStore, RepositoryRef, VersionIndex, VersionRef } from '../versions/store.ts';
import type { CompositeReader } from './composites.ts';
import { findWanted, type WantedVersion } from './wanted-version.ts';

export interface WithdrawalEffect {
  /** The number of nodes that are offered the version now, directly or through a child that follows. */
  nodes: number;
  /** What these nodes would get instead, the highest version first; null, which comes last, is nothing. */
  wouldGet: { version: string | null; nodes: number }[];
  /** The versions of composites that are pinned to it, drafts too, by name and then the highest version first. */
  pinnedBy: { compositeName: string; version: string }[];
}

export interface EffectTools {
  database: Database;
  store: GitStore;
  composites: CompositeReader;
}

/** The published version that is to be withdrawn. */
export interface WithdrawnVersion {
  repository: RepositoryRef & { kind: ResourceKind };
  /** The id of the configuration or composite. */
  id: string;
  version: string;
}

/** An assignment that some nodes share. */
interface SharedAssignment extends WantedVersion {
  /** The name of the composite that is assigned; null where a configuration is. */
  composite: string | null;
  nodes: number;
}

/** @param isReadable tells whether the caller may read the composite of this name; others are not named */
export async function effectOfWithdrawal(
  tools: EffectTools,
  withdrawn: WithdrawnVersion,
  isReadable: (compositeName: string) => boolean,
): Promise<WithdrawalEffect> {
  const { repository, version } = withdrawn;
  const now = new Offers(tools, repository);
  const later = new Offers(tools, repository, version);
  const counts = new Map<string | null, number>();
  for (const assignment of await listAssignments(tools.database, withdrawn)) {
    if ((await now.versionFor(assignment)) !== version) continue;
    const next = await later.versionFor(assignment);
    counts.set(next, (counts.get(next) ?? 0) + assignment.nodes);
  }
  const { versions } = await tools.store.versions(repository);
  const order = [...versions.map((ref) => ref.version), null];
  const wouldGet = order.flatMap((next) => {
    const nodes = counts.get(next);
    return nodes === undefined ? [] : { version: next, nodes };
  });
  return {
    nodes: wouldGet.reduce((sum, { nodes }) => sum + nodes, 0),
    wouldGet,
    pinnedBy: repository.kind === 'configurations' ? await listPins(tools, withdrawn, isReadable) : [],
  };
}

/** What nodes are offered of one configuration or composite, perhaps as if one of its versions were withdrawn. */
class Offers {
  private readonly tools: EffectTools;
  private readonly repository: RepositoryRef;
  private readonly without: string | undefined;

  constructor(tools: EffectTools, repository: RepositoryRef, without?: string) {
    this.tools = tools;
    this.repository = repository;
    this.without = without;
  }

  /**
   * The version that the assignment offers. Null where it gives nothing, or an error, and where a child is pinned, because
   * to a pin nothing is offered.
   */
  async versionFor({ composite, ...wanted }: SharedAssignment): Promise<string | null> {
    if (composite === null) return (await this.find(this.repository, wanted))?.version ?? null;
    const repository = { kind: 'composites', name: composite } as const;
    const found = await this.find(repository, wanted);
    if (found === null) return null;
    let offered: string | null = this.repository.kind === 'composites' ? found.version : null;
    for (const { configuration: name, version } of (await this.tools.composites.document(repository, found))
      .children) {
      const child = { kind: 'configurations', name } as const;
      const { prereleaseChannel } = wanted;
      const got = await this.find(child, { majorVersion: null, prereleaseChannel, version });
      // Without one of its children a composite gives nothing at all.
      if (got === null) return null;
      if (version === null && isSame(child, this.repository)) offered = got.version;
    }
    return offered;
  }

  /** A missing repository gives nobody anything. */
  private async find(repository: RepositoryRef, wanted: WantedVersion): Promise<VersionRef | null> {
    try {
      const index = await this.tools.store.versions(repository);
      return findWanted(isSame(repository, this.repository) ? this.seen(index) : index, wanted);
    } catch (error) {
      if (error instanceof HawserError && error.code === 'repository_missing') return null;
      throw error;
    }
  }

  /** The index as it would be. A pinned version is there in either case. */
  private seen(index: VersionIndex): VersionIndex {
    if (this.without === undefined) return index;
    const published = index.published.filter(({ version }) => version !== this.without);
    return { versions: index.versions, published, get: (version) => index.get(version) };
  }
}

/**
 * The assignments that may offer the version, each with the number of nodes that share it. To a node that is pinned to it
 * nothing is offered. A following child may stand in any composite, also in one that nodes are pinned to.
 */
async function listAssignments(
  { read }: Database,
  { repository: { kind, name }, id }: WithdrawnVersion,
): Promise<SharedAssignment[]> {
  // The columns stand as in the indexes of the table, so that the nodes of a large fleet are counted in some milliseconds.
  const direct = await read
    .selectFrom('assignments')
    .select(['major_version as majorVersion', 'prerelease_channel as prereleaseChannel'])
    .select(({ fn }) => fn.countAll().as('nodes'))
    .where(kind === 'composites' ? 'composite_id' : 'configuration_id', '=', id)
    .where('version', 'is', null)
    .groupBy(['major_version', 'prerelease_channel'])
    .execute();
  const composite = kind === 'composites' ? name : null;
  const assignments = direct.map(({ nodes, ...constraint }) => ({
    ...constraint,
    ...{ composite, version: null, nodes: Number(nodes) },
  }));
  return kind === 'composites' ? assignments : [...assignments, ...(await listOfComposites(read))];
}

async function listOfComposites(read: Db): Promise<SharedAssignment[]> {
  const shared = read
    .selectFrom('assignments')
    .select(['composite_id', 'major_version as majorVersion', 'prerelease_channel as prereleaseChannel'])
    .select(({ fn }) => ['version', fn.countAll().as('nodes')])
    .where('composite_id', 'is not', null)
    .groupBy(['composite_id', 'major_version', 'prerelease_channel', 'version']);
  const rows = await read
    .selectFrom(shared.as('a'))
    .innerJoin('composites as k', 'k.id', 'a.composite_id')
    .select(['k.name as composite', 'a.majorVersion', 'a.prereleaseChannel', 'a.version', 'a.nodes'])
    .execute();
  return rows.map(({ nodes, ...assignment }) => ({ ...assignment, nodes: Number(nodes) }));
}

async function listPins(
  { composites }: EffectTools,
  { repository: { name }, version: pinned }: WithdrawnVersion,
  isReadable: (compositeName: string) => boolean,
): Promise<WithdrawalEffect['pinnedBy']> {
  const pins: WithdrawalEffect['pinnedBy'] = [];
  const pace = new Pace();
  for await (const { compositeName, version, document } of composites.versions()) {
    if (pace.isDue) await pace.rest();
    const isPinned = document.children.some(
      (child) => child.configuration === name && child.version === pinned,
    );
    if (isPinned && isReadable(compositeName)) pins.push({ compositeName, version });
  }
  return pins;
}

function isSame(a: RepositoryRef, b: RepositoryRef): boolean {
  return a.kind === b.kind && a.name === b.name;
}
