/** How many bytes a stored report takes. */

import { type RawBuilder, sql } from 'kysely';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** What a report takes on the disk beside its text, with all indexes. `npm run bench -- --only capacity` measures it. */
export const REPORT_ROW_BYTES = 600;

/** The bytes of a row of `reports`, found without reading all of its text. */
export function reportBytes(db: Db): RawBuilder<number> {
  return sql<number>`${engineOf(db).storedBytes('result')} + ${sql.lit(REPORT_ROW_BYTES)}`;
}
