/**
 * An administrator who uses stock git inside a bare repository, beside a running server. With PostgreSQL the folder is a
 * cache, in which such a person can read.
 */

import { execFileSync } from 'node:child_process';
import { MAIN } from './configurations.ts';
import type { Hawser } from './hawser.ts';

export class Outside {
  private readonly hawser: Hawser;
  private readonly repository: string;

  constructor(
    hawser: Hawser,
    configuration: string,
    kind: 'configurations' | 'parameters' = 'configurations',
  ) {
    this.hawser = hawser;
    this.repository = `${kind}/${configuration}.git`;
  }

  git(...args: string[]): string {
    return this.pipe('', ...args);
  }

  /** Runs git with this on its standard input. */
  pipe(input: string | Buffer, ...args: string[]): string {
    const person = { NAME: 'Carol', EMAIL: 'carol@example.org' };
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: person.NAME,
      GIT_AUTHOR_EMAIL: person.EMAIL,
      GIT_COMMITTER_NAME: person.NAME,
      GIT_COMMITTER_EMAIL: person.EMAIL,
    };
    const options = { env, input, encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync('git', ['-C', this.hawser.folderOf(this.repository), ...args], options).trim();
  }

  /** Makes an entry of a tree. */
  file(name: string, content = 'x\n'): string {
    return `100644 blob ${this.pipe(content, 'hash-object', '-w', '--stdin')}\t${name}`;
  }

  folderOf(name: string, ...entries: string[]): string {
    return `040000 tree ${this.tree(...entries)}\t${name}`;
  }

  tree(...entries: string[]): string {
    return this.pipe(entries.map((entry) => `${entry}\n`).join(''), 'mktree', '--missing');
  }

  commit(entries: string[] = [this.file(MAIN)], ...message: string[]): string {
    const paragraphs = ['From outside', ...message].flatMap((text) => ['-m', text]);
    return this.git('commit-tree', this.tree(...entries), ...paragraphs);
  }

  /** Makes an annotated tag. */
  tag(version: string, entries?: string[]): void {
    this.git('tag', '-a', `v${version}`, '-m', `Version ${version}`, this.commit(entries));
  }

  draft(version: string, entries?: string[]): void {
    this.git('update-ref', `refs/heads/draft/${version}`, this.commit(entries));
  }
}
