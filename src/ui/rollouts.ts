/** What the console says of a rollout: its figures as bars, its gates in sentences, its history, and what can be done. */

import type { Rollout } from './types.ts';

export type Step = Rollout['steps'][number];
export type Counts = Step['counts'];
type Entry = Rollout['history'][number];

/** The name under which the server itself moves rollouts. */
const SERVER = 'Hawser';

/** The figures of a step, as the API names them, with the colour of the bar and what the word says. */
export const FIGURES = [
  { member: 'offered', label: 'Offered', tone: 'info', says: 'would get the version.' },
  { member: 'taken', label: 'Taken', tone: 'info', says: 'say that they run it, or have fetched it whole.' },
  { member: 'success', label: 'Success', tone: 'good', says: 'are well with it.' },
  { member: 'regression', label: 'Regression', tone: 'bad', says: 'were well before, and are not now.' },
  { member: 'alreadyBad', label: 'AlreadyBad', tone: 'warn', says: 'were not well before either.' },
  {
    member: 'silent',
    label: 'Silent',
    tone: 'idle',
    says: 'have taken it, and have said nothing of it since.',
  },
  { member: 'absent', label: 'Absent', tone: 'idle', says: 'have not polled since it is open to them.' },
] as const satisfies readonly { member: keyof Counts; label: string; tone: string; says: string }[];

/** The bars of a step. The longest possible one, 1, stands for all nodes that are offered the version. */
export function barsOf(counts: Counts): ((typeof FIGURES)[number] & { count: number; length: number })[] {
  const whole = Math.max(1, ...FIGURES.map(({ member }) => counts[member]));
  return FIGURES.map((figure) => {
    const count = counts[figure.member];
    return { ...figure, count, length: count / whole };
  });
}

/** What the history says of the open step. */
export interface OpenStep {
  /** When its bake time and its deadline began: with the step, or with the last resuming. */
  since: string;
  /** Who has approved it; null where nobody has. */
  approvedBy: string | null;
}

export function openStepOf({ createdAt, history }: Pick<Rollout, 'createdAt' | 'history'>): OpenStep {
  let open: OpenStep = { since: createdAt, approvedBy: null };
  for (const entry of history) {
    if (opensStep(entry)) open = { since: entry.at, approvedBy: null };
    else if (isApproval(entry)) open = { ...open, approvedBy: entry.actorName };
    else if (entry.from === 'Paused' && entry.to === 'Running') open = { ...open, since: entry.at };
  }
  return open;
}

const isUnderWay = (state: Rollout['state']) => state === 'Running' || state === 'Paused';
const staysUnderWay = ({ from, to }: Entry) => from === to && isUnderWay(to);
const opensStep = (entry: Entry) => staysUnderWay(entry) && entry.actorName === SERVER;
const isApproval = (entry: Entry) => staysUnderWay(entry) && entry.actorName !== SERVER;

/** When the rollout pauses if its open step has no verdict until then; null where no time runs. */
export function deadlineOf(rollout: Pick<Rollout, 'createdAt' | 'history' | 'state' | 'step' | 'steps'>) {
  const length = millisecondsOf(rollout.steps[rollout.step]?.gate.deadline ?? '');
  if (rollout.state !== 'Running' || length === null) return null;
  return new Date(Date.parse(openStepOf(rollout).since) + length).toISOString();
}

/** One rule of a gate. Null: it cannot be said, because the step waits, or because the server alone watches the time. */
export interface GateRule {
  text: string;
  holds: boolean | null;
}

/** The rules of a step's gate, with what the nodes report of it. @param approvedBy of the open step */
export function gateRules({ gate, counts, state }: Step, approvedBy: string | null): GateRule[] {
  const { minNodes, successShare, maxRegressions, maxSilent, maxAbsent, bakeTime, approval } = gate;
  const { success, regression, alreadyBad, taken, silent, absent } = counts;
  const counted = taken - alreadyBad;
  const share = counted > 0 ? success / counted : 1;
  const rule = (text: string, now: string, holds: boolean): GateRule =>
    state === 'Waiting' ? { text: `${text}.`, holds: null } : { text: `${text}: ${now}.`, holds };
  const rules = [
    rule(
      `At least ${nodes(minNodes)} must have been judged`,
      `${success + regression} so far`,
      success + regression >= minNodes,
    ),
    rule(
      `At least ${percent(successShare)} of those that took it and were not bad before must be well`,
      counted > 0 ? `${percent(share)} are` : 'none counts yet',
      share >= successShare,
    ),
    rule(
      `At most ${maxRegressions} of all steps so far may regress, or the rollout halts at once`,
      `${regression} of this step ${regression === 1 ? 'has' : 'have'}`,
      regression <= maxRegressions,
    ),
  ];
  if (maxSilent !== null)
    rules.push(rule(`At most ${maxSilent} may be silent`, `${silent} ${are(silent)}`, silent <= maxSilent));
  if (maxAbsent !== null)
    rules.push(rule(`At most ${maxAbsent} may be absent`, `${absent} ${are(absent)}`, absent <= maxAbsent));
  rules.push({ text: `All of this must hold for ${durationText(bakeTime)} without a break.`, holds: null });
  if (approval) rules.push(approvalRule(state, approvedBy));
  return rules;
}

function approvalRule(state: Step['state'], approvedBy: string | null): GateRule {
  const text = 'Somebody must approve who has not published the version';
  if (state !== 'Open') return { text: `${text}.`, holds: null };
  const now = approvedBy === null ? 'nobody has yet' : `${approvedBy} has`;
  return { text: `${text}: ${now}.`, holds: approvedBy !== null };
}

const are = (count: number) => (count === 1 ? 'is' : 'are');

function nodes(count: number): string {
  return `${count} node${count === 1 ? '' : 's'}`;
}

/** Cut and not rounded, so that a share that is too small never looks as if it were enough. */
function percent(share: number): string {
  return `${Math.floor(Number((share * 10_000).toFixed(6))) / 100} %`;
}

/** The name of a step's ring, and its share where it is not the whole ring. */
export function ringText({ ring, percent: share }: Pick<Step, 'ring' | 'percent'>): string {
  const name = ring ?? 'nodes without a ring';
  return share === 100 ? name : `${share} % of ${name}`;
}

const DURATION = /^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d)(?:\.\d+)?$/;

/** In words, such as `1 day 2 h`; the API writes `1.02:00:00`. What is shorter than a second is as the API writes it. */
export function durationText(text: string): string {
  const [, days = 0, hours, minutes, seconds] = (DURATION.exec(text) ?? []).map(Number);
  const parts = [
    days > 0 && `${days} day${days === 1 ? '' : 's'}`,
    hours && `${hours} h`,
    minutes && `${minutes} min`,
    seconds && `${seconds} s`,
  ].filter(Boolean);
  return parts.length === 0 ? text : parts.join(' ');
}

function millisecondsOf(text: string): number | null {
  const match = DURATION.exec(text);
  if (match === null) return null;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  return ((((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)) * 1_000;
}

/** What each entry of the history says was done, in their order. */
export function deedsDone(history: readonly Entry[]): string[] {
  let step = 1;
  return history.map((entry) => {
    if (entry.from === null) return 'Started';
    if (opensStep(entry)) {
      step += 1;
      return `Step ${step} opened`;
    }
    if (isApproval(entry)) return `Step ${step} approved`;
    if (entry.from === entry.to) return 'Reverted';
    return entry.to === 'Running' ? 'Resumed' : entry.to;
  });
}

export type RolloutDeed = 'pause' | 'resume' | 'approve' | 'halt' | 'revert' | 'complete';

const POSSIBLE: Record<RolloutDeed, readonly Rollout['state'][]> = {
  pause: ['Running'],
  resume: ['Paused'],
  approve: ['Running', 'Paused'],
  complete: ['Running', 'Paused', 'Halted'],
  halt: ['Running', 'Paused'],
  revert: ['Running', 'Paused', 'Halted'],
};

/** What the state of the rollout allows. Nothing is completed past an approval that a step asks for. */
export function possibleDeeds(rollout: Rollout): RolloutDeed[] {
  const { state, step, steps } = rollout;
  const awaitsApproval = steps[step]?.gate.approval === true && openStepOf(rollout).approvedBy === null;
  const isPending = awaitsApproval || steps.slice(step + 1).some(({ gate }) => gate.approval);
  return (Object.keys(POSSIBLE) as RolloutDeed[]).filter((deed) => {
    if (deed === 'approve' && !awaitsApproval) return false;
    return POSSIBLE[deed].includes(state) && !(deed === 'complete' && isPending);
  });
}

/** A parameter file that rolls out, such as `Environment/prod 1.2.0`. */
export function fileText({ scopeTypeName, scopeValue, version }: Rollout['parameters'][number]): string {
  return `${scopeTypeName}${scopeValue === null ? '' : `/${scopeValue}`} ${version}`;
}
