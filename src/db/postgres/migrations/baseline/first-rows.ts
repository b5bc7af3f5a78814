/** The rows that every database has from the beginning. */

import { GENERATIONS } from './site-tables.ts';

export const SYSTEM_TYPES = [
  {
    id: '00000000-0000-0000-0000-000000000001',
    name: 'Default',
    description: 'Applies to every node',
    precedence: 0,
  },
  {
    id: '00000000-0000-0000-0000-000000000002',
    name: 'Node',
    description: 'Applies to the one node of that name',
    precedence: 1,
  },
];

export const FIRST_ROWS: readonly string[] = [
  ...GENERATIONS.map((table) => `insert into ${table} (id, value) values (1, 1)`),
  'insert into node_numbers (id, last) values (1, 0)',
];
