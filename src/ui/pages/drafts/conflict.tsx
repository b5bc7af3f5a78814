/** Somebody else has saved the file that was being edited: both sides, and what can be done. */

import type { ApiProblem } from '../../client.ts';
import { useDeed } from '../../components/dialog.tsx';
import { useDiffMode } from '../../components/diff-mode.tsx';
import { Problem } from '../../components/problem.tsx';
import { TextDiff } from '../../components/text-diff.tsx';
import type { ServerFile } from './file-text.ts';

interface ConflictProps {
  path: string;
  /** The refusal that led here; null where somebody only wanted to see both sides. */
  problem: ApiProblem | null;
  /** What is there now; null if the file was deleted. */
  theirs: ServerFile | null;
  mine: string;
  onTakeTheirs: () => void;
  /** Saves what was typed in place of what is there now. */
  onKeepMine: () => Promise<string | null>;
  onGoOn: () => void;
}

export function Conflict({ path, problem, theirs, mine, onTakeTheirs, onKeepMine, onGoOn }: ConflictProps) {
  const mode = useDiffMode();
  const keep = useDeed(onKeepMine);
  const refusal = keep.problem ?? problem;
  return (
    <div class="part">
      {refusal !== null && (
        <Problem problem={refusal}>{whatHappened(theirs)} Nothing that you typed is lost.</Problem>
      )}
      {refusal === null && <p class="warning">{whatHappened(theirs)} Nothing that you typed is lost.</p>}
      {theirs !== null && theirs.text === null && (
        <p>What is there now is no text, so it cannot be compared here.</p>
      )}
      {(theirs === null || theirs.text !== null) && (
        <>
          <p>Before: what is there now. After: what you typed.</p>
          <TextDiff path={path} before={theirs?.text ?? ''} after={mine} mode={mode} />
        </>
      )}
      <div class="bar">
        <button type="button" onClick={onTakeTheirs}>
          Take theirs
        </button>
        <button
          type="button"
          disabled={keep.isBusy}
          aria-busy={keep.isBusy}
          onClick={() => void keep.start()}
        >
          Keep mine
        </button>
        <button type="button" onClick={onGoOn}>
          Go on editing
        </button>
      </div>
      <p class="hint">
        <q>Take theirs</q> forgets what you typed. <q>Keep mine</q> saves it in place of what is there now.
      </p>
    </div>
  );
}

function whatHappened(theirs: ServerFile | null): string {
  return theirs === null
    ? 'Somebody has deleted this file since you opened it.'
    : 'Somebody has changed this file since you opened it.';
}
