/** The plan of a rollout as a command says it: by options, or as a file of JSON or YAML. */

import type { Schemas } from '../client/api-types.ts';
import type { Context } from './declaration.ts';
import { UsageError } from './errors.ts';
import { readData } from './input.ts';

type Plan = Pick<Schemas['NewRollout'], 'steps' | 'onHalt'>;
type Gate = Plan['steps'][number]['gate'];

/** Stands for the nodes without a ring. No value of a scope type has such a name. */
export const REST = '@rest';

export const PLAN_OPTIONS = {
  step: {
    value: 'RING[:PERCENT]',
    isRepeatable: true,
    summary: `a ring, in the order in which they get it, and which share of its nodes; ${REST} are those without a ring`,
  },
  plan: { value: 'FILE', summary: 'the steps and onHalt as JSON or YAML, as the API takes them; - is stdin' },
  'on-halt': {
    value: 'WHAT',
    choices: ['Keep', 'Revert'],
    summary: 'whether those that have the version keep it when the rollout halts, or get what they had',
  },
  'min-nodes': { value: 'N', summary: 'so many nodes of the step must have been judged; 1 unless said' },
  'success-share': { value: 'SHARE', summary: 'the least share that must be well, from 0 to 1; 0.95' },
  'max-regressions': { value: 'N', summary: 'halt with more nodes that were well before; 0' },
  'max-silent': { value: 'N', summary: 'so many may have taken it and not reported since; no limit' },
  'max-absent': { value: 'N', summary: 'so many may not have polled since the step opened; no limit' },
  'bake-time': { value: 'TIME', summary: 'for so long it must hold, such as 01:00:00 or PT1H; 01:00:00' },
  deadline: { value: 'TIME', summary: 'pause after so long without a verdict; 1.00:00:00' },
  approval: { summary: 'each step waits for the approval of somebody who did not publish the version' },
} as const;

type Options = Context<readonly [], typeof PLAN_OPTIONS>['options'];

/** The options that say the gate of all steps. */
const GATE_OPTIONS = [
  ...(['min-nodes', 'success-share', 'max-regressions', 'max-silent', 'max-absent'] as const),
  ...(['bake-time', 'deadline', 'approval'] as const),
] as const;

/** @throws UsageError, Failure where the file cannot be read */
export async function readPlan(context: Pick<Context, 'stdin' | 'cwd'>, options: Options): Promise<Plan> {
  const onHalt = options['on-halt'] as Plan['onHalt'] | undefined;
  if (options.plan !== undefined) {
    const isGateSaid = GATE_OPTIONS.some((name) => options[name] !== undefined && options[name] !== false);
    if (options.step.length > 0 || isGateSaid)
      throw new UsageError('--plan has the steps and their gates; leave --step and the gate out.');
    // The server says what is wrong with the plan itself.
    const plan = (await readData(context, options.plan)) as Plan;
    return onHalt === undefined ? plan : { ...plan, onHalt };
  }
  if (options.step.length === 0) throw new UsageError('Say the rings by --step, or all of it by --plan.');
  if (onHalt === undefined) throw new UsageError('Say by --on-halt Keep or Revert what a halt means.');
  const gate = gateOf(options);
  return { steps: options.step.map((text) => ({ ...readStep(text), gate })), onHalt };
}

function readStep(text: string): Omit<Plan['steps'][number], 'gate'> {
  const [, ring, percent] = /^([\w-]+|@rest)(?::(\d{1,3}))?$/.exec(text) ?? [];
  if (ring === undefined)
    throw new UsageError(`--step: "${text}" is no step; one is written as canary, early:10 or ${REST}.`);
  return { ring: ring === REST ? null : ring, ...(percent !== undefined && { percent: Number(percent) }) };
}

function gateOf(options: Options): Gate {
  const count = (name: (typeof GATE_OPTIONS)[0 | 1 | 2 | 3 | 4]) => {
    const text = options[name];
    if (text === undefined) return undefined;
    if (!/^\d+(\.\d+)?$/.test(text)) throw new UsageError(`--${name}: "${text}" is no number.`);
    return Number(text);
  };
  const gate = {
    minNodes: count('min-nodes'),
    successShare: count('success-share'),
    maxRegressions: count('max-regressions'),
    maxSilent: count('max-silent'),
    maxAbsent: count('max-absent'),
    bakeTime: options['bake-time'],
    deadline: options.deadline,
    approval: options.approval || undefined,
  };
  return Object.fromEntries(Object.entries(gate).filter(([, value]) => value !== undefined));
}
