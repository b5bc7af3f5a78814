/** What the doctor finds, and what a check is. */

import { setTimeout as sleep } from 'node:timers/promises';
import { HawserError } from '../../lib/errors.ts';

/**
 * An error means that something is lost, refused or open to others. A warning means that it will be, or nearly is. An
 * information is no fault.
 */
export type Severity = 'error' | 'warning' | 'information';

/** Anybody who may run the program may see it, so it never holds a secret. */
export interface Finding {
  severity: Severity;
  /** A path, a setting, a table, or a repository and one of its refs. */
  where: string;
  what: string;
  /** What to do; null where nothing need be done. */
  remedy: string | null;
}

export interface Check {
  name: string;
  /** What was looked at, in a few words. */
  summary: string;
  findings: readonly Finding[];
}

const findingOf =
  (severity: Severity) =>
  (where: string, what: string, remedy: string | null = null): Finding => ({ severity, where, what, remedy });

export const faultOf = findingOf('error');
export const warningOf = findingOf('warning');
export const noteOf = findingOf('information');

/** Milliseconds that an operation of a running server may take: the time between two looks at what seems wrong. */
export const PAUSE_BEFORE_LOOKING_AGAIN = 1_000;

/** What both of two looks find. A running server may have been in the middle of an operation at one of them. */
export async function lookTwice(look: () => Promise<Finding[]>): Promise<Finding[]> {
  const first = await look();
  if (!first.some(isDoubtful)) return first;
  await sleep(PAUSE_BEFORE_LOOKING_AGAIN);
  return confirmed(first, await look());
}

/** The findings of a second look, without the faults that the first look did not find. */
export function confirmed(before: readonly Finding[], now: readonly Finding[]): Finding[] {
  const known = new Set(before.map(keyOf));
  return now.filter((finding) => !isDoubtful(finding) || known.has(keyOf(finding)));
}

export const isDoubtful = ({ severity }: Finding) => severity !== 'information';

const keyOf = ({ where, what }: Finding) => `${where}\n${what}`;

/** A number with its noun: `1 ref`, `2 refs`. */
export const several = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The message of an error, and that of its cause where it has one. */
export function describeFailure(error: unknown): string {
  if (error instanceof HawserError && error.cause instanceof Error)
    return `${error.message} (${error.cause.message})`;
  return error instanceof Error ? error.message : String(error);
}
