/**
 * Which nodes are offered a version. Mostly their cells tell. Where a version rolls out, nodes with the same assignment are
 * offered different ones, so all nodes with it are asked.
 */

import type { Db } from '../../db/database.ts';
import { Pace } from '../../lib/pace.ts';
import { Fork } from '../../resolve/open-versions.ts';
import { type CellFilter, cellsWithOffers, type OfferingCell, type Offers } from './list-cells.ts';

/** Nodes that are asked together. This takes some milliseconds at most. */
const SLICE = 250;

/**
 * The ids of the nodes in no order; null where the cells tell, as no version rolls out in any of them.
 * @param turn gives its turn to what goes through many nodes
 */
export async function nodesOffered(
  db: Db,
  offers: Offers,
  { version, ...filter }: CellFilter,
  turn: <T>(work: () => Promise<T>) => Promise<T>,
): Promise<readonly string[] | null> {
  if (version === undefined) return null;
  const cells = await cellsWithOffers(db, offers, filter);
  if (!cells.some(({ offered }) => offered instanceof Fork)) return null;
  return turn(() => askNodes(db, offers, cells, version));
}

async function askNodes(
  db: Db,
  offers: Offers,
  cells: readonly OfferingCell[],
  version: string,
): Promise<string[]> {
  const pace = new Pace();
  const found: string[] = [];
  for (const { id, offered } of cells) {
    if (!(offered instanceof Fork || offered === version)) continue;
    for await (const slice of nodesIn(db, id)) {
      const given = await offers.toEach(slice.map((nodeId) => ({ nodeId, offered })));
      for (const [at, nodeId] of slice.entries()) if (given[at] === version) found.push(nodeId);
      if (pace.isDue) await pace.rest();
    }
  }
  return found;
}

/** The ids of the nodes of a cell, in slices. */
async function* nodesIn(db: Db, cell: number): AsyncGenerator<string[]> {
  const nodes = db.selectFrom('nodes').select(['id', 'fqdn']).where('cell_id', '=', cell);
  for (let after = ''; ; ) {
    const rows = await nodes.where('fqdn', '>', after).orderBy('fqdn').limit(SLICE).execute();
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.map(({ id }) => id);
    after = last.fqdn;
  }
}
