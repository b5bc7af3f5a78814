/** Words for states, each with a shape and a colour of its own, so that no state is told by colour alone. */

import type { ComponentChildren } from 'preact';

export type Tone = 'good' | 'warn' | 'bad' | 'idle' | 'info';

const SHAPES: Record<Tone, string> = {
  good: 'M3 8.5 6.5 12 13 4.5',
  warn: 'M8 2.5 14.5 13.5H1.5ZM8 6.5v3M8 11.6v.4',
  bad: 'M4 4l8 8M12 4l-8 8',
  idle: 'M8 2.5a5.5 5.5 0 1 0 .01 0ZM5.5 8h5',
  info: 'M8 2.5a5.5 5.5 0 1 0 .01 0ZM8 7v4M8 4.9v.2',
};

const TONES: Record<string, Tone> = {
  Compliant: 'good',
  NonCompliant: 'warn',
  Error: 'bad',
  Warning: 'warn',
  Unknown: 'idle',
  Declared: 'good',
  Served: 'info',
  Told: 'idle',
  Published: 'good',
  Draft: 'info',
  Withdrawn: 'warn',
  Done: 'good',
  Running: 'info',
  Failed: 'bad',
  Applied: 'good',
  Paused: 'warn',
  Halted: 'bad',
  Completed: 'good',
  Superseded: 'idle',
  Waiting: 'idle',
  Open: 'info',
  Scheduled: 'info',
  Discarded: 'idle',
  Unresolvable: 'bad',
  Changed: 'info',
  Unchanged: 'idle',
  Pending: 'info',
  Delivered: 'good',
};

/** A word with a shape. Without a tone it is that of the word, as the API spells it. */
export function Mark({ word, tone, children }: { word: string; tone?: Tone; children?: ComponentChildren }) {
  const shown = tone ?? TONES[word] ?? 'idle';
  return (
    <span class={`mark ${shown}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true" class="mark-shape">
        <path d={SHAPES[shown]} />
      </svg>
      <span>{children ?? word}</span>
    </span>
  );
}

/** The compliance of a node: Compliant, NonCompliant, Error or Unknown. */
export function StatusMark({ status }: { status: string }) {
  return <Mark word={status} />;
}

/** How the server knows what a node runs: Declared, Served, Told. Null: it does not know. */
export function EvidenceMark({ evidence }: { evidence: string | null }) {
  return evidence === null ? <span class="muted">none</span> : <Mark word={evidence} />;
}
