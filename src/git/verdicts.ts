/**
 * What was found out about objects, kept for good: what an object id stands for never changes. It lies in a file
 * of the repository too, so that a start does not read two thousand tags. The file can be lost or cut short
 * without harm; it is only ever appended to, a line per verdict.
 */

import { join } from 'node:path';
import type { AtomicFs } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';

const FILE = 'hawser-checked';
/** The file is written anew once it has so many lines, and most of them of refs that are gone. */
const MIN_LINES_TO_SHRINK = 1_000;

/** `V` is what JSON can hold, and never undefined. */
export class Verdicts<V> {
  private readonly fs: AtomicFs;
  private readonly gitdir: string;
  private readonly rules: number;
  private readonly memory = new Map<string, V>();
  private unsaved: string[] = [];
  private lines = 0;
  /** So many lines are worth a count of the refs. */
  private enough = MIN_LINES_TO_SHRINK;
  private loading: Promise<void> | undefined;

  /** What follows other `rules` than these is passed over. */
  constructor(fs: AtomicFs, gitdir: string, rules: number) {
    this.fs = fs;
    this.gitdir = gitdir;
    this.rules = rules;
  }

  /** Reads what was found out before, the first time. */
  load(): Promise<void> {
    this.loading ??= this.readFile();
    return this.loading;
  }

  get(key: string): V | undefined {
    return this.memory.get(key);
  }

  remember(key: string, value: V): void {
    if (this.memory.has(key)) return;
    this.memory.set(key, value);
    this.unsaved.push(this.format(key, value));
  }

  /** Writes what was found out since the last time; what fails is found out again after the next start. */
  async save(keysOfNow: () => readonly string[]): Promise<void> {
    if (this.unsaved.length === 0) return;
    const lines = this.unsaved;
    this.unsaved = [];
    this.lines += lines.length;
    await this.fs.append(join(this.gitdir, FILE), lines.join('')).catch(() => undefined);
    if (this.lines > this.enough) await this.shrink(keysOfNow());
  }

  private async shrink(keys: readonly string[]): Promise<void> {
    this.enough = Math.max(MIN_LINES_TO_SHRINK, 4 * keys.length);
    if (this.lines < 4 * keys.length) return;
    const lines = keys.map((key) => ({ key, value: this.memory.get(key) }));
    const text = lines.map(({ key, value }) => (value === undefined ? '' : this.format(key, value))).join('');
    this.lines = keys.length;
    await this.fs.writeFile(join(this.gitdir, FILE), text).catch(() => undefined);
  }

  private async readFile(): Promise<void> {
    const data = await unlessAbsent(this.fs.readFile(join(this.gitdir, FILE)), null).catch(() => null);
    for (const line of data?.toString('utf8').split('\n') ?? []) {
      this.lines += 1;
      const entry = this.parseLine(line);
      if (entry) this.memory.set(...entry);
    }
  }

  private format(key: string, value: V): string {
    return `${JSON.stringify([this.rules, key, value])}\n`;
  }

  /** Null for a line that a crash cut short, or that follows other rules. */
  private parseLine(line: string): [string, V] | null {
    try {
      const [rules, key, value] = JSON.parse(line);
      return rules === this.rules && typeof key === 'string' && value !== undefined ? [key, value] : null;
    } catch {
      return null;
    }
  }
}
