/**
 * The gate for handing out: who gives nodes something that they did not get before must be allowed to read all of it. What
 * gives them nothing new is free.
 */

import type { Database, Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import type { Assignment } from '../db/node-lookup.ts';
import { NamesOfScopes, type RestrictedScope, restrictedScopes } from '../db/scope-grants.ts';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import { chooseVersion } from '../domain/version-choice.ts';
import { forbidden, type HawserError, notFound } from '../lib/errors.ts';
import type { CompositeReader } from '../resolve/composites.ts';
import { valueFor } from '../resolve/open-versions.ts';
import type { Planner } from '../resolve/plans.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { contentNamed, grantedToUser, levelOnScope, mayReadAllOf } from '../security/rights.ts';
import { seriesOf } from '../versions/parameter-files.ts';
import type { SortedVersions } from '../versions/sorted-versions.ts';
import type { RolloutRef, SeriesIndex, VersionRef } from '../versions/types.ts';
import type { VersionSource } from '../versions/version-source.ts';

/** Which configuration or composite a node is to be given, and which of its versions. */
export interface WantedAssignment {
  configurationName: string;
  isComposite?: boolean | null | undefined;
  /** Absent or null admits any. */
  majorVersion?: number | null | undefined;
  /** Admits prereleases at or above this one; absent or null none. */
  prereleaseChannel?: string | null | undefined;
  /** Exactly this published version, so without the two members before; absent or null pins nothing. */
  version?: string | null | undefined;
}

/** What is stored of a wanted assignment. @param targetId the id of the configuration or composite that it names */
export function assignmentOf(
  { isComposite, majorVersion, prereleaseChannel, version }: Omit<WantedAssignment, 'configurationName'>,
  targetId: string,
): Assignment {
  return {
    configurationId: isComposite ? null : targetId,
    compositeId: isComposite ? targetId : null,
    majorVersion: majorVersion ?? null,
    prereleaseChannel: prereleaseChannel ?? null,
    version: version ?? null,
  };
}

/**
 * The names of all configurations that an assignment gives, now or once a version that rolls out reaches the node. One that halted
 * counts too while those keep it that have taken it, as one of them may be assigned to it again.
 */
export async function configurationsGiven(
  planner: Pick<Planner, 'byVersions'>,
  assignment: Assignment,
): Promise<string[]> {
  const given = await planner.byVersions(assignment, (versions) =>
    versions === null
      ? []
      : (versions.composite?.children.map(({ child }) => child.configuration) ?? [versions.repository.name]),
  );
  const limited: RolloutRef[] = [];
  const names = new Set(
    await valueFor(given, ({ kind }, rollout) => {
      // Which children there are depends on the version of the composite alone.
      if (kind === 'composites') limited.push(rollout);
      return false;
    }),
  );
  for (const rollout of limited)
    for (const name of await valueFor(given, (_, each) => each === rollout)) names.add(name);
  return [...names];
}

/** Whether the caller may read these configurations, with their parameters but those of restricted scopes, now and with this token. */
export async function mayReadConfigurations(
  db: Db,
  principal: UserPrincipal,
  names: readonly string[],
): Promise<boolean> {
  if (names.length === 0) return true;
  return mayReadAllOf(db, principal, await contentNamed(db, { configurations: names }));
}

/** Nodes that get files: those that are there by their ids, or ones to come, which have these tags or any. */
type Receivers = { nodeIds: readonly string[] } | { tags: readonly string[] } | 'any';

/**
 * The parameter files of configurations that somebody gives to nodes. Who may read a configuration may read all of them but
 * those of restricted scopes, and which these are is asked in the transaction that gives.
 */
export class GivenFiles {
  private readonly principal: UserPrincipal;
  private readonly indexes: ReadonlyMap<string, SeriesIndex>;

  private constructor(principal: UserPrincipal, indexes: ReadonlyMap<string, SeriesIndex>) {
    this.principal = principal;
    this.indexes = indexes;
  }

  /** It reads repositories, so it comes before any transaction. */
  static async of(
    {
      database: { read },
      store,
    }: { database: Pick<Database, 'read'>; store: Pick<VersionSource, 'parameters'> },
    principal: UserPrincipal,
    names: readonly string[],
  ): Promise<GivenFiles> {
    const { configurations } = await contentNamed(read, { configurations: names });
    const indexes = new Map<string, SeriesIndex>();
    for (const [at, name] of names.entries())
      indexes.set(configurations[at] ?? '', await store.parameters.index(name));
    return new GivenFiles(principal, indexes);
  }

  /** @throws HawserError what `refusal` answers */
  async require(trx: Db, receivers: Receivers): Promise<void> {
    const refusal = await this.refusal(trx, receivers);
    if (refusal !== null) throw refusal;
  }

  /** @returns forbidden `beyond_own_permissions` where one of the nodes would get a file that the giver may not read, else null */
  async refusal(trx: Db, receivers: Receivers): Promise<HawserError | null> {
    for (const scope of await this.closed(trx))
      if (await reaches(trx, scope, receivers)) return beyondReadingGiven();
    return null;
  }

  /** The scopes that have a published file and that the giver may not read. */
  private async closed(trx: Db): Promise<RestrictedScope[]> {
    const { principal, indexes } = this;
    const restricted = await restrictedScopes(trx, [...indexes.keys()]);
    if (restricted.length === 0) return [];
    const granted = await grantedToUser(trx, principal.userId, [...indexes.keys()]);
    const closed = restricted.filter((scope) => levelOnScope(granted, principal, scope, true) === null);
    const names = await NamesOfScopes.of(trx, closed);
    return closed.filter((scope) => {
      const index = indexes.get(scope.configurationId);
      const files = names.namesOf(scope).flatMap((name) => index?.of(seriesOf(name)).published ?? []);
      if (scope.scopeTypeId !== NODE_SCOPE_TYPE_ID) return files.length > 0;
      return files.some(({ nodeId }) => nodeId === undefined || nodeId === scope.scopeValueId);
    });
  }
}

async function reaches(trx: Db, { scopeTypeId, scopeValueId }: RestrictedScope, receivers: Receivers) {
  if (scopeTypeId === DEFAULT_SCOPE_TYPE_ID || receivers === 'any') return true;
  if ('tags' in receivers) return receivers.tags.includes(scopeValueId ?? '');
  const { nodeIds } = receivers;
  if (scopeTypeId === NODE_SCOPE_TYPE_ID) return nodeIds.includes(scopeValueId ?? '');
  const tags = trx
    .selectFrom('node_tags')
    .select('node_id')
    .where('scope_value_id', '=', scopeValueId ?? '');
  return (
    (await tags.where(engineOf(trx).isOneOf('node_id', nodeIds)).limit(1).executeTakeFirst()) !== undefined
  );
}

const beyondReadingGiven = () =>
  forbidden('This gives a node values of a parameter file that you may not read', 'beyond_own_permissions');

interface Tools {
  database: Pick<Database, 'read'>;
  store: Pick<VersionSource, 'parameters'>;
  composites: CompositeReader;
}

/**
 * What keeps the caller from publishing a draft of a composite: a child that nodes would get by that, which they do not get
 * now, and that the caller may not read. A version that no assignment would give is free.
 * @param versions all of the composite
 * @returns the refusal, as for a child that is not there; null where there is none
 */
export async function blockerOfChildren(
  tools: Tools,
  principal: UserPrincipal,
  { id, name }: { id: string; name: string },
  { draft, versions }: { draft: VersionRef; versions: SortedVersions },
): Promise<HawserError | null> {
  const { composites } = tools;
  const { read } = tools.database;
  const repository = { kind: 'composites', name } as const;
  const childrenOf = async (ref: VersionRef) =>
    (await composites.document(repository, ref)).children.map(({ configuration }) => configuration);
  const later = versions.with(new Map([[draft.version, { ...draft, status: 'Published' }]]));
  const children = await childrenOf(draft);
  const added = new Set<string>();
  for (const wanted of await assignmentsOf(read, id)) {
    if (chooseVersion(later.published, wanted)?.version !== draft.version) continue;
    const now = chooseVersion(versions.published, wanted);
    const known = new Set(now === null ? [] : await childrenOf(now));
    for (const child of children) if (!known.has(child)) added.add(child);
  }
  if (!(await mayReadConfigurations(read, principal, [...added])))
    return notFound('No configuration of this name');
  if (added.size === 0) return null;
  const files = await GivenFiles.of(tools, principal, [...added]);
  const nodes = read.selectFrom('assignments').select('node_id').where('composite_id', '=', id);
  const nodeIds = (await nodes.execute()).map(({ node_id }) => node_id);
  return files.refusal(read, { nodeIds });
}

/** What the assignments of a composite admit, each once. A pinned one gets no other version. */
function assignmentsOf(db: Db, compositeId: string) {
  return db
    .selectFrom('assignments')
    .select(['major_version as majorVersion', 'prerelease_channel as prereleaseChannel'])
    .distinct()
    .where('composite_id', '=', compositeId)
    .where('version', 'is', null)
    .execute();
}
