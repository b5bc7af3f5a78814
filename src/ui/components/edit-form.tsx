/** Forms that change what is there already. What was typed stays, whoever else changes the same thing meanwhile. */

import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { ApiProblem } from '../client.ts';
import { refresh } from '../resource.ts';
import { type Run, useDeed } from './dialog.tsx';
import { Problem } from './problem.tsx';

export interface Edit<T extends object> {
  /** What is there, with what was typed in its place. */
  value: T;
  /** The members that differ from what is there. */
  changes: Partial<T>;
  isChanged: boolean;
  /** Of what was there when the typing began. */
  etag: string | null;
  set<K extends keyof T>(member: K, value: T[K]): void;
  /** Goes back to what is there. */
  forget(): void;
  /** Means to change what is there now, not what was there when the typing began. */
  keep(): void;
}

/** @param etag that of `data`, for If-Match */
export function useEdit<T extends object>(data: T, etag: string | null): Edit<T> {
  const [typed, setTyped] = useState<{ members: Partial<T>; etag: string | null } | null>(null);
  const members = Object.entries(typed?.members ?? {}).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(data[name as keyof T]),
  );
  const changes = Object.fromEntries(members) as Partial<T>;
  const isChanged = members.length > 0;
  return {
    value: { ...data, ...changes },
    changes,
    isChanged,
    etag: (isChanged ? typed?.etag : null) ?? etag,
    set: (member, value) =>
      setTyped((before) => ({
        members: { ...before?.members, [member]: value } as Partial<T>,
        etag: isChanged ? (before?.etag ?? null) : etag,
      })),
    forget: () => setTyped(null),
    keep: () => setTyped((before) => before && { ...before, etag: null }),
  };
}

interface EditFormProps<T extends object> {
  /** The accessible name of the form. */
  label: string;
  edit: Edit<T>;
  /** Sends the change, and gives what is said about it then. */
  run: Run;
  /** Why nothing can be changed; it is shown, and all fields are disabled. */
  reason?: string | null;
  deed?: string;
  /** Why it cannot be saved although the fields can be changed. */
  saveReason?: string | null;
  /** More buttons beside that of the deed. */
  beside?: ComponentChildren;
  children: (problem: ApiProblem | null) => ComponentChildren;
}

/** A form with a button to save and one to discard. A refusal leaves in place what was typed. */
export function EditForm<T extends object>(props: EditFormProps<T>) {
  const { label, edit, run, reason = null, deed = 'Save', saveReason = null, beside, children } = props;
  const id = useId();
  const { isBusy, problem, start, forget } = useDeed(async () => {
    const done = await run();
    // Until what is there has been read, the form shows what was typed, so that nothing jumps back and forth.
    await refresh();
    edit.forget();
    return done;
  }, false);
  // Somebody else has changed it: the fields that were not typed in show their change, and saving becomes possible.
  const takeOver = useDeed(async () => {
    await refresh();
    edit.keep();
    forget();
    return null;
  }, false);
  const submit = (event: Event) => {
    event.preventDefault();
    if (edit.isChanged && saveReason === null && !takeOver.isBusy) void start();
  };
  const discard = () => {
    edit.forget();
    forget();
  };
  const why = reason ?? saveReason;
  return (
    <form aria-label={label} class="edit" onSubmit={submit}>
      {reason !== null && (
        <p id={`${id}-reason`} class="hint">
          {reason}
        </p>
      )}
      <fieldset disabled={reason !== null} aria-describedby={reason === null ? undefined : `${id}-reason`}>
        {children(problem)}
      </fieldset>
      {problem !== null && <Problem problem={problem} />}
      {reason === null && (
        <div class="bar">
          <button
            type="submit"
            class="primary"
            disabled={isBusy || takeOver.isBusy || !edit.isChanged || why !== null}
            aria-busy={isBusy}
            aria-describedby={why === null ? undefined : `${id}-reason`}
          >
            {deed}
          </button>
          {edit.isChanged && (
            <button type="button" onClick={discard}>
              Discard changes
            </button>
          )}
          {problem?.status === 412 && (
            <button type="button" aria-busy={takeOver.isBusy} onClick={() => void takeOver.start()}>
              Keep my changes and read the rest anew
            </button>
          )}
          {beside}
          {saveReason !== null && (
            <span id={`${id}-reason`} class="hint">
              {saveReason}
            </span>
          )}
        </div>
      )}
    </form>
  );
}
