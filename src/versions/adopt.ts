/** Brings versions of a repository outside of this server into one of its repositories, which is made if there is none. */

import type { Database } from '../db/database.ts';
import { freezeLook } from '../db/freeze.ts';
import { nameLock } from '../domain/lock-names.ts';
import { isResourceName } from '../domain/names.ts';
import { compareVersions, isVersion } from '../domain/version-order.ts';
import type { RepositoryKind, RepositoryRef } from '../git/types.ts';
import { invalid, notFound } from '../lib/errors.ts';
import { systemActor } from '../security/audit.ts';
import { underLock } from './author.ts';
import { isBesideStatus, KINDS, parseRefName, type RefName, SCHEMA_SERIES } from './kinds.ts';
import { scopeOf } from './parameter-files.ts';
import { adoptRepository, unknownSettings } from './reconcile.ts';
import { registerResource } from './resources.ts';
import { AUDITED, type Owner, type ResourceKind } from './rows.ts';
import type { GitStore } from './store.ts';
import type { PlannedEntry, TakenObjects, TakenTag } from './types.ts';
import { withCommit } from './unrecorded.ts';
import { recordChanges } from './version-records.ts';

export interface AdoptTools {
  database: Database;
  store: GitStore;
  now: number;
}

/** The tag of a version, and what stands beside it: a withdrawal, a rollout. They are taken together or not at all. */
export type TagGroup = readonly (Pick<TakenTag, 'name' | 'oid'> & { named: RefName })[];

/**
 * Groups tags, and the branches of rollouts, by version, the lowest first, because a version may take its entry point from the one below it.
 * @returns also the tags that are named like no version
 */
export function groupTags(
  kind: RepositoryKind,
  tags: readonly Pick<TakenTag, 'name' | 'oid'>[],
): { groups: TagGroup[]; others: string[] } {
  const groups = new Map<string, TagGroup[number][]>();
  const others: string[] = [];
  for (const tag of tags) {
    const named = parseRefName(KINDS[kind], tag.name);
    if (named === null || named === 'illegal') {
      others.push(tag.name);
      continue;
    }
    const key = `${named.series} ${named.version}`;
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    if (isBesideStatus(named.status)) group.push({ ...tag, named });
    else group.unshift({ ...tag, named });
  }
  const sorted = [...groups.values()].sort(([a], [b]) => compareNames(a?.named.version, b?.named.version));
  return { groups: sorted, others };
}

function compareNames(a = '', b = ''): number {
  if (isVersion(a) && isVersion(b)) return compareVersions(a, b);
  return Number(isVersion(b)) - Number(isVersion(a)) || (a < b ? -1 : Number(a > b));
}

/**
 * Finds the row to which the versions of a repository belong, or makes it, with an empty repository if there is none.
 * @throws HawserError not_found for parameters without a configuration; invalid for a name that none can have
 */
export async function requireOwner(
  { database, store, now }: AdoptTools,
  repository: RepositoryRef,
): Promise<Owner> {
  const { kind, name } = repository;
  const rows: ResourceKind = kind === 'composites' ? 'composites' : 'configurations';
  const find = () =>
    database.read.selectFrom(rows).select(['id', 'name']).where('name', '=', name).executeTakeFirst();
  const known = await find();
  if (known) return { kind, resource: known };
  if (kind === 'parameters') throw notFound(`there is no configuration "${name}" for these parameters`);
  if (!isResourceName(name))
    throw invalid('validation_failed', `"${name}" cannot be the name of a configuration`);
  await database.locks.run(nameLock(kind, name), async () => {
    const own = { kind, name };
    if (await store.has(own)) return adoptRepository({ database, store, now }, own);
    const settings = unknownSettings(now);
    const how = { how: 'adopted', actor: systemActor(now) } as const;
    await store.create(
      own,
      settings,
      null,
      () => (note) => registerResource(database, { ...own, settings }, { ...how, note }),
    );
  });
  const made = await find();
  if (made === undefined) throw notFound(`"${name}" was deleted meanwhile`);
  return { kind, resource: made };
}

/**
 * Takes a version with its objects and its audit entry, all of it or nothing.
 * @returns the full names of the tags that were not there
 * @throws HawserError as `takeTags`
 */
export function adoptVersion(
  { database, store, now }: AdoptTools,
  owner: Owner,
  { group, load }: { group: TagGroup; load: () => Promise<TakenObjects> },
): Promise<string[]> {
  const actor = { ...systemActor(now), requireUnfrozen: freezeLook(() => now) };
  return underLock({ database, store }, { ...owner, actor }, async (writer) => {
    const tags = group.map((tag) => ({ ...tag, entry: entryOf(owner, tag.named, now) }));
    const taken = await writer.takeTags(tags, load);
    const changes = taken.map(({ entry, commit, named: { series, version, status } }) => {
      const reason = writer.index.of(series).get(version)?.withdrawn?.reason;
      const details = { ...entry.details, ...(status === 'Withdrawn' && { reason }) };
      return withCommit({ ...entry, details }, commit);
    });
    if (taken.length > 0) await recordChanges(database, owner, { writer, actor }, changes.toReversed());
    return taken.map(({ name }) => name);
  });
}

function entryOf({ kind, resource }: Owner, { series, version, status }: RefName, now: number): PlannedEntry {
  const { value: scopeValue, scopeType } = scopeOf(series);
  const isSchema = kind === 'parameters' && series === SCHEMA_SERIES;
  const scope = kind === 'parameters' && !isSchema ? { scopeValue, scopeType } : {};
  const details = { ...scope, version };
  const common = { actor: systemActor(now), resourceId: resource.id, details, replaces: null };
  if (isSchema) return { ...common, action: 'parameters.schema_uploaded' };
  if (status === 'Withdrawn') return { ...common, action: `${AUDITED[kind]}.version_withdrawn` };
  if (kind !== 'parameters' && status === 'Rollout')
    return { ...common, action: `${AUDITED[kind]}.rollout_started` };
  return { ...common, action: `${AUDITED[kind]}.version_published` };
}
