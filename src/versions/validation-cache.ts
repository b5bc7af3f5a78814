/**
 * The results of checks of objects. They are kept for good, because what an object id stands for never changes. A
 * file in the repository holds them too, so that a start does not read two thousand tags. The file can be lost or cut
 * short without harm. Each result is a line that is appended.
 */

import { join } from 'node:path';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { unlessAbsent } from '../git/disk-errors.ts';

const FILE = 'hawser-checked';
/** The file is written again once it has so many lines and most of them belong to refs that are gone. */
const MIN_LINES_TO_SHRINK = 1_000;

/** `V` is a value that JSON can hold, and never undefined. */
export class ValidationCache<V> {
  private readonly fs: AtomicFs;
  private readonly gitdir: string;
  private readonly rules: number;
  private readonly memory = new Map<string, V>();
  private unsaved: string[] = [];
  private lines = 0;
  /** The number of lines from which on the refs are counted. */
  private enough = MIN_LINES_TO_SHRINK;
  private loading: Promise<void> | undefined;

  /** Results that were found by other `rules` are passed over. */
  constructor(fs: AtomicFs, gitdir: string, rules: number) {
    this.fs = fs;
    this.gitdir = gitdir;
    this.rules = rules;
  }

  /** Reads the file, the first time it is called. */
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

  /** Appends the results that are new since the last call. If that fails, the next start finds them again. */
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

  /** Null for a line that a crash cut short, or that was found by other rules. */
  private parseLine(line: string): [string, V] | null {
    try {
      const [rules, key, value] = JSON.parse(line);
      return rules === this.rules && typeof key === 'string' && value !== undefined ? [key, value] : null;
    } catch {
      return null;
    }
  }
}
