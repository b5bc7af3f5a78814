/**
 * The messages of the commits of a rollout. The subject says what happened, the text is the reason, and the rest is in
 * trailers, which are the last paragraph and so cannot be forged by the reason.
 */

import {
  NO_COUNTS,
  ROLLOUT_CAUSES,
  ROLLOUT_STATES,
  type RolloutCounts,
  type RolloutState,
} from '../domain/rollout.ts';
import { readTrailers, tidyText, withoutSignature, writeMessage } from '../git/trailers.ts';
import { toTimestamp } from '../lib/clock.ts';
import type { RolloutMessage } from './types.ts';

const STATE = 'State';
const STATE_BEFORE = 'State-Before';
const CAUSE = 'Cause';
const COUNTS = 'Counts';
const MOVED_AT = 'Moved-At';

/** How `git log` shows the counts: `offered 10, taken 9, success 8`. */
const WORDS: Record<keyof RolloutCounts, string> = {
  offered: 'offered',
  taken: 'taken',
  success: 'success',
  regression: 'regression',
  alreadyBad: 'already bad',
  silent: 'silent',
  absent: 'absent',
};
const NAMES = Object.keys(WORDS) as (keyof RolloutCounts)[];
const COUNTED = new RegExp(`^${NAMES.map((name) => `${WORDS[name]} (\\d{1,15})`).join(', ')}$`);

/** What a message that we wrote says. */
export interface ReadMessage extends RolloutMessage {
  to: RolloutState;
  /** The value of the trailer; undefined without one. */
  movedAt: string | undefined;
}

/** The reason as a message can hold it: tidy, and without what no text has. */
export function tidyReason(reason: string): string {
  const shown = Buffer.from(reason)
    .toString('utf8')
    .replace(/[^\P{Cc}\n\t]/gu, '');
  return tidyText(shown) ?? '';
}

/** @param label the repository and the version, with which the subject begins */
export function printRolloutMessage(
  label: string,
  to: RolloutState,
  { what, from, reason, cause, counts }: RolloutMessage,
  at: number,
): string {
  const states = { ...(from !== null && { [STATE_BEFORE]: from }), [STATE]: to };
  const counted = NAMES.map((name) => `${WORDS[name]} ${counts[name]}`).join(', ');
  const why = cause !== null && { [CAUSE]: cause };
  const trailers = { ...states, ...why, [COUNTS]: counted, [MOVED_AT]: toTimestamp(at) };
  return writeMessage(`${label}: ${what}`, trailers, quoted(tidyReason(reason)) || null);
}

/** @returns null for a message that is not as `printRolloutMessage` makes it */
export function readRolloutMessage(message: string): ReadMessage | null {
  const trailers = readTrailers(message);
  const to = stateOf(trailers.get(STATE.toLowerCase()));
  const counts = readCounts(trailers.get(COUNTS.toLowerCase()) ?? '');
  if (to === null || counts === null) return null;
  const text = withoutSignature(message);
  const [start, end] = [text.indexOf('\n\n'), text.lastIndexOf('\n\n')];
  return {
    // A repository that was adopted may have had another name.
    what: text.slice(text.indexOf(': ') + 2, start),
    from: stateOf(trailers.get(STATE_BEFORE.toLowerCase())),
    to,
    cause: ROLLOUT_CAUSES.find((cause) => cause === trailers.get(CAUSE.toLowerCase())) ?? null,
    reason: unquoted(tidyText(text.slice(start, end)) ?? ''),
    counts,
    movedAt: trailers.get(MOVED_AT.toLowerCase()),
  };
}

function readCounts(text: string): RolloutCounts | null {
  const found = COUNTED.exec(text)?.slice(1).map(Number);
  if (found === undefined) return null;
  return { ...NO_COUNTS, ...Object.fromEntries(NAMES.map((name, at) => [name, found[at]])) };
}

function stateOf(text: string | undefined): RolloutState | null {
  return ROLLOUT_STATES.find((state) => state === text) ?? null;
}

/** Git would take such a line, and all below it, for a signature. A space more before it says that it is none. */
function quoted(text: string): string {
  return text.replace(/^( *-----BEGIN )/gm, ' $1');
}

function unquoted(text: string): string {
  return text.replace(/^ ( *-----BEGIN )/gm, '$1');
}
