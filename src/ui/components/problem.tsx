/** What the API refused, in its own words, with its code; and when it is tried again. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiProblem } from '../client.ts';
import { Faults } from './faults.tsx';

interface ProblemProps {
  problem: ApiProblem;
  /** Gives it a button to try again. */
  onRetry?: () => void;
  /** What can be done about it. */
  children?: ComponentChildren;
}

/** The alert. */
export function Problem({ problem, onRetry, children }: ProblemProps) {
  return (
    <div class="alert" role="alert" data-code={problem.code}>
      <p>{problem.detail}</p>
      <Faults faults={problem.errors} />
      {problem.retryAfter !== null && <Countdown key={problem} seconds={problem.retryAfter} />}
      {children !== undefined && <p>{children}</p>}
      <p class="alert-foot">
        <code>{problem.code}</code>
        {onRetry !== undefined && (
          <button type="button" class="small" onClick={onRetry}>
            Try again
          </button>
        )}
      </p>
    </div>
  );
}

/** Counts down to the next attempt. It is hidden from screen readers, which would read out every second. */
function Countdown({ seconds }: { seconds: number }) {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <p aria-hidden="true" class="num">
      {left > 0 ? `It can be tried again in ${left} s.` : 'It can be tried again now.'}
    </p>
  );
}
