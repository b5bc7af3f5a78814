/** The cells of nodes (migration 0016) that a filter takes: their counts give totals, and each has its nodes by name. */

import { sql } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../../db/database.ts';
import { engineOf } from '../../db/engine-of.ts';
import type { Condition } from '../../db/node-conditions.ts';
import type { Met, Range } from '../../db/node-slices.ts';
import { Pace } from '../../lib/pace.ts';
import type { Offered, OfferedVersions } from '../../resolve/offered-versions.ts';
import type { NodeFilter } from './schemas.ts';

/** What cells tell of their nodes. */
export type CellFilter = Pick<
  z.output<typeof NodeFilter>,
  'status' | 'lcmStatus' | 'configurationName' | 'unassigned' | 'version' | 'evidence'
>;

/** Tells which version an assignment gives now. */
export type Offers = Pick<OfferedVersions, 'of' | 'toEach'>;

export interface Cell {
  id: number;
  status: string;
  hasCalled: number;
  count: number;
}

/** A cell to whose nodes something is assigned, with the version that it gives them. */
export interface OfferingCell extends Cell {
  offered: Offered;
}

export const asksCells = (filter: CellFilter) =>
  [filter.status, filter.lcmStatus, filter.configurationName, filter.unassigned].some(isGiven) ||
  [filter.version, filter.evidence].some(isGiven);

const isGiven = (value: unknown) => value !== undefined;

/** The cells whose nodes match. There are some for each distinct assignment, however many nodes there are. */
export async function listCells(db: Db, offered: Offers, filter: CellFilter): Promise<Cell[]> {
  const { version, ...others } = filter;
  if (version === undefined) return queryCells(db, others).execute();
  const cells = await cellsWithOffers(db, offered, others);
  return cells.filter((cell) => cell.offered === version);
}

function queryCells(db: Db, filter: Omit<CellFilter, 'version'>) {
  const { status, lcmStatus, configurationName: name, unassigned, evidence } = filter;
  return db
    .selectFrom('node_cells as c')
    .select(['c.id', 'c.status', 'c.has_called as hasCalled', 'c.count'])
    .$if(status !== undefined, (of) => of.where('c.status', '=', status ?? ''))
    .$if(lcmStatus !== undefined, (of) => of.where('c.lcm_status', '=', lcmStatus ?? ''))
    .$if(evidence !== undefined, (of) => of.where('c.evidence', '=', evidence ?? ''))
    .$if(unassigned !== undefined, (of) => of.where('c.target_id', unassigned ? '=' : '<>', ''))
    .$if(name !== undefined, (of) =>
      of.where(
        'c.target_id',
        'in',
        sql<string>`(select id from configurations where name = ${name}
          union all select id from composites where name = ${name})`,
      ),
    );
}

/** The cells to whose nodes something is assigned. */
export async function cellsWithOffers(
  db: Db,
  offers: Offers,
  filter: Omit<CellFilter, 'version'>,
): Promise<OfferingCell[]> {
  const assigned = await queryCells(db, filter)
    .leftJoin('configurations', 'configurations.id', 'c.target_id')
    .leftJoin('composites', 'composites.id', 'c.target_id')
    .select([
      'c.is_composite as isComposite',
      'c.major_version as majorVersion',
      'c.prerelease_channel as prereleaseChannel',
      'c.version',
      (of) => of.fn.coalesce('configurations.name', 'composites.name').as('name'),
    ])
    .execute();
  const known = new Map<string, Offered>();
  const cells: OfferingCell[] = [];
  const pace = new Pace();
  for (const cell of assigned) {
    if (cell.name === null) continue;
    const { name, isComposite, majorVersion, prereleaseChannel } = cell;
    const key = [isComposite, majorVersion, prereleaseChannel, cell.version, name].join(' ');
    let offered = known.get(key);
    if (offered === undefined) {
      const wanted = {
        majorVersion: majorVersion < 0 ? null : majorVersion,
        prereleaseChannel: prereleaseChannel || null,
        version: cell.version || null,
      };
      offered = await offers.of({ name, isComposite: isComposite === 1, ...wanted });
      known.set(key, offered);
      if (pace.isDue) await pace.rest();
    }
    cells.push({ ...cell, offered });
  }
  return cells;
}

/** That a node is in one of these cells. */
export function inCells(db: Db, cells: readonly Cell[]): Condition {
  return {
    count: cells.reduce((sum, { count }) => sum + count, 0),
    met: isOneOf(db, 'nodes.cell_id', cells),
    source: { kind: 'ranges', ranges: rangesOf(db, cells) },
  };
}

/** Cells that have few nodes share a range of this many, because each range takes a statement or two. */
const SHARED = 500;

function rangesOf(db: Db, cells: readonly Cell[]): Range[] {
  const ranges: Range[] = cells
    .filter(({ count }) => count >= SHARED)
    .map(({ id }) => ofCells(sql`cell_id = ${id}`));
  let [few, shared]: [Cell[], number] = [[], 0];
  const share = () => {
    if (few.length > 0) ranges.push(ofCells(isOneOf(db, 'cell_id', few)));
    [few, shared] = [[], 0];
  };
  for (const cell of cells) {
    if (cell.count >= SHARED) continue;
    if (shared + cell.count > SHARED) share();
    few.push(cell);
    shared += cell.count;
  }
  share();
  return ranges;
}

const idsOf = (cells: readonly Cell[]) => cells.map(({ id }) => id);

const isOneOf = (db: Db, column: 'cell_id' | 'nodes.cell_id', cells: readonly Cell[]) =>
  engineOf(db).isOneOf(column, idsOf(cells));

const ofCells = (where: Met): Range => ({
  ...({ table: 'nodes', key: null, isFalling: false } as const),
  where,
});

/** The names of the first nodes of several cells by name, or of the last ones. */
export async function mergeCells(
  db: Db,
  cells: readonly Cell[],
  { take, skip, isFalling }: { take: number; skip: number; isFalling: boolean },
): Promise<string[]> {
  const direction = sql.raw(isFalling ? 'desc' : 'asc');
  const engine = engineOf(db);
  const ofEach = engine.selectOfEach({
    list: engine.numbers(idsOf(cells)),
    table: 'nodes',
    key: 'fqdn',
    index: 'nodes_in_lists',
    columns: ['fqdn'],
    rows: sql`from nodes where cell_id = given.value order by fqdn ${direction} limit ${skip + take}`,
  });
  const { rows } = await sql<{ fqdn: string }>`${ofEach}
    order by fqdn ${direction} limit ${take} offset ${skip}`.execute(db);
  return rows.map(({ fqdn }) => fqdn);
}
