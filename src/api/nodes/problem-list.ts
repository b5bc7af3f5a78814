/** The list of nodes with the problems of their parameters and with what they are offered, which no table holds. */

import type { Database } from '../../db/database.ts';
import { listNames, listRows, type NodeRow } from '../../db/nodes.ts';
import { type Page, pageOfList } from '../../db/rows.ts';
import type { StalenessRule } from '../../db/staleness.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import { Pace } from '../../lib/pace.ts';
import type { Offered, OfferedVersions } from '../../resolve/offered-versions.ts';
import type { ProblemCounts } from '../../resolve/problem-counts.ts';
import { type Filter, NodeList } from './node-list.ts';
import { nodesOffered } from './offered-nodes.ts';

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
  private readonly turns = new FairQueue({ slots: 1 });
  /** The same for whole lists. */
  private readonly wholeTurns = new FairQueue({ slots: 1 });

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
    const found = await this.find(filter, rule, caller);
    const { rows: ids, total } = found
      ? pageOfList(found, filter)
      : await this.list.page(filter, rule, caller);
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
    return (await this.find(filter, rule, caller)) ?? this.list.all(filter, rule, caller);
  }

  /** All nodes that match, in the order of the list, in slices. A node that is deleted meanwhile is left out. */
  async *whole(filter: Filter, rule: StalenessRule, caller: string): AsyncGenerator<ListedNode[]> {
    const matching = await this.wholeTurns.run(caller, () => this.matchingIds(filter, rule, caller));
    for (const ids of slicesOf(matching)) yield await this.rowsOf(ids, rule, caller);
  }

  /** What the assignment of a node gives now; null where it gives nothing. */
  async offeredVersion(node: NodeRow): Promise<string | null> {
    return (await this.offersOf([node], new Pace()))[0] ?? null;
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

  /** The ids of all nodes that match; null where tables tell all that the filter asks. */
  private async find(filter: Filter, rule: StalenessRule, caller: string): Promise<readonly string[] | null> {
    const { take: _take, skip: _skip, hasParameterProblems, sort, ...others } = filter;
    const offered = await nodesOffered(this.database.read, this.offered, others, (work) =>
      this.turns.run(caller, work),
    );
    const left = offered === null ? others : { ...others, version: undefined };
    if (hasParameterProblems === undefined)
      return offered && this.list.among(offered, { ...filter, ...left }, rule, caller);
    const { withProblems, withoutProblems } = await this.turns.run(caller, () => this.currentFleet(caller));
    const wanted = hasParameterProblems ? withProblems : withoutProblems;
    const among = offered && new Set(offered);
    const all = among === null ? wanted : wanted.filter((id) => among.has(id));
    const isAsIs = sort === 'fqdn' && Object.values(left).every((value) => value === undefined);
    return isAsIs ? all : this.list.among(all, { ...filter, ...left }, rule, caller);
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
    const offers = await this.offersOf(rows, pace);
    return rows.map((node, at) => ({
      ...{ node, offeredVersion: offers[at] ?? null },
      parameterProblems: counts.get(node.id) ?? null,
    }));
  }

  /** What each of the nodes is offered. */
  private async offersOf(rows: readonly NodeRow[], pace: Pace): Promise<(string | null)[]> {
    const known = new Map<string, Promise<Offered>>();
    const nodes: { nodeId: string; offered: Offered }[] = [];
    for (const node of rows) {
      if (pace.isDue) await pace.rest();
      nodes.push({ nodeId: node.id, offered: await this.offerOf(node, known) });
    }
    return this.offered.toEach(nodes);
  }

  /** @param known what was found for this list, so that the nodes of an assignment share it */
  private offerOf(node: NodeRow, known: Map<string, Promise<Offered>>): Promise<Offered> | null {
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
