/** What the API refused, in its own words, with its code; and when it is tried again. */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ApiProblem } from '../client.ts';
import { Faults } from './faults.tsx';

/** What can be done, where the words of the API do not say it, or say it to programs. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  change_set_required: 'Add it to a change, which can be approved and then applied.',
  effect_changed: 'Make the preview anew, look at it, and apply it then.',
  secrets_in_bundle:
    'Look at the single values under Parameters, or ask an administrator for the permission secrets.reveal.',
  secret_key_missing: 'Nothing is lost: it can be done once the key is back.',
  secret_unreadable: 'Set the secret again.',
  secret_in_clear: 'Save the draft again, then publish it.',
};

interface ProblemProps {
  problem: ApiProblem;
  /** Gives it a button to try again. */
  onRetry?: () => void;
  /** What can be done about it. */
  children?: ComponentChildren;
}

/** The alert. */
export function Problem({ problem, onRetry, children = NEXT_STEPS[problem.code] }: ProblemProps) {
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
      {left > 0 ? `It can be tried again in ${spanOf(left)}.` : 'It can be tried again now.'}
    </p>
  );
}

const spanOf = (seconds: number) => (seconds > 120 ? `${Math.ceil(seconds / 60)} min` : `${seconds} s`);
