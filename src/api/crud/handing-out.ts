/**
 * The gate for handing out: who gives nodes something that they did not get before must be allowed to read all of it. What
 * gives them nothing new is free.
 */

import type { Database, Db } from '../../db/database.ts';
import { type HawserError, notFound } from '../../lib/errors.ts';
import type { CompositeReader } from '../../resolve/composites.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { type Content, readableResources, readerOf } from '../../security/rights.ts';
import type { VersionRef } from '../../versions/types.ts';
import type { VersionSource } from '../../versions/version-source.ts';

/** Whether the caller may read all of these configurations, with their parameters, now and with this token. */
export async function mayReadConfigurations(
  db: Db,
  principal: UserPrincipal,
  names: readonly string[],
): Promise<boolean> {
  if (names.length === 0) return true;
  const rows = await db
    .selectFrom('configurations')
    .select(['id', 'name'])
    .where('name', 'in', names)
    .execute();
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  const content: Content = { composites: [], configurations: names.map((name) => ids.get(name) ?? null) };
  return readerOf(await readableResources(db, principal))(content);
}

interface Tools {
  database: Pick<Database, 'read'>;
  store: VersionSource;
  composites: CompositeReader;
}

/**
 * What keeps the caller from publishing a draft of a composite: a child that its nodes would get by that, and that the caller
 * may not read. A composite that is assigned to nobody is free, and so are the children of the highest published version.
 * @returns the refusal, as for a child that is not there; null where there is none
 */
export async function blockerOfChildren(
  { database: { read }, store, composites }: Tools,
  principal: UserPrincipal,
  { id, name }: { id: string; name: string },
  draft: VersionRef,
): Promise<HawserError | null> {
  const assigned = await read
    .selectFrom('assignments')
    .select('node_id')
    .where('composite_id', '=', id)
    .limit(1)
    .executeTakeFirst();
  if (assigned === undefined) return null;
  const repository = { kind: 'composites', name } as const;
  const childrenOf = async (ref: VersionRef) =>
    (await composites.document(repository, ref)).children.map(({ configuration }) => configuration);
  const [highest] = (await store.versions(repository)).published;
  const known = new Set(highest === undefined ? [] : await childrenOf(highest));
  const added = (await childrenOf(draft)).filter((child) => !known.has(child));
  return (await mayReadConfigurations(read, principal, added))
    ? null
    : notFound('No configuration of this name');
}
