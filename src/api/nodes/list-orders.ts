/** The orders of the node list. Each is one index, or some parts that stand one after the other. */

import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { ANY, type Range, type Visited } from '../../db/node-slices.ts';
import type { Cell } from './list-cells.ts';
import type { NodeFilter } from './schemas.ts';

/** A part of the list whose nodes stand in the order of an index. */
export interface Segment {
  range: Range;
  /** The cells that the part has; null where it has all. */
  takes: ((cell: Cell) => boolean) | null;
}

export interface Order {
  segments: readonly Segment[];
  sortKey: RawBuilder<string | number | null> | null;
  compare(a: Visited, b: Visited): number;
}

/** In the order of the words, as whoever sorts what a list answered would have them. */
const STATUSES = ['Compliant', 'Error', 'NonCompliant', 'Unknown'];

const BY_NAME: Range = { table: 'nodes', where: ANY, key: null, isFalling: false };

export function orderOf(sort: z.output<typeof NodeFilter>['sort']): Order {
  const isFalling = sort.startsWith('-');
  const by = sort.replace('-', '') as 'fqdn' | 'lastCheckIn' | 'createdAt' | 'status';
  const inOrder = (segments: Segment[]) => (isFalling ? segments.reverse() : segments);
  const compare = comparing(isFalling);
  switch (by) {
    case 'fqdn':
      return {
        segments: [{ range: { ...BY_NAME, isFalling }, takes: null }],
        sortKey: null,
        compare,
      };
    case 'createdAt':
      return {
        segments: [{ range: { ...BY_NAME, key: 'created_at', isFalling }, takes: null }],
        sortKey: sql`nodes.created_at`,
        compare,
      };
    case 'status':
      return {
        segments: inOrder(
          STATUSES.map((status) => ({ range: BY_NAME, takes: (cell) => cell.status === status })),
        ),
        sortKey: sql`(select status from node_cells where id = nodes.cell_id)`,
        compare,
      };
    case 'lastCheckIn':
      return {
        segments: inOrder([
          { range: BY_NAME, takes: ({ hasCalled }) => hasCalled === 0 },
          {
            range: { ...BY_NAME, table: 'node_check_ins', key: 'last_check_in', isFalling },
            takes: ({ hasCalled }) => hasCalled === 1,
          },
        ]),
        sortKey: sql`(select last_check_in from node_check_ins where node_id = nodes.id)`,
        compare,
      };
  }
}

/** Null comes first when rising, and last when falling. Equal ones always rise by name. */
const comparing = (isFalling: boolean) => (a: Visited, b: Visited) => {
  const rising = compareKeys(a.sortKey, b.sortKey);
  if (rising !== 0) return isFalling ? -rising : rising;
  return a.fqdn < b.fqdn ? -1 : Number(a.fqdn > b.fqdn);
};

function compareKeys(a: Visited['sortKey'], b: Visited['sortKey']): number {
  if (a === null || b === null) return Number(b === null) - Number(a === null);
  return a < b ? -1 : Number(a > b);
}
