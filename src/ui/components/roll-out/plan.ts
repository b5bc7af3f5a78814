/** The plan of a rollout as it is typed, and what is sent of it. */

/** Numbers are texts while somebody types. What is left empty gets the default of the API. */
export interface TypedGate {
  minNodes: string;
  successShare: string;
  maxRegressions: string;
  maxSilent: string;
  bakeTime: string;
  deadline: string;
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
}

/** What the API takes where nothing is said. */
export const DEFAULT_GATE: TypedGate = {
  ...{ minNodes: '1', successShare: '0.95', maxRegressions: '0', maxSilent: '' },
  ...{ bakeTime: '01:00:00', deadline: '1.00:00:00', approval: false },
};

/** The API takes no more. */
export const MOST_STEPS = 100;

/** A step for each ring, in their order, and one for the nodes without any, which are last. */
export function planFor(rings: readonly string[]): TypedPlan {
  const all = [...rings.slice(0, MOST_STEPS - 1), null];
  const steps = all.map((ring, key) => ({ key, ring, percent: '100', gate: DEFAULT_GATE }));
  return { steps, onHalt: '', message: '' };
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
export function bodyOf(version: string, { steps, onHalt, message }: TypedPlan) {
  return {
    version,
    steps: steps.map(({ ring, percent, gate }) => ({
      ring,
      percent: numberOf(percent),
      gate: {
        minNodes: numberOf(gate.minNodes),
        successShare: numberOf(gate.successShare),
        maxRegressions: numberOf(gate.maxRegressions),
        maxSilent: numberOf(gate.maxSilent),
        bakeTime: gate.bakeTime.trim() || null,
        deadline: gate.deadline.trim() || null,
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
