/** Somebody else has saved the draft: both sides beside each other, and the choice between them. */

import { useEffect, useRef } from 'preact/hooks';
import { Problem } from '../../components/problem.tsx';
import { TextDiff } from '../../components/text-diff.tsx';
import { pathOf } from './model.ts';
import { type Draft, isJsonFile, type Saved } from './use-draft.ts';

export function ConflictPart({ draft }: { draft: Draft }) {
  const { conflict } = draft;
  if (conflict !== null) return <Conflict {...{ draft, conflict }} />;
  if (!draft.isOld) return null;
  return (
    <p class="warning" role="status">
      Somebody else has saved this draft meanwhile.{' '}
      {draft.isDirty ? (
        'When you save, this page shows both texts.'
      ) : (
        <button type="button" class="small" onClick={draft.takeTheirs}>
          Show it as it is now
        </button>
      )}
    </p>
  );
}

function Conflict({ draft, conflict }: { draft: Draft; conflict: Saved }) {
  const { data } = conflict;
  const path = pathOf(isJsonFile(data) ? 'application/json' : 'application/yaml');
  const section = useRef<HTMLElement>(null);
  // The button that was pressed stands below a text of any length.
  useEffect(() => section.current?.focus(), []);
  return (
    <section class="part conflict" ref={section} tabIndex={-1} aria-labelledby="conflict">
      <h2 id="conflict">Somebody else has saved this draft</h2>
      {draft.save.problem !== null && <Problem problem={draft.save.problem} />}
      <p>
        What is saved now stands on the left, as removed lines; what you have typed stands on the right, as
        added lines. Nothing of yours is lost: it is still in the text below.
      </p>
      <TextDiff path={path} before={data.content ?? ''} after={draft.text} mode="split" />
      <div class="bar">
        <button type="button" class="primary" onClick={draft.keepMine}>
          Keep mine
        </button>
        <button type="button" onClick={draft.takeTheirs}>
          Take what is saved
        </button>
        <span class="muted">
          Mine is not saved until you press Save again. You can copy lines over first.
        </span>
      </div>
    </section>
  );
}
