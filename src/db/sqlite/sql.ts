/** What SQLite writes in its own way; see `Engine`. */

import { sql } from 'kysely';
import type { Engine } from '../engine.ts';

const list = (values: readonly unknown[]) => sql`json_each(${JSON.stringify(values)})`;

export const SQLITE: Engine = {
  texts: list,
  numbers: list,
  rows: list,
  indexedBy: (index) => sql`indexed by ${sql.id(index)}`,
};
