/** A card with a form that changes settings. Those who may not change them see them, and why they may not. */

import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ApiProblem } from '../client.ts';
import { type Run, useDeed } from './dialog.tsx';
import { Problem } from './problem.tsx';

interface Props {
  heading: string;
  /** Why the user may not change them; null: they may. */
  reason: string | null;
  save: Run;
  /** Something differs from what is saved. */
  isChanged: boolean;
  /** Goes back to what is inherited; null where nothing is set here. */
  reset: Run | null;
  children: (problem: ApiProblem | null) => ComponentChildren;
}

export function SettingsForm({ heading, reason, save, isChanged, reset, children }: Props) {
  const id = useId();
  const saving = useDeed(save);
  const resetting = useDeed(reset ?? (async () => null));
  const problem = saving.problem ?? resetting.problem;
  const isBusy = saving.isBusy || resetting.isBusy;
  return (
    <form
      class="card"
      aria-labelledby={`${id}-heading`}
      onSubmit={(event) => {
        event.preventDefault();
        resetting.forget();
        void saving.start();
      }}
    >
      <h2 id={`${id}-heading`}>{heading}</h2>
      {reason !== null && (
        <p id={`${id}-reason`} class="hint">
          {reason}
        </p>
      )}
      <fieldset
        disabled={reason !== null}
        aria-labelledby={`${id}-heading`}
        aria-describedby={reason === null ? undefined : `${id}-reason`}
      >
        {children(problem)}
        <div class="bar">
          <button type="submit" class="primary" disabled={isBusy || !isChanged} aria-busy={saving.isBusy}>
            Save
          </button>
          {reset !== null && (
            <button
              type="button"
              disabled={isBusy}
              onClick={() => {
                saving.forget();
                void resetting.start();
              }}
            >
              Inherit all
            </button>
          )}
        </div>
      </fieldset>
      {problem !== null && <Problem problem={problem} />}
    </form>
  );
}
