/** Dialogs, and the deeds that are done in them. They are the browser's own: Escape closes, focus stays inside. */

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { addToChange, type Collectable, labelOf, reasonAgainstProposing, useBasket } from '../basket.ts';
import { ApiProblem } from '../client.ts';
import { refresh } from '../resource.ts';
import { leaveForSignIn } from '../sign-in.ts';
import { notify } from './notices.tsx';
import { Problem } from './problem.tsx';

interface DialogProps {
  heading: string;
  onClose: () => void;
  isWide?: boolean;
  /** Escape does not close it: what it shows cannot be shown again. It needs a button that closes it. */
  isKept?: boolean;
  children: ComponentChildren;
}

/** It is open for as long as it is rendered. */
export function Dialog({ heading, onClose, isWide = false, isKept = false, children }: DialogProps) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    dialog?.showModal();
    return () => {
      dialog?.close();
      // The browser gives focus back itself only where the dialog stays in the document.
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      class={isWide ? 'wide' : ''}
      onKeyDown={(event) => {
        // Of two cancel events in a row, Chromium obeys only the first.
        if (isKept && event.key === 'Escape') event.preventDefault();
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (!isKept) onClose();
      }}
    >
      <h2 id={id}>{heading}</h2>
      {children}
    </dialog>
  );
}

/** What a deed does, and what it says when it was done. Null says nothing. */
export type Run = () => Promise<string | null>;

export interface Deed {
  isBusy: boolean;
  problem: ApiProblem | null;
  /** Does it. All that is shown is read anew afterwards. */
  start(): Promise<boolean>;
  forget(): void;
}

/**
 * A deed with its state: under way, refused, done. One click does it once.
 * @param changes false if nothing of what is shown can be another one afterwards
 */
export function useDeed(run: Run, changes = true): Deed {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const start = async () => {
    if (isBusy) return false;
    setBusy(true);
    setProblem(null);
    try {
      const done = await run();
      if (done !== null) notify(done);
      if (changes) void refresh();
      return true;
    } catch (error) {
      if (!(error instanceof ApiProblem)) throw error;
      if (error.status === 401) leaveForSignIn();
      setProblem(error);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, start, forget: () => setProblem(null) };
}

interface DeedDialogProps {
  heading: string;
  /** The button's text: the deed itself. */
  deed: string;
  run: Run;
  onClose: () => void;
  isDanger?: boolean;
  isWide?: boolean;
  /** The deed cannot be done yet. */
  isDisabled?: boolean;
  /** What is shown while the deed is under way. */
  underWay?: ComponentChildren;
  /** What can go into a change set in place of being done at once. */
  collected?: Collectable | undefined;
  children?: ComponentChildren | ((problem: ApiProblem | null) => ComponentChildren);
}

/** A form in a dialog. It closes when the deed is done; a refusal is shown in it. */
export function DeedDialog(props: DeedDialogProps) {
  const {
    heading,
    deed,
    run,
    onClose,
    isDanger = false,
    isWide = false,
    isDisabled = false,
    underWay,
    collected,
    children,
  } = props;
  const form = useRef<HTMLFormElement>(null);
  const deedItself = useDeed(run);
  const basket = useBasket();
  const adding = useDeed(async () => (collected === undefined ? null : addToChange(basket, collected)));
  const isBusy = deedItself.isBusy || adding.isBusy;
  const problem = deedItself.problem ?? adding.problem;
  const start = async (wanted: Deed, other: Deed) => {
    other.forget();
    if (await wanted.start()) onClose();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void start(deedItself, adding);
  };
  const add = () => {
    if (form.current?.reportValidity()) void start(adding, deedItself);
  };
  return (
    <Dialog heading={heading} onClose={onClose} isWide={isWide}>
      <form ref={form} onSubmit={submit}>
        {typeof children === 'function' ? children(problem) : children}
        {problem !== null && <Refusal problem={problem} />}
        {deedItself.isBusy && underWay}
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            {isBusy ? 'Close' : 'Cancel'}
          </button>
          {collected !== undefined && reasonAgainstProposing() === null && (
            <button type="button" disabled={isBusy || isDisabled} aria-busy={adding.isBusy} onClick={add}>
              {labelOf(basket)}
            </button>
          )}
          <button
            type="submit"
            class={isDanger ? 'danger' : 'primary'}
            disabled={isBusy || isDisabled}
            aria-busy={deedItself.isBusy}
          >
            {deed}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** In a long dialog it would stand out of sight. */
function Refusal({ problem }: { problem: ApiProblem }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => element.current?.scrollIntoView({ block: 'nearest' }), [problem]);
  return (
    <div ref={element}>
      <Problem problem={problem} />
    </div>
  );
}

interface DeedButtonProps {
  deed: string;
  run: Run;
  /** Why it cannot be done; it is shown beside the button. */
  reason?: string | null;
  /** It is not known yet whether it can be done. */
  isBusy?: boolean;
  class?: string;
  /** What it is done to, for screen readers, where several buttons say the same. */
  about?: string;
}

/** A deed without questions. A refusal is shown beside the button. */
export function DeedButton(props: DeedButtonProps) {
  const { deed, run, reason = null, class: classes = '', about } = props;
  const { problem, start, ...itself } = useDeed(run);
  const isBusy = itself.isBusy || props.isBusy === true;
  const id = useId();
  return (
    <span class="deed">
      <button
        type="button"
        class={classes}
        disabled={isBusy || reason !== null}
        aria-busy={isBusy}
        aria-describedby={reason === null ? undefined : id}
        onClick={() => void start()}
      >
        {deed}
        {about !== undefined && <span class="visually-hidden"> {about}</span>}
      </button>
      {reason !== null && (
        <span id={id} class="hint">
          {reason}
        </span>
      )}
      {problem !== null && <Problem problem={problem} />}
    </span>
  );
}
