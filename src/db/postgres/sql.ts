/** What PostgreSQL writes in its own way; see `Engine`. */

import { sql } from 'kysely';
import type { Engine } from '../engine.ts';

export const POSTGRES: Engine = {
  texts: (values) =>
    sql`(select value collate "C" as value from jsonb_array_elements_text(${JSON.stringify(values)}::jsonb) as list (value))`,
  numbers: (values) =>
    sql`(select value::bigint as value from jsonb_array_elements_text(${JSON.stringify(values)}::jsonb) as list (value))`,
  rows: (values) =>
    sql`(select value from jsonb_array_elements(${JSON.stringify(values)}::jsonb) as list (value))`,
  indexedBy: () => sql``,
};
