/**
 * The gate for handing out: who gives nodes something that they did not get before must be allowed to read all of it. What
 * gives them nothing new is free.
 */

import type { Database, Db } from '../db/database.ts';
import { chooseVersion } from '../domain/version-choice.ts';
import { type HawserError, notFound } from '../lib/errors.ts';
import type { CompositeReader } from '../resolve/composites.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { contentNamed, mayReadAllOf } from '../security/rights.ts';
import type { SortedVersions } from '../versions/sorted-versions.ts';
import type { VersionRef } from '../versions/types.ts';

/** Whether the caller may read all of these configurations, with their parameters, now and with this token. */
export async function mayReadConfigurations(
  db: Db,
  principal: UserPrincipal,
  names: readonly string[],
): Promise<boolean> {
  if (names.length === 0) return true;
  return mayReadAllOf(db, principal, await contentNamed(db, { configurations: names }));
}

interface Tools {
  database: Pick<Database, 'read'>;
  composites: CompositeReader;
}

/**
 * What keeps the caller from publishing a draft of a composite: a child that nodes would get by that, which they do not get
 * now, and that the caller may not read. A version that no assignment would give is free.
 * @param versions all of the composite
 * @returns the refusal, as for a child that is not there; null where there is none
 */
export async function blockerOfChildren(
  { database: { read }, composites }: Tools,
  principal: UserPrincipal,
  { id, name }: { id: string; name: string },
  { draft, versions }: { draft: VersionRef; versions: SortedVersions },
): Promise<HawserError | null> {
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
  return (await mayReadConfigurations(read, principal, [...added]))
    ? null
    : notFound('No configuration of this name');
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
