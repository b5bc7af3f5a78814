/** One step of a rollout: its ring, its nodes as bars, and its gate. */

import { Mark } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { Time } from '../../components/time.tsx';
import {
  barsOf,
  type Counts,
  FIGURES,
  type GateRule,
  gateRules,
  ringText,
  type Step,
} from '../../rollouts.ts';

interface Props {
  step: Step;
  /** From 1. */
  place: number;
  /** Who has approved it, if it is the open one. */
  approvedBy: string | null;
}

export function StepCard({ step, place, approvedBy }: Props) {
  const { state, counts, startedAt, endedAt } = step;
  return (
    <section class="card" aria-label={`Step ${place}`}>
      <div class="bar">
        <h3>
          Step {place}: {ringText(step)}
        </h3>
        <Mark word={state} />
        {startedAt !== null && (
          <span class="muted">
            opened <Time at={startedAt} />
            {endedAt !== null && (
              <>
                , closed <Time at={endedAt} />
              </>
            )}
          </span>
        )}
      </div>
      {state !== 'Waiting' && <Bars counts={counts} place={place} />}
      <ul class="rules" aria-label={`Gate of step ${place}`}>
        {gateRules(step, approvedBy).map((rule) => (
          <li key={rule.text}>
            <Verdict holds={rule.holds} /> {rule.text}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Verdict({ holds }: Pick<GateRule, 'holds'>) {
  if (holds === null) return null;
  return holds ? <Mark word="Holds" tone="good" /> : <Mark word="Not yet" tone="warn" />;
}

/** The number beside each bar says the same, so the bars are for the eye alone. */
function Bars({ counts, place }: { counts: Counts; place: number }) {
  return (
    <ul class="bars" aria-label={`Nodes of step ${place}`}>
      {barsOf(counts).map(({ member, label, tone, count, length }) => (
        <li key={member}>
          <span class="muted">{label}</span> <Num value={count} />
          <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="share-whole" width="100" height="4" />
            <rect class={`bar-${tone}`} width={100 * length} height="4" />
          </svg>
        </li>
      ))}
    </ul>
  );
}

/** Once for all steps. */
export function FigureWords() {
  return (
    <details>
      <summary>What the figures say</summary>
      <p>
        They count the nodes that a step adds. Those of a step that is done are as they were when it closed.
        Regressions of all steps count together.
      </p>
      <dl class="facts">
        {FIGURES.map((figure) => (
          <FigureWord key={figure.member} {...figure} />
        ))}
      </dl>
    </details>
  );
}

function FigureWord({ label, says }: { label: string; says: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>Nodes that {says}</dd>
    </>
  );
}
