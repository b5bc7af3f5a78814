/** The list of nodes with the problems of their parameters, which no table holds. */

import pLimit from 'p-limit';
import type { z } from 'zod';
import type { Database } from '../../db/open.ts';
import { Pace } from '../../lib/pace.ts';
import type { ProblemCounts } from '../../resolve/problem-counts.ts';
import { type Page, pageOfList } from '../crud/rows.ts';
import {
  idList,
  listNames,
  listNodes,
  listRows,
  type NodeRow,
  type StalenessRule,
  selectMatching,
} from './queries.ts';
import type { NodeFilter } from './schemas.ts';

type Filter = z.output<typeof NodeFilter>;

/** A node as its list shows it. The count is null while what the node gets cannot be read. */
export interface ListedNode {
  node: NodeRow;
  parameterProblems: number | null;
}

/** The nodes by whether they have problems, each list by fqdn. A node of which that is unknown is in neither. */
interface Fleet {
  generation: number;
  lastChange: number;
  withProblems: readonly string[];
  withoutProblems: readonly string[];
}

/** Rows of one slice. Reading them takes less than 1 ms, in which no poll is answered. */
const SLICE = 250;

export class ProblemList {
  private readonly database: Database;
  private readonly counts: ProblemCounts;
  /** The fleet as it was found last. It is valid until a node, or what nodes get, changes. */
  private fleet: Fleet | null = null;
  /** One request at a time goes through the fleet, because several would hold up the polls for longer. */
  private readonly turn = pLimit(1);

  constructor(database: Database, counts: ProblemCounts) {
    this.database = database;
    this.counts = counts;
  }

  /**
   * One page of the nodes that match, by fqdn.
   * @param caller is the one in whose turn documents are read
   */
  async page(filter: Filter, rule: StalenessRule, caller: string): Promise<Page<ListedNode>> {
    const { read } = this.database;
    const { hasParameterProblems, ...others } = filter;
    if (hasParameterProblems === undefined) {
      const { rows, total } = await listNodes(read, others, rule);
      return { rows: await this.withCounts(rows, caller), total };
    }
    const found = await this.turn(() => this.find(others, rule, { hasParameterProblems, caller }));
    const { rows: ids, total } = pageOfList(found, filter);
    const rows = await listRows(read, rule, idList(ids));
    return { rows: await this.withCounts(rows, caller), total };
  }

  /**
   * The ids of all nodes that match, in the order of the list. `take` and `skip` are not looked at. It goes through the
   * fleet in slices, between which polls are answered.
   * @param caller is the one in whose turn documents are read
   */
  async matchingIds(filter: Filter, rule: StalenessRule, caller: string): Promise<readonly string[]> {
    const { hasParameterProblems, ...others } = filter;
    if (hasParameterProblems !== undefined)
      return this.turn(() => this.find(others, rule, { hasParameterProblems, caller }));
    const { take: _take, skip: _skip, ...conditions } = others;
    const found: string[] = [];
    const pace = new Pace();
    for (let after = ''; ; ) {
      const slice = await listNames(this.database.read, { after, limit: SLICE });
      const last = slice.at(-1);
      if (last === undefined) return found;
      after = last.fqdn;
      found.push(...(await selectMatching(this.database.read, idsOf(slice), conditions, rule)));
      if (pace.isDue) await pace.rest();
    }
  }

  /** All nodes that match, in the order of the list, in slices. A node that is deleted meanwhile is left out. */
  async *whole(filter: Filter, rule: StalenessRule, caller: string): AsyncGenerator<ListedNode[]> {
    for (const ids of slicesOf(await this.matchingIds(filter, rule, caller))) {
      const rows = await listRows(this.database.read, rule, idList(ids));
      const listed = await this.withCounts(rows, caller);
      const byId = new Map(listed.map((each) => [each.node.id, each]));
      yield ids.flatMap((id) => byId.get(id) ?? []);
    }
  }

  private async find(
    { take: _take, skip: _skip, ...others }: Filter,
    rule: StalenessRule,
    { hasParameterProblems, caller }: { hasParameterProblems: boolean; caller: string },
  ): Promise<readonly string[]> {
    const { withProblems, withoutProblems } = await this.currentFleet(caller);
    const all = hasParameterProblems ? withProblems : withoutProblems;
    if (Object.values(others).every((value) => value === undefined)) return all;
    const found: string[] = [];
    const pace = new Pace();
    for (const slice of slicesOf(all)) {
      found.push(...(await selectMatching(this.database.read, slice, others, rule)));
      if (pace.isDue) await pace.rest();
    }
    return found;
  }

  private async currentFleet(caller: string): Promise<Fleet> {
    const { changes } = this.database;
    changes.catchUp();
    const { generation, lastChange } = changes;
    const known = this.fleet;
    if (known?.generation === generation && known.lastChange === lastChange) return known;
    const { unknown, ...found } = await this.goThroughFleet(caller);
    const fleet = { generation, lastChange, ...found };
    // Nobody tells when a repository can be read again, so what is unknown is looked at anew each time.
    this.fleet = unknown > 0 ? null : fleet;
    return fleet;
  }

  /** Goes through all nodes slice by slice. Polls are answered in between. */
  private async goThroughFleet(caller: string) {
    const found = { withProblems: [] as string[], withoutProblems: [] as string[], unknown: 0 };
    const pace = new Pace();
    for (let after = ''; ; ) {
      const slice = await listNames(this.database.read, { after, limit: SLICE });
      const last = slice.at(-1);
      if (last === undefined) return found;
      after = last.fqdn;
      for (const [id, count] of await this.counts.ofNodes(idsOf(slice), caller, pace)) {
        if (count === null) found.unknown += 1;
        else if (count > 0) found.withProblems.push(id);
        else found.withoutProblems.push(id);
      }
      if (pace.isDue) await pace.rest();
    }
  }

  private async withCounts(rows: readonly NodeRow[], caller: string): Promise<ListedNode[]> {
    const pace = new Pace();
    const listed: ListedNode[] = [];
    for (const slice of slicesOf(rows)) {
      const counts = await this.counts.ofNodes(idsOf(slice), caller, pace);
      for (const node of slice) listed.push({ node, parameterProblems: counts.get(node.id) ?? null });
      if (pace.isDue) await pace.rest();
    }
    return listed;
  }
}

const idsOf = (nodes: readonly { id: string }[]) => nodes.map(({ id }) => id);

function* slicesOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += SLICE) yield all.slice(at, at + SLICE);
}
