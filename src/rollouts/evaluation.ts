/**
 * Moves the rollouts that are under way on by what the nodes report. The leader does it, every ten seconds and soon after
 * a rollout has moved. Whatever fails leaves a rollout as it is, and is done again. No two servers make one transition, as
 * it counts only for the record from which it was made.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { freezeLook } from '../db/freeze.ts';
import { type SeenReports, toRolledOut } from '../db/read-rollouts.ts';
import { type Noted, noteNodes, readRolloutCounts, saveFaults, saveRolloutCounts } from '../db/rollouts.ts';
import { NO_COUNTS, type RolloutCause, type RolloutCounts, type RolloutState } from '../domain/rollout.ts';
import { addCounts, countNode, OUTCOMES } from '../domain/rollout-counts.ts';
import { evaluateRollout, haltByWithdrawal, type Transition } from '../domain/rollout-machine.ts';
import { type Clock, MINUTE, SECOND } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Threads } from '../lib/threads.ts';
import type { FleetTasks } from '../resolve/fleet-tasks.ts';
import type { NodeToNote } from '../resolve/rollout-tasks.ts';
import { systemActor } from '../security/audit.ts';
import { moveRollout } from '../versions/rollouts.ts';
import type { GitStore } from '../versions/store.ts';
import type { MovedRepositories } from './moved-repositories.ts';
import { RolloutFinder, type UnderWay } from './under-way.ts';

const INTERVAL = 10 * SECOND;
/** Milliseconds between two looks at what has moved. */
const PAUSE = 1 * SECOND;
/** Milliseconds after each piece of takers, so that requests get most of the time. */
const GIVE_WAY = 5;
/** Counts that stay the same are written so often, so that whoever reads them sees that they are current. */
const RENEWAL = 1 * MINUTE;
/** So many of the nodes that are its cause are named. */
const MAX_FAULTS = 10;
/** The name by which the threads count whose turn it is. */
const CALLER = 'rollouts';

export interface EvaluationTools {
  database: Database;
  store: GitStore;
  clock: Clock;
  log: Log;
  questions: Threads<FleetTasks>;
  moved: MovedRepositories;
  /** Is told of each evaluation of a rollout, and how many milliseconds it took. */
  onEvaluated: (outcome: 'evaluated' | 'failed', milliseconds: number) => void;
}

/** What the leader remembers of a rollout between two evaluations. */
interface Memory {
  /** See `EvaluationInput`. */
  heldSince: number | null;
  /** The reports that were looked at; null for none. */
  seen: SeenReports | null;
  saved: { text: string; at: number } | null;
  /** Since when its evaluations fail, in epoch milliseconds; null where the last one did not. */
  failingSince: number | null;
  /** It is true once the log has a line that says that they have failed for long. */
  isLongToldOf: boolean;
}

export class RolloutEvaluation {
  private readonly tools: EvaluationTools;
  private readonly finder: RolloutFinder;
  private readonly memories = new Map<string, Memory>();
  private readonly closing = new AbortController();
  private readonly isOver: Promise<void>;

  /** Begins at once. */
  constructor(tools: EvaluationTools) {
    this.tools = tools;
    this.finder = new RolloutFinder(tools);
    this.isOver = this.run();
  }

  /** Begins nothing more, and waits for what is under way. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.isOver;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    let next = 0;
    while (!signal.aborted) {
      // The clock of the server may be set back, and this one is not.
      const isFull = performance.now() >= next;
      if (isFull) next = performance.now() + INTERVAL;
      await this.evaluateAll(isFull);
      await sleep(PAUSE, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private async evaluateAll(isFull: boolean): Promise<void> {
    try {
      const found = await this.finder.find(isFull);
      const keys = new Set(found.map(keyOf));
      for (const key of this.memories.keys()) if (isFull && !keys.has(key)) this.memories.delete(key);
      for (const each of found) await this.evaluate(each);
    } catch (err) {
      if (!this.closing.signal.aborted) this.tools.log.warn({ err }, 'rollouts could not be looked for');
    }
  }

  /** Never throws, so that a rollout that cannot be evaluated does not hold up the others. */
  private async evaluate(underWay: UnderWay): Promise<void> {
    const { signal } = this.closing;
    if (signal.aborted) return;
    const memory = this.memoryOf(underWay);
    const begun = performance.now();
    try {
      const outcome = await this.evaluateOne(underWay, memory);
      this.tools.onEvaluated(outcome, performance.now() - begun);
      this.noteOutcome(underWay, memory, outcome);
    } catch (err) {
      this.warnOnce(memory, { err, ...told(underWay) }, 'a rollout could not be moved; this is tried again');
      this.tools.onEvaluated('failed', performance.now() - begun);
      this.noteOutcome(underWay, memory, 'failed');
    }
  }

  /** What fails again and again is a warning at first, and once more after a minute. */
  private noteOutcome(underWay: UnderWay, memory: Memory, outcome: 'evaluated' | 'failed'): void {
    if (outcome === 'evaluated') {
      [memory.failingSince, memory.isLongToldOf] = [null, false];
      return;
    }
    const now = this.tools.clock.now();
    memory.failingSince ??= now;
    if (memory.isLongToldOf || now - memory.failingSince < MINUTE) return;
    memory.isLongToldOf = true;
    const message = 'a rollout has not been evaluated for a minute: no step opens, and nothing halts it';
    this.tools.log.warn(told(underWay), message);
  }

  private warnOnce({ failingSince }: Memory, facts: object, message: string): void {
    const level = failingSince !== null || this.closing.signal.aborted ? 'debug' : 'warn';
    this.tools.log[level](facts, message);
  }

  /** How many rollouts are in each state, of all that can be read. */
  countStates(): readonly (readonly [RolloutState, number])[] {
    return this.finder.countStates();
  }

  /** @returns `failed` where the nodes could not be counted */
  private async evaluateOne(underWay: UnderWay, memory: Memory): Promise<'evaluated' | 'failed'> {
    const { withdrawn } = underWay;
    const { record } = underWay.rollout;
    if (withdrawn !== null) {
      await this.move(underWay, haltByWithdrawal(record, withdrawn));
      return 'evaluated';
    }
    const counts = await this.count(underWay, memory);
    const outcome = counts === null ? 'failed' : 'evaluated';
    if (this.closing.signal.aborted || counts === 'early') return outcome;
    const now = this.tools.clock.now();
    const { transition, heldSince } = evaluateRollout({ record, counts, heldSince: memory.heldSince, now });
    if (transition?.cause) await this.keepFaults(underWay, transition.cause);
    // A transition that fails, or waits for the end of a freeze, is made again, by the same bake time.
    if (await this.moveUnlessFrozen(underWay, transition)) memory.heldSince = heldSince;
    return outcome;
  }

  /** Keeps the first of the nodes that are the cause, because what is known of nodes goes with a later rollout. */
  private async keepFaults(underWay: UnderWay, cause: RolloutCause): Promise<void> {
    const { steps, step } = underWay.rollout.record;
    const filter =
      cause === 'Regressions'
        ? { outcomes: ['Regression' as const] }
        : { step, outcomes: OUTCOMES.filter((outcome) => outcome !== 'Success' && outcome !== 'AlreadyBad') };
    const openedAt = steps.map(({ startedAt }) => Date.parse(startedAt ?? ''));
    const question = { rolledOut: rolledOut(underWay), openedAt, filter, skip: 0, take: MAX_FAULTS };
    try {
      const { rows } = await this.tools.questions.run(CALLER, 'rolloutNodes', question);
      await saveFaults(this.tools.database.write, rolledOut(underWay), rows);
    } catch (err) {
      // The rollout halts all the same, because that matters more than the names of the nodes.
      this.tools.log.warn({ err, ...told(underWay) }, 'the nodes that halt a rollout could not be named');
    }
  }

  /** A freeze keeps the version from further nodes. Halting and pausing go on. @returns false while a freeze forbids it */
  private async moveUnlessFrozen(underWay: UnderWay, transition: Transition | null): Promise<boolean> {
    const opensMore =
      transition?.to === 'Completed' || (transition?.record.step ?? 0) > underWay.rollout.record.step;
    try {
      await this.move(underWay, transition, { opensMore });
      return true;
    } catch (error) {
      if (!(error instanceof HawserError && error.code === 'frozen')) throw error;
      this.tools.log.debug(told(underWay), 'a rollout waits for the end of the freeze');
      return false;
    }
  }

  private async move(
    underWay: UnderWay,
    transition: Transition | null,
    { opensMore = false } = {},
  ): Promise<void> {
    if (transition === null) return;
    const now = () => this.tools.clock.now();
    const actor = { ...systemActor(now()), ...(opensMore && { requireUnfrozen: freezeLook(now) }) };
    const { owner, rollout } = underWay;
    const target = { ...owner, principal: null, actor };
    await moveRollout(this.tools, target, rollout.record.key, ({ oid }) =>
      oid === rollout.oid ? transition : null,
    );
    const { to, reason } = transition;
    // Somebody must look, whoever started it and whoever waits for it.
    if (to === 'Halted' || to === 'Paused')
      this.tools.log.warn({ ...told(underWay), reason }, `a rollout is ${to.toLowerCase()}`);
  }

  /** Null where they cannot be had, so that the rollout does not advance; `early` where the threads do not know its record yet. */
  private async count(
    underWay: UnderWay,
    memory: Memory,
  ): Promise<readonly RolloutCounts[] | 'early' | null> {
    try {
      const counts = await this.countAndNote(underWay, memory);
      if (counts === null) return 'early';
      await this.save(underWay, memory, counts);
      return counts;
    } catch (err) {
      if (this.closing.signal.aborted) return null;
      this.warnOnce(memory, { err, ...told(underWay) }, 'the nodes of a rollout could not be counted');
      return null;
    }
  }

  /** Notes what nodes were and what they have reported since the last evaluation, and counts all of them by that. */
  private async countAndNote(underWay: UnderWay, memory: Memory): Promise<readonly RolloutCounts[] | null> {
    const { record, oid } = underWay.rollout;
    const seen = memory.seen ?? (await this.seenBefore(underWay));
    const noted = record.steps.map(() => ({ ...NO_COUNTS }));
    const onPiece = async (piece: unknown) => {
      const nodes = piece as NodeToNote[];
      const known = await this.note(underWay, nodes);
      for (const { toNote, counted } of nodes) {
        const [nodeId, , step] = toNote;
        if (counted) countNode(noted[step ?? -1] as RolloutCounts, { ...counted, ...known.get(nodeId) });
      }
    };
    const question = { rolledOut: rolledOut(underWay), record, oid, seen };
    const answer = await this.tools.questions.run(CALLER, 'rolloutCounts', question, { onPiece });
    if (answer === null) return null;
    for (const [at, counts] of noted.entries()) addCounts(counts, answer.counts[at] ?? NO_COUNTS);
    memory.seen = answer.seen;
    return noted;
  }

  /** What is known of nodes belongs to a row of counts, which says which reports were looked at. */
  private async seenBefore(underWay: UnderWay): Promise<SeenReports | null> {
    const { read, write } = this.tools.database;
    const last = await readRolloutCounts(read, rolledOut(underWay));
    if (last !== null) {
      const { lastReport: upTo } = last;
      return upTo === null ? null : { from: upTo, upTo, count: 0 };
    }
    const none = { evaluatedAt: this.tools.clock.now(), counts: [], lastReport: null };
    await saveRolloutCounts(write, rolledOut(underWay), none);
    return null;
  }

  private async note(underWay: UnderWay, nodes: readonly NodeToNote[]): Promise<Map<string, Noted>> {
    this.closing.signal.throwIfAborted();
    const times = { began: Date.parse(underWay.rollout.record.createdAt), now: this.tools.clock.now() };
    const toNote = nodes.map((node) => node.toNote);
    // What a power cut takes away is found again.
    const { writeUnflushed } = this.tools.database;
    const known = await writeUnflushed
      .transaction()
      .execute((trx) => noteNodes(trx, rolledOut(underWay), toNote, times));
    await sleep(GIVE_WAY);
    return known;
  }

  private async save(underWay: UnderWay, memory: Memory, counts: readonly RolloutCounts[]): Promise<void> {
    const [text, at] = [JSON.stringify(counts), this.tools.clock.now()];
    const { saved, seen } = memory;
    if (saved?.text === text && Math.abs(at - saved.at) < RENEWAL) return;
    const last = { evaluatedAt: at, counts, lastReport: seen?.from ?? null };
    await saveRolloutCounts(this.tools.database.write, rolledOut(underWay), last);
    memory.saved = { text, at };
  }

  private memoryOf(underWay: UnderWay): Memory {
    const key = keyOf(underWay);
    const memory = this.memories.get(key) ?? {
      ...{ heldSince: null, seen: null, saved: null, failingSince: null, isLongToldOf: false },
    };
    this.memories.set(key, memory);
    return memory;
  }
}

function rolledOut({ owner: { kind, resource }, rollout }: UnderWay) {
  return toRolledOut({ kind, id: resource.id, name: resource.name }, rollout.record);
}

/** What the log says of a rollout, so that it can be found. */
function told({ owner: { kind, resource }, rollout: { record } }: UnderWay) {
  return { kind, name: resource.name, version: record.version, rollout: record.key };
}

/** A version that is made anew has another tag, and its rollout is another one. */
function keyOf({ owner: { kind, resource }, rollout: { record } }: UnderWay): string {
  return `${kind} ${resource.id} ${record.tag ?? record.key}`;
}
