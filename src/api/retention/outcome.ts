/** What a cleanup did, added up as it goes along, so that one that is broken off has said what it did. */

import { HawserError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';

export interface DeletedVersion {
  name: string;
  version: string;
  /** Milliseconds. */
  createdAt: number;
  reason: string;
}

export class Outcome {
  deletedCount = 0;
  keptCount = 0;
  readonly deletedVersions: DeletedVersion[] = [];
  /** Whether objects are left in repositories that only maintenance drops. */
  leftObjects = false;
  private readonly failures: { name: string; error: unknown }[] = [];

  deleted(version: DeletedVersion): void {
    this.deletedVersions.push(version);
    this.deletedCount += 1;
  }

  /** One of many could not be cleaned; the others are all the same. */
  failed(name: string, error: unknown, log: Log): void {
    log.error({ err: error, name }, 'a cleanup could not be carried out');
    this.failures.push({ name, error });
  }

  get firstFailure(): { name: string; error: unknown } | undefined {
    return this.failures[0];
  }

  /** What the history of runs tells of the failures; never more than a caller may see. */
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
