/** What the withdrawal of a version would mean: which nodes would get another version, and who is pinned to it. */

import type { Database, Db } from '../db/database.ts';
import { HawserError } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import type { ResourceKind } from '../versions/rows.ts';
import { SortedVersions } from '../versions/sorted-versions.ts';
import type { GitStore, RepositoryRef, VersionIndex } from '../versions/store.ts';
import type { CompositeReader } from './composites.ts';
import { type ByNode, Fork, type NodeOpenness, valueFor } from './open-versions.ts';
import { byVersions, isWhole, type WantedVersion } from './wanted-version.ts';

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
  openness: NodeOpenness;
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
  /** The composite that is assigned; null where a configuration is. */
  composite: { id: string; name: string } | null;
  nodes: number;
}

/** Nodes of an assignment that are looked at together, where a rollout makes them differ. */
const SLICE = 250;

/** @param isReadable tells whether the caller may read the composite of this name; others are not named */
export async function effectOfWithdrawal(
  tools: EffectTools,
  withdrawn: WithdrawnVersion,
  isReadable: (compositeName: string) => boolean,
): Promise<WithdrawalEffect> {
  const { repository, version } = withdrawn;
  const counts = new Map<string | null, number>();
  for (const assignment of await listAssignments(tools.database, withdrawn)) {
    const now = await offeredBy(tools, repository, assignment);
    const later = await offeredBy(tools, repository, assignment, version);
    for await (const [before, after, nodes] of changesOf(tools, withdrawn, assignment, [now, later]))
      if (before === version) counts.set(after, (counts.get(after) ?? 0) + nodes);
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

/**
 * The version of one configuration or composite that an assignment offers. Null where it gives nothing, or an error, and
 * where a child is pinned, because to a pin nothing is offered.
 * @param without the version that counts as withdrawn
 */
function offeredBy(
  { store, composites }: EffectTools,
  repository: RepositoryRef,
  { composite, ...wanted }: SharedAssignment,
  without?: string,
): Promise<ByNode<string | null>> {
  const readers = {
    composites,
    async versions(ref: RepositoryRef) {
      const index = await orEmpty(() => store.versions(ref));
      return without !== undefined && isSame(ref, repository) ? withoutVersion(index, without) : index;
    },
  };
  const assigned = composite ? ({ kind: 'composites', name: composite.name } as const) : repository;
  return byVersions(readers, assigned, wanted, (given) => {
    if (!isWhole(given)) return null;
    if (isSame(assigned, repository)) return given.tag.version;
    const followed = given.composite?.children.find(
      ({ child }) => child.version === null && child.configuration === repository.name,
    );
    return followed?.tag?.version ?? null;
  });
}

/** The index as it would be. A pinned version is there in either case. */
function withoutVersion(index: VersionIndex, without: string): VersionIndex {
  const published = index.published.filter(({ version }) => version !== without);
  return { versions: index.versions, published, get: (version) => index.get(version) };
}

/** A missing repository gives nobody anything. */
async function orEmpty(read: () => Promise<VersionIndex>): Promise<VersionIndex> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof HawserError && error.code === 'repository_missing') return SortedVersions.EMPTY;
    throw error;
  }
}

/** What nodes are offered now and later, with the number of those. Nodes are looked at only where they differ. */
async function* changesOf(
  { database, openness }: EffectTools,
  withdrawn: WithdrawnVersion,
  assignment: SharedAssignment,
  sides: readonly [now: ByNode<string | null>, later: ByNode<string | null>],
): AsyncGenerator<[now: string | null, later: string | null, nodes: number]> {
  const [now, later] = sides;
  if (!(now instanceof Fork || later instanceof Fork)) {
    yield [now, later, assignment.nodes];
    return;
  }
  const pace = new Pace();
  for (let after = ''; ; ) {
    const nodeIds = await nextNodes(database, withdrawn, assignment, after);
    for (const openTo of openness.ofAll(nodeIds)) {
      yield [await valueFor(now, openTo), await valueFor(later, openTo), 1];
      if (pace.isDue) await pace.rest();
    }
    const last = nodeIds.at(-1);
    if (last === undefined) return;
    after = last;
  }
}

/** The next nodes with the assignment, in the order of their ids. */
async function nextNodes(
  { read }: Database,
  { repository: { kind }, id }: WithdrawnVersion,
  { composite, majorVersion, prereleaseChannel, version }: SharedAssignment,
  after: string,
): Promise<string[]> {
  const isComposite = kind === 'composites' || composite !== null;
  const rows = await read
    .selectFrom('assignments')
    .select('node_id')
    .where(isComposite ? 'composite_id' : 'configuration_id', '=', composite?.id ?? id)
    .where('major_version', majorVersion === null ? 'is' : '=', majorVersion)
    .where('prerelease_channel', prereleaseChannel === null ? 'is' : '=', prereleaseChannel)
    .where('version', version === null ? 'is' : '=', version)
    .where('node_id', '>', after)
    .orderBy('node_id')
    .limit(SLICE)
    .execute();
  return rows.map((row) => row.node_id);
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
  const composite = kind === 'composites' ? { id, name } : null;
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
    .select(['k.id', 'k.name', 'a.majorVersion', 'a.prereleaseChannel', 'a.version', 'a.nodes'])
    .execute();
  return rows.map(({ id, name, nodes, ...wanted }) => ({
    ...wanted,
    ...{ composite: { id, name }, nodes: Number(nodes) },
  }));
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
