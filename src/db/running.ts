/** What nodes run: pieces of evidence are joined to one note for each node, and a row is written where that changes it. */

import { sql } from 'kysely';
import { MINUTE } from '../lib/clock.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import { EVIDENCE, type Evidence } from './node-tables.ts';

/** A piece of evidence that stands. */
export interface Running {
  /** SHA-256 of the manifest in hexadecimal. */
  checksum: string;
  evidence: Evidence;
  /** The time of the node's call, in epoch milliseconds. */
  since: number;
  /** When evidence of this checksum came last, weaker too. */
  last: number;
}

/** A bundle that went to a node whole. */
export interface ServedBundle {
  checksum: string;
  /** SHA-256 of the ZIP in base64; null for one with secrets. */
  digest: string | null;
  /** The time is in epoch milliseconds. */
  at: number;
}

/** One step of what the calls of a node have told. Null means that they told nothing of it. */
export interface RunningStep {
  running: Running | null;
  /** The checksum with which the last poll was answered. */
  answered: string | null;
  served: ServedBundle | null;
}

/** What the calls of one node have told since its row was looked at last: the last step, and those before it. */
export interface RunningNote extends RunningStep {
  /** Each of them has a row in the past, though none of them stands any more. The first one comes first. */
  earlier?: readonly RunningStep[];
  /** The error with which the last poll was answered; null where it was answered well. Absent: there was no poll. */
  problem?: PollProblem | null | undefined;
  /** What the last poll was told to be offered. Absent where no poll told it. */
  offered?: OfferedNow | undefined;
}

/** What a node is offered; null for nothing. The time is in epoch milliseconds. */
export interface OfferedNow {
  at: number;
  what: { checksum: string; configurationName: string; version: string } | null;
}

/** A node that runs something else than before. */
export interface Moved {
  nodeId: string;
  before: { checksum: string; configurationName: string | null; version: string | null } | null;
  checksum: string;
  /** Epoch milliseconds. */
  at: number;
}

/** An error with which a poll was answered. */
export interface PollProblem {
  code: string;
  detail: string;
  /** The time is in epoch milliseconds. */
  at: number;
}

/**
 * Joins what a node told first and what it told then. Evidence of another checksum replaces what was there, weaker or
 * not. Of the same checksum only stronger evidence does.
 */
export function joinNotes(before: RunningNote, then: RunningNote): RunningNote {
  const earlier = stepsOf(before);
  for (const step of stepsOf(then)) {
    const last = earlier.pop();
    if (last === undefined) earlier.push(step);
    else earlier.push(...joinSteps(last, step));
  }
  const { running, answered, served } = earlier.pop() ?? then;
  return {
    ...{ running, answered, served },
    ...(earlier.length > 0 && { earlier: earlier.slice(-MAX_STEPS) }),
    problem: then.problem === undefined ? before.problem : then.problem,
    offered: joinOffered(before.offered, then.offered),
  };
}

/** How many earlier steps a note keeps at most, where it cannot be written for long. */
const MAX_STEPS = 64;

/** All steps of a note, the first one first. */
export function stepsOf({ earlier = [], running, answered, served }: RunningNote): RunningStep[] {
  return [...earlier, { running, answered, served }];
}

/** What stays the same has been offered since the first note, which tells the deeds before it from those after it. */
function joinOffered(before?: OfferedNow, then?: OfferedNow): OfferedNow | undefined {
  if (before === undefined || then === undefined) return then ?? before;
  return before.what?.checksum === then.what?.checksum ? before : then;
}

/** Two steps are one where the second changes nothing of what the node runs. */
function joinSteps(before: RunningStep, then: RunningStep): RunningStep[] {
  const [was, is] = [before.running, then.running];
  if (was !== null && is !== null && (was.checksum !== is.checksum || isStronger(is, was)))
    return [before, then];
  return [
    {
      running: was === null || is === null ? (is ?? was) : { ...was, last: is.last },
      answered: then.answered ?? before.answered,
      served: then.served ?? before.served,
    },
  ];
}

const isStronger = (one: Running, other: Running) =>
  EVIDENCE.indexOf(one.evidence) > EVIDENCE.indexOf(other.evidence);

/** What a node says to run, and what its last poll was answered with. Null means that it tells nothing of it. */
export type Told = readonly [nodeId: string, checksum: string | null, answered: string | null];

/**
 * Must be called first in a transaction that writes reports, statuses of LCMs or, by `writeRunning`, what nodes run. What
 * the transaction decides by must be read after this call.
 * Others may change the same rows meanwhile, and all of them change the same counts.
 */
export async function takeNotesTurn(trx: Db, told: () => readonly Told[]): Promise<void> {
  const { notesTurn } = engineOf(trx);
  if (notesTurn !== null) await notesTurn(told()).execute(trx);
}

/**
 * Writes what the notes change, step by step, so that triggers see what is kept of the past. Rows that stay as they are are
 * not written, and nodes that were deleted are skipped.
 *
 * Another process may have written later evidence meanwhile. Evidence that is older has come too late then and changes
 * nothing, unless it is of the same checksum. A row from the future does not count: the clock was set back since.
 * @returns the nodes that run something else since, once for each change
 */
export async function writeRunning(
  trx: Db,
  notes: Iterable<readonly [nodeId: string, note: RunningNote]>,
): Promise<Moved[]> {
  const rounds: [nodeId: string, step: RunningStep][][] = [];
  for (const [nodeId, note] of notes)
    for (const [at, step] of stepsOf(note).entries()) {
      const round = rounds[at] ?? [];
      round.push([nodeId, step]);
      rounds[at] = round;
    }
  const moved: Moved[] = [];
  for (const round of rounds) moved.push(...(await writeSteps(trx, round)));
  return moved;
}

/** @param steps one of each node */
async function writeSteps(trx: Db, steps: readonly (readonly [string, RunningStep])[]): Promise<Moved[]> {
  const values = steps.map(([nodeId, { running, answered, served }]) => [
    nodeId,
    running?.checksum ?? null,
    running?.evidence ?? null,
    running?.since ?? null,
    running?.last ?? null,
    answered,
    served?.checksum ?? null,
  ]);
  const noted = new Set(values.flatMap(([nodeId, checksum]) => (checksum === null ? [] : String(nodeId))));
  const before = await runningOf(trx, [...noted]);
  const { rows } = await sql<{
    node_id: string;
    checksum: string | null;
    since: number | null;
  }>`with noted as (
      select n.id, c.value ->> 1 as checksum, c.value ->> 2 as evidence, cast(c.value ->> 3 as bigint) as since,
        cast(c.value ->> 4 as bigint) as last, c.value ->> 5 as answered, c.value ->> 6 as served
      from ${engineOf(trx).rows(values)} c join nodes n on n.id = c.value ->> 0),
    judged as (
      select noted.*, r.checksum as old_checksum, r.evidence as old_evidence, r.since as old_since,
        r.answered_checksum as old_answered, r.served_checksum as old_served,
        noted.checksum is not null and (r.checksum is null or case
          when noted.checksum = r.checksum
          then ${strengthOf('noted.evidence')} > ${strengthOf('r.evidence')}
          else noted.last >= r.since or r.since > noted.last + ${MINUTE} end) as stands
      from noted left join node_running r on r.node_id = noted.id)
    insert into node_running (node_id, checksum, evidence, since, answered_checksum, served_checksum)
    select id, case when stands then checksum else old_checksum end,
      case when stands then evidence else old_evidence end,
      case when not stands then old_since
        when checksum is distinct from old_checksum and since < old_since and last >= old_since then last
        else since end,
      coalesce(answered, old_answered), coalesce(served, old_served)
    from judged
    where stands or coalesce(answered, old_answered) is distinct from old_answered
      or coalesce(served, old_served) is distinct from old_served
    on conflict (node_id) do update set checksum = excluded.checksum, evidence = excluded.evidence,
      since = excluded.since, answered_checksum = excluded.answered_checksum,
      served_checksum = excluded.served_checksum
    returning node_id, checksum, since`.execute(trx);
  return rows.flatMap(({ node_id: nodeId, checksum, since }) => {
    const known = before.get(nodeId) ?? null;
    return checksum === null || !noted.has(nodeId) || known?.checksum === checksum
      ? []
      : [{ nodeId, before: known, checksum, at: since ?? 0 }];
  });
}

/** What nodes run, with the names from the manifests; nodes of which nothing is known are left out. */
async function runningOf(trx: Db, nodeIds: readonly string[]): Promise<Map<string, Moved['before']>> {
  if (nodeIds.length === 0) return new Map();
  const rows = await trx
    .selectFrom('node_running as r')
    .leftJoin('manifests as m', 'm.checksum', 'r.checksum')
    .select(['r.node_id', 'r.checksum', 'm.configuration_name as configurationName', 'm.version'])
    .where(engineOf(trx).isOneOf('r.node_id', nodeIds))
    .execute();
  return new Map(
    rows.flatMap(({ node_id, checksum, ...names }) =>
      checksum === null ? [] : [[node_id, { checksum, ...names }]],
    ),
  );
}

/** Writes with which error polls are answered. One that goes on keeps the time of its begin. */
export async function writeProblems(
  trx: Db,
  notes: Iterable<readonly [nodeId: string, note: RunningNote]>,
): Promise<void> {
  const over: string[] = [];
  const found: (string | number)[][] = [];
  for (const [nodeId, { problem }] of notes) {
    if (problem === null) over.push(nodeId);
    else if (problem !== undefined) found.push([nodeId, problem.code, problem.detail, problem.at]);
  }
  if (over.length > 0)
    await trx.deleteFrom('node_problems').where(engineOf(trx).isOneOf('node_id', over)).execute();
  if (found.length > 0)
    await sql`insert into node_problems (node_id, code, detail, since)
      select n.id, c.value ->> 1, c.value ->> 2, cast(c.value ->> 3 as bigint)
      from ${engineOf(trx).rows(found)} c join nodes n on n.id = c.value ->> 0 where true
      on conflict (node_id) do update set code = excluded.code, detail = excluded.detail, since = excluded.since
      where node_problems.code <> excluded.code or node_problems.detail <> excluded.detail`.execute(trx);
}

/** The place of the evidence in `EVIDENCE`, so that this and `joinNotes` follow one order. */
const strengthOf = (column: string) =>
  sql.raw(`case ${column} ${EVIDENCE.map((evidence, at) => `when '${evidence}' then ${at}`).join(' ')} end`);

/** What a node runs, with the names from its manifest; undefined where nothing is known. */
export function findRunning(db: Db, nodeId: string) {
  return db
    .selectFrom('node_running as r')
    .leftJoin('manifests as m', 'm.checksum', 'r.checksum')
    .select(['r.checksum', 'm.configuration_name as configurationName', 'm.version', 'r.evidence', 'r.since'])
    .where('r.node_id', '=', nodeId)
    .where('r.checksum', 'is not', null)
    .executeTakeFirst();
}
