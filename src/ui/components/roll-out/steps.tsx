/** The fields of a new rollout's steps: ring, share and gate of each. */

import type { ApiProblem } from '../../client.ts';
import { ringText } from '../../rollouts.ts';
import { CheckField, Field, SelectField } from '../field.tsx';
import {
  changeStep,
  MOST_STEPS,
  reachOf,
  removeStep,
  splitStep,
  type TypedGate,
  type TypedPlan,
  type TypedStep,
  UNITS,
  type Unit,
} from './plan.ts';

interface Props {
  plan: TypedPlan;
  rings: readonly string[];
  /** How many nodes of a ring would get the version; null where that is not known. */
  nodesOf: (ring: string | null) => number | null;
  problem: ApiProblem | null;
  onChange: (plan: TypedPlan) => void;
}

export function StepsFields({ plan, rings, nodesOf, problem, onChange }: Props) {
  const { steps } = plan;
  const reach = reachOf(steps, nodesOf);
  return (
    <>
      {steps.map((step, at) => (
        <StepFields
          key={step.key}
          {...{ step, at, rings, problem }}
          nodes={reach[at] ?? null}
          onChange={(change) => onChange(changeStep(plan, step.key, change))}
          onSplit={steps.length < MOST_STEPS ? () => onChange(splitStep(plan, step.key)) : null}
          onRemove={steps.length > 1 ? () => onChange(removeStep(plan, step.key)) : null}
        />
      ))}
    </>
  );
}

interface StepProps {
  step: TypedStep;
  /** From 0. */
  at: number;
  rings: readonly string[];
  /** So many it would reach; null where that is not known. */
  nodes: number | null;
  problem: ApiProblem | null;
  onChange: (change: Partial<TypedStep>) => void;
  /** Null: it cannot be done. */
  onSplit: (() => void) | null;
  onRemove: (() => void) | null;
}

/** A ring is a name of letters, digits, "_" and "-", so the empty text can stand for the nodes without one. */
const NO_RING = { value: '', label: ringText({ ring: null, percent: 100 }) };

function StepFields({ step, at, rings, nodes, problem, onChange, onSplit, onRemove }: StepProps) {
  const path = `steps/${at}`;
  const choices = [...rings.map((ring) => ({ value: ring, label: ring })), NO_RING];
  const hasFault = problem?.errors.some((error) => error.path?.startsWith(`/${path}/gate`)) === true;
  return (
    <fieldset class="plan-step">
      <legend>Step {at + 1}</legend>
      {nodes !== null && <p class="hint">{reachText(nodes, Number(step.percent) === 100)}</p>}
      <div class="pair">
        <SelectField
          label="Ring"
          name={`${path}/ring`}
          choices={choices}
          problem={problem}
          value={step.ring ?? ''}
          onInput={(ring) => onChange({ ring: ring || null })}
        />
        <Field
          label="Percent of its nodes"
          name={`${path}/percent`}
          type="number"
          min={1}
          max={100}
          problem={problem}
          value={step.percent}
          onInput={(percent) => onChange({ percent })}
        />
      </div>
      <details open={hasFault}>
        <summary>Gate: {gateText(step.gate)}</summary>
        <GateFields
          gate={step.gate}
          path={`${path}/gate`}
          problem={problem}
          onChange={(change) => onChange({ gate: { ...step.gate, ...change } })}
        />
      </details>
      <div class="bar">
        {onSplit !== null && (
          <button type="button" class="small" onClick={onSplit}>
            Add a smaller share before<span class="visually-hidden"> step {at + 1}</span>
          </button>
        )}
        {onRemove !== null && (
          <button type="button" class="small" onClick={onRemove}>
            Remove<span class="visually-hidden"> step {at + 1}</span>
          </button>
        )}
      </div>
    </fieldset>
  );
}

function reachText(nodes: number, isWhole: boolean): string {
  if (nodes === 0) return 'It adds no node, so it is done at once.';
  return `It adds ${isWhole ? '' : 'about '}${nodes} node${nodes === 1 ? '' : 's'}.`;
}

/** What is most often changed, in short. */
function gateText({ minNodes, bakeTime, deadline, approval }: TypedGate): string {
  const [baked, due] = [bakeTime, deadline].map(({ count, unit }) => `${count} ${unit}`);
  const parts = [`nodes judged ${minNodes}`, `bake time ${baked}`, `deadline ${due}`];
  return [...parts, ...(approval ? ['with approval'] : [])].join(', ');
}

const FIELDS = [
  {
    member: 'minNodes',
    label: 'Nodes judged',
    hint: 'At least, of the nodes of the step: successes and regressions.',
  },
  { member: 'successShare', label: 'Share of successes', hint: 'From 0 to 1.' },
  {
    member: 'maxRegressions',
    label: 'Regressions allowed',
    hint: 'Of all steps so far; with more the rollout halts at once.',
  },
  { member: 'maxSilent', label: 'Silent nodes allowed', hint: 'Empty: no limit.' },
  { member: 'maxAbsent', label: 'Absent nodes allowed', hint: 'They have not polled. Empty: no limit.' },
] as const;

const DURATIONS = [
  { member: 'bakeTime', label: 'Bake time', hint: 'For so long all must hold.' },
  { member: 'deadline', label: 'Deadline', hint: 'After so long without a verdict it pauses.' },
] as const;
const UNIT_CHOICES = (Object.keys(UNITS) as Unit[]).map((unit) => ({ value: unit, label: unit }));

interface GateProps {
  gate: TypedGate;
  path: string;
  problem: ApiProblem | null;
  onChange: (change: Partial<TypedGate>) => void;
}

function GateFields({ gate, path, problem, onChange }: GateProps) {
  return (
    <div class="part">
      <div class="pair">
        {FIELDS.map(({ member, label, hint }) => (
          <Field
            key={member}
            label={label}
            hint={hint}
            name={`${path}/${member}`}
            autocomplete="off"
            problem={problem}
            value={gate[member]}
            onInput={(text) => onChange({ [member]: text })}
          />
        ))}
      </div>
      {DURATIONS.map(({ member, label, hint }) => (
        <div class="pair" key={member}>
          <Field
            label={label}
            hint={hint}
            name={`${path}/${member}`}
            type="number"
            min={0}
            problem={problem}
            value={gate[member].count}
            onInput={(count) => onChange({ [member]: { ...gate[member], count } })}
          />
          <SelectField
            label={`Unit of the ${label.toLowerCase()}`}
            name={`${path}/${member}/unit`}
            choices={UNIT_CHOICES}
            problem={null}
            value={gate[member].unit}
            onInput={(unit) => onChange({ [member]: { ...gate[member], unit: unit as Unit } })}
          />
        </div>
      ))}
      <CheckField
        label="Somebody must approve"
        hint="It must be somebody else than who publishes the version."
        checked={gate.approval}
        onChange={(approval) => onChange({ approval })}
      />
    </div>
  );
}
