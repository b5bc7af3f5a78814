/** The list of nodes with the problems of their parameters and with what they are offered, which no table holds. */

import pLimit from 'p-limit';
import type { Database } from '../../db/database.ts';
import { Pace } from '../../lib/pace.ts';
import type { OfferedVersions } from '../../resolve/offered-versions.ts';
import type { ProblemCounts } from '../../resolve/problem-counts.ts';
import { type Page, pageOfList } from '../crud/rows.ts';
import { type Filter, NodeList } from './node-list.ts';
import { listNames, listRows, type NodeRow, type StalenessRule } from './queries.ts';

/** What nodes are asked to be, and perhaps the order of the answer. */
export type NodeConditions = Omit<Filter, 'take' | 'skip' | 'sort'> & Partial<Pick<Filter, 'sort'>>;

/** A node as its list shows it. The count is null while what the node gets cannot be read. */
export interface ListedNode {
  node: NodeRow;
  /** What the assignment of the node gives now; null where it gives nothing. */
  offeredVersion: string | null;
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
  private readonly offered: OfferedVersions;
  private readonly list: NodeList;
  /** The fleet as it was found last. It is valid until a node, or what nodes get, changes. */
  private fleet: Fleet | null = null;
  /** One request at a time goes through the fleet, because several would hold up the polls for longer. */
  private readonly turn = pLimit(1);
  /** The same for whole lists. */
  private readonly wholeTurn = pLimit(1);

  constructor(database: Database, counts: ProblemCounts, offered: OfferedVersions) {
    this.database = database;
    this.counts = counts;
    this.offered = offered;
    this.list = new NodeList(database, offered);
  }

  /**
   * One page of the nodes that match, in the order asked for.
   * @param caller is the one in whose turn documents are read
   */
  async page(filter: Filter, rule: StalenessRule, caller: string): Promise<Page<ListedNode>> {
    const { hasParameterProblems } = filter;
    const { rows: ids, total } =
      hasParameterProblems === undefined
        ? await this.list.page(filter, rule)
        : pageOfList(await this.find(filter, rule, { hasParameterProblems, caller }), filter);
    return { rows: await this.rowsOf(ids, rule, caller), total };
  }

  /**
   * The ids of all nodes that match, in the order asked for, by default by fqdn. It goes through the fleet in slices,
   * between which polls are answered.
   * @param caller is the one in whose turn documents are read
   */
  async matchingIds(
    conditions: NodeConditions,
    rule: StalenessRule,
    caller: string,
  ): Promise<readonly string[]> {
    const filter: Filter = { sort: 'fqdn', ...conditions, take: 1, skip: 0 };
    const { hasParameterProblems } = filter;
    if (hasParameterProblems === undefined) return this.list.all(filter, rule);
    return this.find(filter, rule, { hasParameterProblems, caller });
  }

  /** All nodes that match, in the order of the list, in slices. A node that is deleted meanwhile is left out. */
  async *whole(filter: Filter, rule: StalenessRule, caller: string): AsyncGenerator<ListedNode[]> {
    const matching = await this.wholeTurn(() => this.matchingIds(filter, rule, caller));
    for (const ids of slicesOf(matching)) yield await this.rowsOf(ids, rule, caller);
  }

  /** What the assignment of a node gives now; null where it gives nothing. */
  async offeredVersion(node: NodeRow): Promise<string | null> {
    return this.offeredTo(node, new Map());
  }

  private async rowsOf(ids: readonly string[], rule: StalenessRule, caller: string): Promise<ListedNode[]> {
    const listed: ListedNode[] = [];
    const pace = new Pace();
    for (const slice of slicesOf(ids)) {
      const rows = await listRows(this.database.read, rule, slice);
      if (pace.isDue) await pace.rest();
      listed.push(...(await this.listed(rows, caller, pace)));
    }
    return listed;
  }

  private async find(
    filter: Filter,
    rule: StalenessRule,
    { hasParameterProblems, caller }: { hasParameterProblems: boolean; caller: string },
  ): Promise<readonly string[]> {
    const { withProblems, withoutProblems } = await this.turn(() => this.currentFleet(caller));
    const all = hasParameterProblems ? withProblems : withoutProblems;
    const { take: _take, skip: _skip, hasParameterProblems: _has, sort, ...others } = filter;
    const isAsIs = sort === 'fqdn' && Object.values(others).every((value) => value === undefined);
    return isAsIs ? all : this.list.among(all, filter, rule);
  }

  private async currentFleet(caller: string): Promise<Fleet> {
    const { changes } = this.database;
    await changes.catchUp('now');
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

  private async listed(rows: readonly NodeRow[], caller: string, pace: Pace): Promise<ListedNode[]> {
    const counts = await this.counts.ofNodes(idsOf(rows), caller, pace);
    const offers = new Map<string, Promise<string | null>>();
    const listed: ListedNode[] = [];
    for (const node of rows) {
      if (pace.isDue) await pace.rest();
      const offeredVersion = await this.offeredTo(node, offers);
      listed.push({ node, offeredVersion, parameterProblems: counts.get(node.id) ?? null });
    }
    return listed;
  }

  /** @param known what was found for this list, so that the nodes of an assignment share it */
  private offeredTo(
    node: NodeRow,
    known: Map<string, Promise<string | null>>,
  ): Promise<string | null> | null {
    const { configurationName: name, compositeId, majorVersion, prereleaseChannel, pinnedVersion } = node;
    if (name === null) return null;
    const isComposite = compositeId !== null;
    const key = [isComposite, majorVersion, prereleaseChannel, pinnedVersion, name].join(' ');
    const offered =
      known.get(key) ??
      this.offered.of({ name, isComposite, majorVersion, prereleaseChannel, version: pinnedVersion });
    known.set(key, offered);
    return offered;
  }
}

const idsOf = (nodes: readonly { id: string }[]) => nodes.map(({ id }) => id);

function* slicesOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += SLICE) yield all.slice(at, at + SLICE);
}
