/**
 * Remembers which content a commit of a server has, so that a push of what is there already takes one request. A commit
 * never changes its content, so what is remembered cannot be out of date. All is done without it too.
 */

import { readFileSync } from 'node:fs';
import { ownFile, writeOwnFile } from '../own-files.ts';

const MOST = 500;

export class KnownContents {
  private readonly file: string;
  private readonly origin: string;
  /** The digests of contents, the one that was learned last at the end. */
  private readonly known: Map<string, string>;

  /** @param env of which XDG_CACHE_HOME and HOME count, on Windows LOCALAPPDATA */
  constructor(env: Readonly<Record<string, string | undefined>>, origin: string) {
    this.file = ownFile(env, 'cache', 'contents.json');
    this.origin = origin;
    this.known = new Map(readPairs(this.file));
  }

  /** @returns the digest of the content; null where it is not known */
  find(commit: string): string | null {
    return this.known.get(this.keyOf(commit)) ?? null;
  }

  /** A failure to write costs nothing but a request of the next push. */
  async keep(commit: string, digest: string): Promise<void> {
    const key = this.keyOf(commit);
    if (this.known.get(key) === digest) return;
    this.known.delete(key);
    this.known.set(key, digest);
    const pairs = [...this.known].slice(-MOST);
    await writeOwnFile(this.file, `${JSON.stringify(pairs)}\n`).catch(() => undefined);
  }

  private keyOf(commit: string): string {
    return `${this.origin} ${commit}`;
  }
}

function readPairs(file: string): [string, string][] {
  try {
    const pairs: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (!Array.isArray(pairs)) return [];
    return pairs.filter((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText));
  } catch {
    return [];
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}
