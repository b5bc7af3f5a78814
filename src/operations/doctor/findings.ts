/** What the doctor finds, and what a check is. */

import { setTimeout as sleep } from 'node:timers/promises';
import { HawserError } from '../../lib/errors.ts';

/** error: something is lost, refused or open to others. warning: it will be, or was only nearly. information: no fault. */
export type Severity = 'error' | 'warning' | 'information';

/** Fit to be shown to anybody who may run the program: never a secret. */
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

export const faultOf = (where: string, what: string, remedy: string | null): Finding => ({
  severity: 'error',
  where,
  what,
  remedy,
});

export const warningOf = (where: string, what: string, remedy: string | null): Finding => ({
  ...faultOf(where, what, remedy),
  severity: 'warning',
});

export const noteOf = (where: string, what: string, remedy: string | null = null): Finding => ({
  ...faultOf(where, what, remedy),
  severity: 'information',
});

/** How long what a running server is in the middle of may take. */
export const PAUSE_BEFORE_LOOKING_AGAIN = 1_000;

/** What both looks find: a running server may have been in the middle of something at one of them. */
export async function lookTwice(look: () => Promise<Finding[]>): Promise<Finding[]> {
  const first = await look();
  if (!first.some(isDoubtful)) return first;
  await sleep(PAUSE_BEFORE_LOOKING_AGAIN);
  return confirmed(first, await look());
}

/** A note stands by itself; a fault only if it was found before. */
export function confirmed(before: readonly Finding[], now: readonly Finding[]): Finding[] {
  const known = new Set(before.map(keyOf));
  return now.filter((finding) => !isDoubtful(finding) || known.has(keyOf(finding)));
}

export const isDoubtful = ({ severity }: Finding) => severity !== 'information';

const keyOf = ({ where, what }: Finding) => `${where}\n${what}`;

/** `1 ref`, `2 refs`. */
export const several = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** What went wrong, and the system's own word for it where there is one. */
export function describeFailure(error: unknown): string {
  if (error instanceof HawserError && error.cause instanceof Error)
    return `${error.message} (${error.cause.message})`;
  return error instanceof Error ? error.message : String(error);
}
