/** What the withdrawal of a version would mean: which nodes would get another version, and who is pinned to it. */

import type { Database } from '../db/open.ts';
import { chooseVersion, type VersionConstraint } from '../domain/version-choice.ts';
import { HawserError } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import type { ResourceKind } from '../versions/rows.ts';
import type { GitStore, RepositoryRef, VersionRef } from '../versions/store.ts';
import type { CompositeReader } from './composites.ts';

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
interface SharedAssignment extends VersionConstraint {
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
  async versionFor({ composite, ...constraint }: SharedAssignment): Promise<string | null> {
    if (composite === null) return (await this.choose(this.repository, constraint))?.version ?? null;
    const repository = { kind: 'composites', name: composite } as const;
    const chosen = await this.choose(repository, constraint);
    if (chosen === null) return null;
    let offered: string | null = this.repository.kind === 'composites' ? chosen.version : null;
    for (const child of (await this.tools.composites.document(repository, chosen)).children) {
      const configuration = { kind: 'configurations', name: child.configuration } as const;
      const { prereleaseChannel } = constraint;
      const got =
        child.version === null
          ? await this.choose(configuration, { majorVersion: null, prereleaseChannel })
          : await this.pinned(configuration, child.version);
      // Without one of its children a composite gives nothing at all.
      if (got === null) return null;
      if (child.version === null && isSame(configuration, this.repository)) offered = got.version;
    }
    return offered;
  }

  private async choose(repository: RepositoryRef, constraint: VersionConstraint): Promise<VersionRef | null> {
    const { published } = await this.tools.store.versions(repository).catch(emptyIfMissing);
    const isLess = this.without !== undefined && isSame(repository, this.repository);
    const list = isLess ? published.filter(({ version }) => version !== this.without) : published;
    return chooseVersion(list, constraint);
  }

  private async pinned(repository: RepositoryRef, version: string): Promise<VersionRef | null> {
    const { versions } = await this.tools.store.versions(repository).catch(emptyIfMissing);
    return versions.find((ref) => ref.version === version && ref.status === 'Published') ?? null;
  }
}

/**
 * The assignments that may offer the version, each with the number of nodes that share it. A following child may stand in
 * any composite.
 */
async function listAssignments(
  { read }: Database,
  { repository: { kind }, id }: WithdrawnVersion,
): Promise<SharedAssignment[]> {
  const all = read
    .selectFrom('assignments as a')
    .leftJoin('composites as k', 'k.id', 'a.composite_id')
    .select((eb) => [
      'k.name as composite',
      'a.major_version',
      'a.prerelease_channel',
      eb.fn.countAll().as('nodes'),
    ])
    .groupBy(['a.composite_id', 'a.major_version', 'a.prerelease_channel']);
  const ofComposites =
    kind === 'composites'
      ? all.where('a.composite_id', '=', id)
      : all.where('a.composite_id', 'is not', null);
  const rows = await ofComposites.execute();
  if (kind === 'configurations') rows.push(...(await all.where('a.configuration_id', '=', id).execute()));
  return rows.map(({ composite, major_version, prerelease_channel, nodes }) => ({
    composite,
    majorVersion: major_version,
    prereleaseChannel: prerelease_channel,
    nodes: Number(nodes),
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

/** A missing repository gives nobody anything. */
function emptyIfMissing(error: unknown): { versions: VersionRef[]; published: VersionRef[] } {
  if (error instanceof HawserError && error.code === 'repository_missing')
    return { versions: [], published: [] };
  throw error;
}

function isSame(a: RepositoryRef, b: RepositoryRef): boolean {
  return a.kind === b.kind && a.name === b.name;
}
