/**
 * The state machine of a rollout: which record follows another. It reads no clock and does no I/O, so whoever redoes a
 * transition after a crash comes to the same one. All times that it takes are in epoch milliseconds.
 */

import { toTimestamp } from '../lib/clock.ts';
import { parseDuration } from './duration.ts';
import {
  hasPublished,
  NO_COUNTS,
  type OnHalt,
  type RolloutCause,
  type RolloutCounts,
  type RolloutRecord,
  type RolloutState,
  type RolloutStep,
} from './rollout.ts';
import { VERSION_WITHDRAWN } from './rollout-cause.ts';
import { lackOf } from './rollout-gate.ts';
import type { PlannedStep } from './rollout-plan.ts';

/** A step from one record to the next, which is one commit. `from` and `to` are equal when a step opens, for example. */
export interface Transition {
  record: RolloutRecord;
  from: RolloutState;
  to: RolloutState;
  /** What happens, as the beginning of the commit message, such as `Step 2 of 3 opened`. */
  what: string;
  /** Why, in whole sentences; of a deed what the person has given. */
  reason: string;
  /** It says why a rollout halts, pauses or is superseded; null where it does none of these. */
  cause: RolloutCause | null;
}

export interface RolloutBeginning {
  key: string;
  version: string | null;
  tag: string | null;
  parameters: RolloutRecord['parameters'];
  scopeType: RolloutRecord['scopeType'];
  /** They are without faults by `planFaults`. */
  steps: readonly PlannedStep[];
  onHalt: OnHalt;
  createdBy: string;
  publishedBy: string | null;
  at: number;
}

/** The record of a new rollout, whose first step is open. */
export function beginRollout({ at, steps, ...rest }: RolloutBeginning): RolloutRecord {
  const time = toTimestamp(at);
  const waiting = steps.map(({ ring, percent, gate }) => ({
    ...{ ring, percent, gate, state: 'Waiting' as const },
    ...{ counts: NO_COUNTS, startedAt: null, endedAt: null },
  }));
  const state = { state: 'Running' as const, step: 0, isReverted: false, approvedBy: null };
  return openStep({ ...rest, ...state, steps: waiting, createdAt: time, since: time }, 0, time);
}

export interface EvaluationInput {
  record: RolloutRecord;
  /** Of each step that is open or done those of the nodes that it adds; null where they cannot be had. */
  counts: readonly RolloutCounts[] | null;
  /** What the evaluation before this one returned for this rollout; null after a move of the lead. */
  heldSince: number | null;
  now: number;
}

export interface Evaluation {
  transition: Transition | null;
  /** Since when the gate holds without a break, which the leader keeps until the next evaluation. */
  heldSince: number | null;
}

const NOTHING: Evaluation = { transition: null, heldSince: null };

/** What the reports of the nodes and the time make of a rollout. At most one step opens at once. */
export function evaluateRollout({ record, counts: all, heldSince, now }: EvaluationInput): Evaluation {
  const { gate } = stepOf(record);
  if (!isUnderWay(record)) return NOTHING;
  const counts = all && (all[record.step] ?? NO_COUNTS);
  const regressions = (all ?? []).reduce((sum, { regression }) => sum + regression, 0);
  // Nodes of the open steps get the version while it is paused too, so it is stopped then as well.
  if (counts && regressions > gate.maxRegressions)
    return { transition: haltByRegressions(record, counts, regressions), heldSince: null };
  if (record.state === 'Paused') return NOTHING;
  if (counts?.offered === 0) return { transition: passWithoutNodes(record, now), heldSince: null };
  const lack = counts ? lackOf(gate, counts) : ['the nodes could not be evaluated'];
  const began = Date.parse(record.since);
  const held = lack.length > 0 ? null : holdingSince(heldSince, began, now);
  const isBaked = held !== null && now - held >= millisecondsOf(gate.bakeTime);
  if (held !== null && !isBaked) lack.push('the gate has not held for its bake time');
  if (gate.approval && record.approvedBy === null) lack.push('nobody has approved it');
  if (counts && lack.length === 0) return { transition: passGate(record, counts, now), heldSince: null };
  if (now - began < millisecondsOf(gate.deadline)) return { transition: null, heldSince: held };
  return { transition: pauseAtDeadline(record, counts, lack), heldSince: null };
}

/** The moment since which a gate holds that holds now. */
function holdingSince(heldSince: number | null, began: number, now: number): number {
  // What is older than the step or the resuming is of another gate, or of a time before a person stepped in.
  if (heldSince !== null && heldSince >= began) return heldSince;
  // The clock may have been set back since the step began. When it is set right, no more time must seem to have passed.
  return Math.max(now, began);
}

function passGate(record: RolloutRecord, counts: RolloutCounts, now: number): Transition {
  const { step, approvedBy } = record;
  const { bakeTime, approval } = stepOf(record).gate;
  const held = `The gate of step ${step + 1} has held for ${bakeTime}`;
  const reason = approval ? `${held}, and ${approvedBy} has approved it.` : `${held}.`;
  return goOn(withCounts(record, counts), now, reason);
}

/** There is nothing that its gate could ask, and nothing to approve. */
function passWithoutNodes(record: RolloutRecord, now: number): Transition {
  return goOn(withCounts(record, NO_COUNTS), now, `Step ${record.step + 1} adds no node.`);
}

/** Closes the open step, and opens the next one or ends with the last. */
function goOn(record: RolloutRecord, now: number, reason: string): Transition {
  const { step, steps } = record;
  const at = toTimestamp(now);
  const closed = closeStep(record, at);
  if (step + 1 === steps.length)
    return transition(record, { ...closed, state: 'Completed' }, 'Completed', reason);
  const opened = openStep(closed, step + 1, at);
  return transition(record, opened, `Step ${step + 2} of ${steps.length} opened`, reason);
}

function haltByRegressions(record: RolloutRecord, counts: RolloutCounts, regressions: number): Transition {
  const next = halted(withCounts(record, counts), record.onHalt === 'Revert');
  const { maxRegressions } = stepOf(record).gate;
  const reason = `Regressions: ${regressions}, of which the gate of step ${record.step + 1} allows ${maxRegressions}.`;
  return transition(record, next, haltedTitle(next), reason, 'Regressions');
}

function pauseAtDeadline(
  record: RolloutRecord,
  counts: RolloutCounts | null,
  lack: readonly string[],
): Transition {
  const { deadline } = stepOf(record).gate;
  const reason = `Step ${record.step + 1} had no verdict within ${deadline}: ${lack.join('; ')}.`;
  const next = { ...withCounts(record, counts), state: 'Paused' as const };
  return transition(record, next, 'Paused', reason, 'Deadline');
}

/** Ends a rollout because a higher version is rolled out. Null if it has ended already. */
export function supersede(record: RolloutRecord, byVersion: string): Transition | null {
  if (!isUnderWay(record)) return null;
  const reason = `Version ${byVersion} is rolled out from now on.`;
  const next = { ...record, state: 'Superseded' as const };
  return transition(record, next, `Superseded by ${byVersion}`, reason, 'Superseded');
}

/**
 * Ends a rollout because something of it is withdrawn. Null if that would change nothing of it.
 * @param what the version by default
 */
export function haltByWithdrawal(record: RolloutRecord, what: Withdrawn = 'version'): Transition | null {
  if (!isAllowed('revert', record) || record.isReverted) return null;
  const next = halted(record, true);
  const reason = what === 'version' ? VERSION_WITHDRAWN : 'A parameter file of it is withdrawn.';
  return transition(record, next, haltedTitle(next), reason, 'Withdrawn');
}

/** What of a rollout is withdrawn. */
export type Withdrawn = 'version' | 'file';

/** What a person may do with a rollout, and in which states. */
const ALLOWED = {
  pause: ['Running'],
  resume: ['Paused'],
  approve: ['Running', 'Paused'],
  halt: ['Running', 'Paused'],
  revert: ['Running', 'Paused', 'Halted'],
  complete: ['Running', 'Paused', 'Halted'],
} as const satisfies Record<string, readonly RolloutState[]>;

export type Deed = keyof typeof ALLOWED;
export const DEEDS = Object.keys(ALLOWED) as Deed[];

export interface DeedInput {
  actorName: string;
  at: number;
  /** Why, in the words of the person. */
  reason: string;
  /** As they are at the time of the deed; null leaves those of the record. */
  counts: RolloutCounts | null;
}

/**
 * What a person makes of a rollout. `not_possible` where the state does not allow it, or where there is nothing to
 * approve. `same_person` where the one who published would approve. `approval_pending` where completing would pass over an
 * approval that a step asks for.
 */
export function applyDeed(
  record: RolloutRecord,
  deed: Deed,
  { actorName, at, reason, counts }: DeedInput,
): Transition | 'not_possible' | 'same_person' | 'approval_pending' {
  if (!isAllowed(deed, record)) return 'not_possible';
  if (deed === 'approve') {
    if (!stepOf(record).gate.approval || record.approvedBy !== null) return 'not_possible';
    if (hasPublished(record, actorName)) return 'same_person';
  }
  if (deed === 'complete' && awaitsApproval(record)) return 'approval_pending';
  const [next, what] = CHANGES[deed](withCounts(record, counts), toTimestamp(at), actorName);
  const isStopped = next.state === 'Paused' || next.state === 'Halted';
  return transition(record, next, what, reason, isStopped && deed !== 'approve' ? 'Person' : null);
}

/** Whether the open step, or one that waits, asks for an approval that nobody has given. */
function awaitsApproval({ steps, step, approvedBy }: RolloutRecord): boolean {
  return steps.some(({ gate }, at) => gate.approval && (at > step || (at === step && approvedBy === null)));
}

type Change = (record: RolloutRecord, at: string, actorName: string) => [RolloutRecord, what: string];

const CHANGES: Record<Deed, Change> = {
  pause: (record) => [{ ...record, state: 'Paused' }, 'Paused'],
  resume: (record, at) => [{ ...record, state: 'Running', since: at }, 'Resumed'],
  approve: (record, _at, approvedBy) => [{ ...record, approvedBy }, `Step ${record.step + 1} approved`],
  halt: (record) => withTitle(halted(record, record.onHalt === 'Revert')),
  revert: (record) => withTitle(halted(record, true)),
  complete: (record, at) => [
    { ...closeStep(record, at), state: 'Completed', isReverted: false },
    'Completed',
  ],
};

function withTitle(record: RolloutRecord): [RolloutRecord, string] {
  return [record, haltedTitle(record)];
}

function haltedTitle({ isReverted }: RolloutRecord): string {
  return isReverted ? 'Halted and reverted' : 'Halted';
}

function isAllowed(deed: Deed, { state }: RolloutRecord): boolean {
  return (ALLOWED[deed] as readonly RolloutState[]).includes(state);
}

function isUnderWay({ state }: RolloutRecord): boolean {
  return state === 'Running' || state === 'Paused';
}

function transition(
  before: RolloutRecord,
  record: RolloutRecord,
  what: string,
  reason: string,
  cause: RolloutCause | null = null,
): Transition {
  return { record, from: before.state, to: record.state, what, reason, cause };
}

function halted(record: RolloutRecord, isReverted: boolean): RolloutRecord {
  return { ...record, state: 'Halted', isReverted };
}

/** Bake time, deadline and approval are of one step, so they begin anew. */
function openStep(record: RolloutRecord, step: number, at: string): RolloutRecord {
  const next = changeStep({ ...record, step }, { state: 'Open', startedAt: at });
  return { ...next, since: at, approvedBy: null };
}

function closeStep(record: RolloutRecord, at: string): RolloutRecord {
  return changeStep(record, { state: 'Done', endedAt: at });
}

function withCounts(record: RolloutRecord, counts: RolloutCounts | null): RolloutRecord {
  return counts === null ? record : changeStep(record, { counts });
}

function changeStep(record: RolloutRecord, change: Partial<RolloutStep>): RolloutRecord {
  const steps = record.steps.map((step, at) => (at === record.step ? { ...step, ...change } : step));
  return { ...record, steps };
}

function stepOf({ steps, step }: RolloutRecord): RolloutStep {
  const current = steps[step];
  if (current === undefined) throw new Error(`The rollout has no step ${step}`);
  return current;
}

/** A text that is no duration never passes. Documents are read with durations alone. */
function millisecondsOf(text: string): number {
  return parseDuration(text)?.milliseconds ?? Number.POSITIVE_INFINITY;
}
