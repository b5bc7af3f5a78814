/** Which composites may be named to a caller in answers about something else. */

import type { Db } from '../../db/database.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableIds } from '../../security/rights.ts';

/** The names of the composites that the caller may read. */
export async function readableComposites(db: Db, principal: UserPrincipal): Promise<ReadonlySet<string>> {
  const ids = readableIds(db, principal, 'composite');
  const all = db.selectFrom('composites').select('name');
  const rows = await (ids === 'all' ? all : all.where('id', 'in', ids)).execute();
  return new Set(rows.map(({ name }) => name));
}
