/** The plan of a rollout as it is typed, and what is sent of it. */

/** The units of durations, with their seconds. */
export const UNITS = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
export type Unit = keyof typeof UNITS;

export interface TypedDuration {
  count: string;
  unit: Unit;
}

/** Numbers are texts while somebody types. What is left empty gets the default of the API. */
export interface TypedGate {
  minNodes: string;
  successShare: string;
  maxRegressions: string;
  maxSilent: string;
  maxAbsent: string;
  bakeTime: TypedDuration;
  deadline: TypedDuration;
  approval: boolean;
}

export interface TypedStep {
  /** Tells steps apart while others come and go. */
  key: number;
  /** Null: the nodes without a ring. */
  ring: string | null;
  percent: string;
  gate: TypedGate;
}

export interface TypedPlan {
  steps: readonly TypedStep[];
  /** Empty until somebody has chosen. */
  onHalt: '' | 'Keep' | 'Revert';
  message: string;
  /** The parameter files that go with the version. */
  files: readonly PlannedFile[];
}

export interface PlannedFile {
  scopeTypeName: string;
  scopeValue: string | null;
  version: string;
}

/** What the API takes where nothing is said. */
export const DEFAULT_GATE: TypedGate = {
  ...{ minNodes: '1', successShare: '0.95', maxRegressions: '0', maxSilent: '', maxAbsent: '' },
  ...{ bakeTime: { count: '1', unit: 'hours' }, deadline: { count: '1', unit: 'days' }, approval: false },
};

/** The API takes no more. */
export const MOST_STEPS = 100;

/** A step for each ring, in their order, and one for the nodes without any, which are last. */
export function planFor(rings: readonly string[]): TypedPlan {
  const all = [...rings.slice(0, MOST_STEPS - 1), null];
  const steps = all.map((ring, key) => ({ key, ring, percent: '100', gate: DEFAULT_GATE }));
  return { steps, onHalt: '', message: '', files: [] };
}

export function changeStep(plan: TypedPlan, key: number, change: Partial<TypedStep>): TypedPlan {
  return { ...plan, steps: plan.steps.map((step) => (step.key === key ? { ...step, ...change } : step)) };
}

export function removeStep(plan: TypedPlan, key: number): TypedPlan {
  return { ...plan, steps: plan.steps.filter((step) => step.key !== key) };
}

/** Puts a step of the same ring before it, so that a smaller share of the ring goes first. */
export function splitStep(plan: TypedPlan, key: number): TypedPlan {
  const next = Math.max(...plan.steps.map((step) => step.key)) + 1;
  const steps = plan.steps.flatMap((step) =>
    step.key === key ? [{ ...step, key: next, percent: '10' }, step] : [step],
  );
  return { ...plan, steps };
}

/** The body of the request. What is no number goes as it is, so that the API says so. */
export function bodyOf(version: string, { steps, onHalt, message, files }: TypedPlan) {
  return {
    version,
    ...(files.length > 0 && {
      parameters: files.map(({ scopeTypeName, scopeValue, version: of }) => {
        return { scopeTypeName, scopeValue, version: of };
      }),
    }),
    steps: steps.map(({ ring, percent, gate }) => ({
      ring,
      percent: numberOf(percent),
      gate: {
        minNodes: numberOf(gate.minNodes),
        successShare: numberOf(gate.successShare),
        maxRegressions: numberOf(gate.maxRegressions),
        maxSilent: numberOf(gate.maxSilent),
        maxAbsent: numberOf(gate.maxAbsent),
        bakeTime: durationOf(gate.bakeTime),
        deadline: durationOf(gate.deadline),
        approval: gate.approval,
      },
    })),
    onHalt,
    ...(message.trim() === '' ? {} : { message: message.trim() }),
  };
}

function numberOf(text: string): number | string | null {
  if (text.trim() === '') return null;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

/** As the API takes it. What is no number goes as it is, so that the API says so. */
function durationOf({ count, unit }: TypedDuration): string | null {
  if (count.trim() === '') return null;
  const seconds = Number(count) * UNITS[unit];
  if (!(seconds >= 0) || !Number.isFinite(seconds)) return count;
  const two = (number: number) => String(Math.floor(number)).padStart(2, '0');
  const time = [(seconds % 86_400) / 3_600, (seconds % 3_600) / 60, seconds % 60].map(two).join(':');
  const days = Math.floor(seconds / 86_400);
  const rest = Math.round((seconds % 1) * 1_000);
  return `${days > 0 ? `${days}.` : ''}${time}${rest > 0 ? `.${String(rest).padStart(3, '0')}` : ''}`;
}

/**
 * How many nodes each step would reach, which no step before it has; null where that is not known, or no number is typed.
 * @param nodesOf how many nodes of a ring would get the version
 */
export function reachOf(
  steps: readonly Pick<TypedStep, 'ring' | 'percent'>[],
  nodesOf: (ring: string | null) => number | null,
): (number | null)[] {
  const before = new Map<string | null, number>();
  return steps.map(({ ring, percent }) => {
    const share = percent.trim() === '' ? 100 : Number(percent);
    const known = before.get(ring) ?? 0;
    const nodes = nodesOf(ring);
    if (nodes === null || Number.isNaN(share)) return null;
    before.set(ring, Math.max(known, share));
    return Math.max(0, Math.round((nodes * share) / 100) - Math.round((nodes * known) / 100));
  });
}
