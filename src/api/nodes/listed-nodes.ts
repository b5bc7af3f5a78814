/** The list of nodes with the problems of their parameters and with what they are offered, which no table holds. */

import type { z } from 'zod';
import type { Database } from '../../db/database.ts';
import type { DistinctAssignment, NodeQuestion, NodeFilter as TableFilter } from '../../db/node-list.ts';
import { listNames, listRows, type NodeRow } from '../../db/nodes.ts';
import type { Page } from '../../db/rows.ts';
import type { StalenessRule } from '../../db/staleness.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import { Pace } from '../../lib/pace.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import type { Offered, OfferedVersions } from '../../resolve/offered-versions.ts';
import { Fork } from '../../resolve/open-versions.ts';
import type { ProblemCounts } from '../../resolve/problem-counts.ts';
import type { NodeFilter } from './schemas.ts';

type Filter = z.output<typeof NodeFilter>;

/** What nodes are asked to be, and perhaps the order of the answer. */
export type NodeConditions = Omit<Filter, 'take' | 'skip' | 'sort'> & Partial<Pick<Filter, 'sort'>>;

/** A node as its list shows it. The count is null while what the node gets cannot be read. */
export interface ListedNode {
  node: NodeRow;
  /** What the assignment of the node gives now; null where it gives nothing. */
  offeredVersion: string | null;
  parameterProblems: number | null;
}

/** The nodes that have problems, and those of which that is unknown. All others have none. */
interface Problems {
  generation: number;
  lastChange: number;
  found: readonly string[];
  unknown: readonly string[];
}

interface ListTools extends Pick<FleetTools, 'database' | 'questions'> {
  problemCounts: Pick<ProblemCounts, 'ofNodes'>;
  offeredVersions: Pick<OfferedVersions, 'of' | 'toEach'>;
}

/** Rows of one slice. Reading them takes less than 1 ms, in which no poll is answered. */
const SLICE = 250;

export class ListedNodes {
  private readonly database: Database;
  private readonly questions: ListTools['questions'];
  private readonly counts: ListTools['problemCounts'];
  private readonly offered: ListTools['offeredVersions'];
  /** The problems of the fleet as they were found last. They hold until a node, or what nodes get, changes. */
  private problems: Problems | null = null;
  /** One request at a time goes through the fleet, because several would hold up the polls for longer. */
  private readonly turns = new FairQueue({ slots: 1 });

  constructor({ database, questions, problemCounts, offeredVersions }: ListTools) {
    this.database = database;
    this.questions = questions;
    this.counts = problemCounts;
    this.offered = offeredVersions;
  }

  /**
   * One page of the nodes that match, in the order asked for.
   * @param caller is the one in whose turn documents are read
   */
  async page(filter: Filter, rule: StalenessRule, caller: string): Promise<Page<ListedNode>> {
    const { take, skip } = filter;
    const question = await this.toQuestion(filter, rule, caller);
    const found = await this.questions.run(caller, 'nodePage', { ...question, page: { take, skip } });
    return { rows: await this.rowsOf(found.rows, rule, caller), total: found.total };
  }

  /**
   * The ids of all nodes that match, in the order asked for, by default by fqdn.
   * @param caller is the one in whose turn documents are read
   */
  async matchingIds(
    conditions: NodeConditions,
    rule: StalenessRule,
    caller: string,
  ): Promise<readonly string[]> {
    return this.idsOf(await this.toQuestion(conditions, rule, caller), caller);
  }

  /** All nodes that match, in the order of the list, in slices. A node that is deleted meanwhile is left out. */
  async *whole(filter: Filter, rule: StalenessRule, caller: string): AsyncGenerator<ListedNode[]> {
    for (const ids of slicesOf(await this.matchingIds(filter, rule, caller)))
      yield await this.rowsOf(ids, rule, caller);
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

  private async idsOf(question: NodeQuestion, caller: string): Promise<string[]> {
    const ids: string[] = [];
    const onPiece = (piece: unknown) => {
      for (const id of piece as readonly string[]) ids.push(id);
    };
    await this.questions.run(caller, 'nodeIds', question, { onPiece });
    return ids;
  }

  /** What tables tell of the filter, with the nodes that meet what they do not tell. */
  private async toQuestion(
    { version, hasParameterProblems, sort = 'fqdn', ...conditions }: NodeConditions & Partial<Filter>,
    rule: StalenessRule,
    caller: string,
  ): Promise<NodeQuestion> {
    const { take: _take, skip: _skip, ...filter } = conditions;
    const offered =
      version === undefined ? {} : { given: await this.offering(version, { filter, rule }, caller) };
    const question = { filter: { ...filter, ...offered }, rule, sort };
    if (hasParameterProblems === undefined) return question;
    const { found, unknown } = await this.turns.run(caller, () => this.currentProblems(caller));
    const among = hasParameterProblems
      ? { ids: found, areMeant: true }
      : { ids: [...found, ...unknown], areMeant: false };
    return { ...question, filter: { ...question.filter, among } };
  }

  /**
   * The assignments that give a version. Where a version rolls out, nodes with the same assignment are offered different ones,
   * so all nodes with it are asked.
   */
  private async offering(
    version: string,
    asked: Pick<NodeQuestion, 'filter' | 'rule'>,
    caller: string,
  ): Promise<NonNullable<TableFilter['given']>> {
    const assigned: DistinctAssignment['assigned'][] = [];
    const ids: string[] = [];
    const pace = new Pace();
    for (const each of await this.questions.run(caller, 'nodeAssignments', undefined)) {
      const offered = await this.offered.of(toNamed(each));
      if (offered === version) assigned.push(each.assigned);
      else if (offered instanceof Fork) {
        const given = { assigned: [each.assigned], ids: [] };
        const nodes = await this.idsOf(
          { ...asked, filter: { ...asked.filter, given }, sort: 'fqdn' },
          caller,
        );
        await this.turns.run(caller, async () => {
          for (const slice of slicesOf(nodes)) {
            const each = await this.offered.toEach(slice.map((nodeId) => ({ nodeId, offered })));
            for (const [at, id] of slice.entries()) if (each[at] === version) ids.push(id);
            if (pace.isDue) await pace.rest();
          }
        });
      }
      if (pace.isDue) await pace.rest();
    }
    return { assigned, ids };
  }

  private async currentProblems(caller: string): Promise<Problems> {
    const { changes } = this.database;
    await changes.catchUp('now');
    const { generation, lastChange } = changes;
    const known = this.problems;
    if (known?.generation === generation && known.lastChange === lastChange) return known;
    const problems = { generation, lastChange, ...(await this.goThroughFleet(caller)) };
    // Nobody tells when a repository can be read again, so what is unknown is looked at anew each time.
    this.problems = problems.unknown.length > 0 ? null : problems;
    return problems;
  }

  /** Goes through all nodes slice by slice. Polls are answered in between. */
  private async goThroughFleet(caller: string) {
    const problems = { found: [] as string[], unknown: [] as string[] };
    const pace = new Pace();
    for (let after = ''; ; ) {
      const slice = await listNames(this.database.read, { after, limit: SLICE });
      const last = slice.at(-1);
      if (last === undefined) return problems;
      after = last.fqdn;
      for (const [id, count] of await this.counts.ofNodes(idsOf(slice), caller, pace)) {
        if (count === null) problems.unknown.push(id);
        else if (count > 0) problems.found.push(id);
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

function toNamed({ assigned: [, as], name, isComposite }: DistinctAssignment) {
  const [majorVersion = '', prereleaseChannel, version] = as.split('|');
  return {
    ...{ name, isComposite, majorVersion: majorVersion === '' ? null : Number(majorVersion) },
    ...{ prereleaseChannel: prereleaseChannel || null, version: version || null },
  };
}

const idsOf = (nodes: readonly { id: string }[]) => nodes.map(({ id }) => id);

function* slicesOf<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += SLICE) yield all.slice(at, at + SLICE);
}
