/**
 * Which nodes a filter of the node list meets, in the order asked for. Totals come from counts, and pages from indexes.
 * What is left must be gone through: from the condition that fewest nodes meet, in slices between which polls are
 * answered. Docs/decisions/0051 tells why.
 */

import type { z } from 'zod';
import type { Database, Db } from '../../db/database.ts';
import {
  type Condition,
  conditionsOf,
  costOf,
  type From,
  fewestOf,
  LIMITS,
  type ListLimits,
  type ListMoment,
  shortRange,
  WHOLE,
} from '../../db/node-conditions.ts';
import {
  ANY,
  countMet,
  type Met,
  type Range,
  readIds,
  readPage,
  type Source,
  type Visited,
  visit,
} from '../../db/node-slices.ts';
import type { Page } from '../../db/rows.ts';
import type { StalenessRule } from '../../db/staleness.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import { Pace } from '../../lib/pace.ts';
import { sortInSteps } from '../../lib/paced-sort.ts';
import { asksCells, type Cell, inCells, listCells, mergeCells, type Offers } from './list-cells.ts';
import { type Order, orderOf, type Segment } from './list-orders.ts';
import type { NodeFilter } from './schemas.ts';

export type Filter = z.output<typeof NodeFilter>;

/** Milliseconds after which others go first. One more statement and the end of the answer come on top of them. */
const REST = 3;
/** Rows that one statement may skip, and those that it may give. */
const MOST_SKIPPED = 100_000;
const MOST_TAKEN = 1_000;
/** How many times as many names are read together if nothing is asked of the nodes. */
const LIGHT = 8;
/** What it costs to look at a node's row, beside what it costs to find it in an index. */
const LOOK = 2;

/** The filter as conditions. */
interface Asked {
  moment: ListMoment;
  /** In whose turn it is done. */
  caller: string;
  order: Order;
  /** Null where the filter asks nothing that cells tell. */
  cells: readonly Cell[] | null;
  conditions: readonly Condition[];
  /** The conditions with that of the cells, if there is one. */
  all: readonly Condition[];
}

/** The nodes of a part of the list. */
interface Part extends Pick<Asked, 'cells' | 'conditions' | 'all'> {
  range: Range;
}

export class NodeList {
  private readonly database: Database;
  private readonly offered: Offers;
  private readonly limits: ListLimits;
  /** One request at a time goes through many nodes, in its caller's turn: several would hold up the polls for longer. */
  private readonly turns = new FairQueue({ slots: 1 });

  constructor(database: Database, offered: Offers, limits: ListLimits = LIMITS) {
    this.database = database;
    this.offered = offered;
    this.limits = limits;
  }

  /** The ids of one page, in their order. @param caller is the one in whose turn many nodes are gone through */
  async page(filter: Filter, rule: StalenessRule, caller: string): Promise<Page<string>> {
    const { take, skip } = filter;
    const { few, many } = this.limits;
    const asked = await this.ask(filter, rule, caller);
    const fewest = fewestOf(asked.all);
    const isSimple = asked.all.length === 1;
    const isQuick = asked.conditions.some(({ others }) => costOf(others) < costOf(fewest));
    if (fewest && fewest.count <= (isSimple || isQuick ? few : many)) {
      const found = await this.collect(fewest, asked.all, asked);
      return { rows: await this.idsOf(found.slice(skip, skip + take)), total: found.length };
    }
    const page: Page<string> = { rows: [], total: 0 };
    for (const segment of asked.order.segments) {
      const part = await this.partOf(asked, segment);
      const total = await this.countAll(part.all, asked);
      const [before, left] = [Math.max(0, skip - page.total), take - page.rows.length];
      if (before < total && left > 0)
        page.rows.push(...(await this.read(part, asked, { total, skip: before, take: left })));
      page.total += total;
    }
    page.rows = await this.idsOf(page.rows);
    return page;
  }

  /** The ids of all nodes that match, in their order. */
  async all(filter: Filter, rule: StalenessRule, caller: string): Promise<string[]> {
    const asked = await this.ask(filter, rule, caller);
    const found: string[] = [];
    for (const segment of asked.order.segments) {
      const part = await this.partOf(asked, segment);
      const most = fewestOf(part.all)?.count ?? asked.moment.nodes;
      for (const id of await this.read(part, asked, { total: most, skip: 0, take: Number.POSITIVE_INFINITY }))
        found.push(id);
    }
    return this.idsOf(found, asked);
  }

  /** Those of these nodes that match, in the order of the list. */
  async among(
    ids: readonly string[],
    filter: Filter,
    rule: StalenessRule,
    caller: string,
  ): Promise<string[]> {
    const asked = await this.ask(filter, rule, caller);
    const given: From = { count: ids.length, met: ANY, source: { kind: 'ids', values: ids } };
    return this.idsOf(await this.collect(given, asked.all, asked), asked);
  }

  private async ask(filter: Filter, rule: StalenessRule, caller: string): Promise<Asked> {
    const { read } = this.database;
    const rows = await read.selectFrom('node_counts').select('count').execute();
    const moment = {
      rule,
      pace: new Pace(REST),
      limits: this.limits,
      nodes: rows.reduce((sum, { count }) => sum + count, 0),
    };
    const conditions = await conditionsOf(this.database, filter, moment, caller);
    const cells = asksCells(filter) ? await listCells(read, this.offered, filter) : null;
    return {
      moment,
      caller,
      order: orderOf(filter.sort),
      cells,
      conditions,
      all: allOf(read, conditions, cells),
    };
  }

  private async partOf(asked: Asked, segment: Segment): Promise<Part> {
    const { range, takes } = segment;
    const { cells, conditions } = asked;
    if (takes === null) return { range, ...asked };
    const taken = (cells ?? (await listCells(this.database.read, this.offered, {}))).filter(takes);
    return { range, cells: taken, conditions, all: allOf(this.database.read, conditions, taken) };
  }

  private async countAll(conditions: readonly Condition[], asked: Asked): Promise<number> {
    const [one, ...more] = conditions;
    if (one === undefined) return asked.moment.nodes;
    if (more.length === 0 || conditions.some(({ count }) => count === 0))
      return Math.min(...conditions.map(({ count }) => count));
    const fewest = fewestOf(conditions);
    const [excluding] = conditions
      .filter(({ others }) => others !== undefined)
      .sort((a, b) => costOf(a.others) - costOf(b.others));
    if (excluding?.others && costOf(excluding.others) < costOf(fewest)) {
      const rest = conditions.filter((condition) => condition !== excluding);
      const without = await this.countMet(excluding.others, rest, asked);
      return (await this.countAll(rest, asked)) - without;
    }
    return this.countMet(fewest ?? WHOLE, conditions, asked);
  }

  /** How many of the nodes that meet one condition meet the others too. */
  private countMet(from: From, conditions: readonly Condition[], asked: Asked): Promise<number> {
    const { moment } = asked;
    const met = metBeside(from, conditions);
    return this.through(costOf(from), asked.caller, () =>
      countMet(this.database.read, from.source, met, this.limits.slice, moment.pace),
    );
  }

  /** The names of nodes of the part. @param total how many nodes of the part match */
  private async read(
    part: Part,
    asked: Asked,
    { total, skip, take }: { total: number; skip: number; take: number },
  ): Promise<string[]> {
    const { read } = this.database;
    const { cells, conditions, all } = part;
    const wanted = Math.min(skip + take, total);
    const short = shortRange(all, part.range, this.limits.counted);
    if (short) return readPage(read, short, { take: wanted - skip, skip });
    const fewest = fewestOf(all);
    // How many rows each way reads.
    const collected = costOf(fewest) * (all.length > 1 ? LOOK : 1);
    const walks = walksOf(part, asked.moment.nodes);
    const cost = ({ count, met }: Walk) =>
      (met.length > 0 ? LOOK : 1) * Math.min(count, (wanted * count) / Math.max(1, total));
    const [walk] = walks.sort((a, b) => cost(a) - cost(b)) as [Walk];
    if (
      cells !== null &&
      conditions.length === 0 &&
      part.range.table === 'nodes' &&
      part.range.key === null
    ) {
      const merged = cells.reduce((sum, { count }) => sum + 1 + Math.min(count, wanted), 0);
      if (merged <= this.limits.merged && merged <= Math.min(collected, cost(walk)))
        return mergeCells(read, cells, {
          take: Math.min(take, wanted),
          skip,
          isFalling: part.range.isFalling,
        });
    }
    if (collected < cost(walk) && fewest)
      return (await this.collect(fewest, all, asked)).slice(skip, skip + take);
    return this.walk(walk, { wanted, skip, share: total / Math.max(1, walk.count) }, asked);
  }

  /** Goes along an index until there are as many nodes as wanted. */
  private async walk(
    { range, count, met }: Walk,
    { wanted, skip, share }: { wanted: number; skip: number; share: number },
    { moment: { pace }, caller }: Asked,
  ): Promise<string[]> {
    if (met.length === 0 && wanted <= MOST_SKIPPED && wanted - skip <= MOST_TAKEN)
      return readPage(this.database.read, range, { take: wanted - skip, skip });
    const found: string[] = [];
    const size = () => Math.min(this.size(), ((wanted - found.length) / Math.max(share, 1e-6)) * 1.1 + 10);
    const source: Source = { kind: 'ranges', ranges: [range] };
    await this.through(Math.min(count, size()), caller, async () => {
      for await (const slice of visit(this.database.read, source, { met, sortKey: null }, size)) {
        for (const { fqdn, isMet } of slice) if (isMet && found.length < wanted) found.push(fqdn);
        if (found.length >= wanted) return;
        if (pace.isDue) await pace.rest();
      }
    });
    return found.slice(skip);
  }

  /** Reads all nodes that meet one condition and the others, and sorts them. */
  private async collect(from: From, conditions: readonly Condition[], asked: Asked): Promise<string[]> {
    const { order, moment } = asked;
    const wish = { met: metBeside(from, conditions), sortKey: order.sortKey };
    // Names alone come from one index, so that more of them are read in the same time.
    const isLight = wish.met.length === 0 && wish.sortKey === null;
    const size = isLight ? () => LIGHT * this.limits.slice : this.size;
    const found: Visited[] = [];
    await this.through(costOf(from), asked.caller, async () => {
      for await (const slice of visit(this.database.read, from.source, wish, size)) {
        for (const node of slice) if (node.isMet) found.push(node);
        if (moment.pace.isDue) await moment.pace.rest();
      }
    });
    return (await sortInSteps(found, order.compare)).map(({ fqdn }) => fqdn);
  }

  /** The ids of the nodes with these names, in their order. Nodes that are gone are left out. */
  private async idsOf(names: readonly string[], asked?: Asked): Promise<string[]> {
    const ids: string[] = [];
    for (let at = 0; at < names.length; at += MOST_TAKEN) {
      const slice = names.slice(at, at + MOST_TAKEN);
      for (const id of await readIds(this.database.read, slice)) ids.push(id);
      if (asked?.moment.pace.isDue) await asked.moment.pace.rest();
    }
    return ids;
  }

  private readonly size = () => this.limits.slice;

  private through<T>(rows: number, caller: string, work: () => Promise<T>): Promise<T> {
    return rows > 4 * this.limits.slice ? this.turns.run(caller, work) : work();
  }
}

/** A way through nodes in the order of the list. */
interface Walk {
  range: Range;
  count: number;
  /** What is to be asked of each node on the way. */
  met: readonly Met[];
}

function walksOf({ all, range }: Part, nodes: number): Walk[] {
  const walks: Walk[] = [{ range, count: nodes, met: all.map(({ met }) => met) }];
  if (range.table !== 'nodes' || range.key !== null) return walks;
  for (const one of all) {
    const { byName, count } = one;
    if (byName)
      walks.push({ range: { ...byName, isFalling: range.isFalling }, count, met: metBeside(one, all) });
  }
  return walks;
}

const allOf = (db: Db, conditions: readonly Condition[], cells: readonly Cell[] | null) =>
  cells === null ? conditions : [...conditions, inCells(db, cells)];

/** What is to be asked of nodes that meet one of the conditions. */
const metBeside = (one: Condition, conditions: readonly Condition[]) =>
  conditions.filter((other) => other !== one).map(({ met }) => met);
