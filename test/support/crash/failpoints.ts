/** The places at which the server under test can be killed, and the kill itself. */

import { relative, sep } from 'node:path';
import type { Journal } from './journal.ts';

/** Tells the server to kill itself when it passes this failpoint for the n-th time, counted from 1. */
export interface Doom {
  /** `ANY` counts all of them. */
  point: string;
  passing: number;
  /** It dies so many failpoints later, whichever they are; default: at once. */
  later?: number;
}

export const ANY = '*';

const AT_START = ' (at start)';

/** The files that only we know, at the top of a repository. */
const OWN_FILES: Record<string, string> = { 'hawser-checked': 'verdicts', 'hawser-unrecorded': 'note' };

export class Failpoints {
  private readonly journal: Journal;
  private doom: Doom | null;
  private passings = 0;
  /** How many failpoints are left after the one of the doom; null before that one. */
  private left: number | null = null;
  private isStarting = true;

  constructor(journal: Journal, doom: Doom | null) {
    this.journal = journal;
    this.doom = doom;
  }

  /** From now on the failpoints have the names of a running server. */
  up(): void {
    this.isStarting = false;
  }

  arm(doom: Doom): void {
    this.doom = doom;
    this.passings = 0;
    this.left = null;
    this.journal.write({ do: 'armed' });
  }

  pass(step: string): void {
    const point = this.isStarting ? step + AT_START : step;
    this.journal.write({ do: 'pass', point });
    if (this.left === null) {
      if (this.doom?.point !== ANY && this.doom?.point !== point) return;
      this.passings += 1;
      if (this.passings !== this.doom?.passing) return;
      this.left = this.doom.later ?? 0;
    } else this.left -= 1;
    if (this.left === 0) process.kill(process.pid, 'SIGKILL');
  }
}

export function isOfStart(point: string): boolean {
  return point.endsWith(AT_START);
}

/**
 * What kind of file the path is for the store, for the names of failpoints. `root` is the folder of all repositories.
 */
export function kindOf(root: string, path: string): string {
  const [kind, repository, first = '', second, third] = relative(root, path).split(sep);
  if (!kind || kind === '..' || !repository) return 'store';
  if (first === '') return 'repository';
  if (first === 'objects') return 'object';
  if (first.startsWith('packed-refs')) return 'packed refs';
  if (first !== 'refs') return OWN_FILES[first] ?? 'settings';
  if (second === 'tags') return 'tag';
  return third === 'draft' || third === 'rollout' ? third : 'branch';
}
