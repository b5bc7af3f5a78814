/** A run of any cleanup, and what it has done so far. */

import { HawserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

export interface DeletedVersion {
  name: string;
  version: string;
  /** Epoch milliseconds. */
  createdAt: number;
  reason: string;
}

/** Counts what a cleanup does while it runs, so that the result of an interrupted cleanup is known too. */
export class Outcome {
  deletedCount = 0;
  keptCount = 0;
  /** How many of those deleted went because all together were too large. */
  overSizeCount = 0;
  readonly deletedVersions: DeletedVersion[] = [];
  /** Whether deleted versions left objects, which maintenance must drop. */
  leftObjects = false;
  private readonly failures: { name: string; error: unknown }[] = [];

  deleted(version: DeletedVersion): void {
    this.deletedVersions.push(version);
    this.deletedCount += 1;
  }

  /** Notes that one of many could not be cleaned. The others are cleaned all the same. */
  failed(name: string, error: unknown, log: Log): void {
    log.error({ err: error, name }, 'a cleanup could not be carried out');
    this.failures.push({ name, error });
  }

  get firstFailure(): { name: string; error: unknown } | undefined {
    return this.failures[0];
  }

  /** The text on the failures in the history. It never tells more than a caller may see. */
  get failureText(): string | null {
    const [first, ...others] = this.failures;
    if (first === undefined) return null;
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
    return `${first.name}: ${safeMessage(first.error)}${more}`;
  }
}

export function safeMessage(error: unknown): string {
  return error instanceof HawserError ? error.message : 'An unexpected fault, of which the log tells more';
}

/** A run of any cleanup. */
export interface CleanupRun {
  runId: string;
  /** When the run began, in epoch milliseconds. */
  now: number;
  isDryRun: boolean;
  outcome: Outcome;
  /** Aborted when the server is to end. */
  signal: AbortSignal;
}
