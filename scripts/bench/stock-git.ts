/** What stock git takes to publish files on the same disk, the baseline of the part "Publishing", and to push them. */

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Git flushes all that it writes, as Hawser does. By default it would flush only some of it. */
export const FLUSHED = ['-c', 'core.fsync=all', '-c', 'core.fsyncMethod=fsync'];
const PERSON = { NAME: 'bench', EMAIL: 'bench@localhost' };

/** Contents by path. */
type Files = Readonly<Record<string, Buffer>>;

/** An author's own repository, in which stock git commits and tags. */
export class StockGit {
  private readonly folder: string;
  private readonly env: NodeJS.ProcessEnv;

  /** @param more variables of the environment */
  constructor(folder: string, more: NodeJS.ProcessEnv = {}) {
    this.folder = folder;
    // No settings of this machine's user count, so that nothing is signed and no hook runs.
    const own = { HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
    const people = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
      Object.entries(PERSON).map(([part, value]) => [`GIT_${role}_${part}`, value]),
    );
    this.env = { PATH: process.env['PATH'], ...own, ...Object.fromEntries(people), ...more };
  }

  /** @param files the files that every version has, under other contents */
  async begin(files: Files): Promise<void> {
    mkdirSync(this.folder);
    await this.git('init', '--quiet');
    this.write(files);
    await this.git('add', '-A');
    await this.git('commit', '--quiet', '-m', 'Begin');
  }

  /**
   * Makes a version of these files and tags it.
   * @returns milliseconds of `git commit -a` and `git tag -a` together
   */
  async publish(version: string, files: Files): Promise<number> {
    this.write(files);
    const start = performance.now();
    await this.git('commit', '--quiet', '-a', '-m', `Version ${version}`);
    await this.git('tag', '-a', `v${version}`, '-m', `Version ${version}`);
    return performance.now() - start;
  }

  /** @throws Error with what git printed if the push is refused */
  async push(remote: string, ...what: string[]): Promise<void> {
    await this.git('push', '--quiet', remote, ...what);
  }

  /** Makes a commit of these files beside those that are there. */
  async commit(files: Readonly<Record<string, Buffer | string>>): Promise<void> {
    this.write(files);
    await this.git('add', '-A');
    await this.git('commit', '--quiet', '-m', 'A change');
  }

  private write(files: Readonly<Record<string, Buffer | string>>): void {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), content);
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private async git(...args: string[]): Promise<void> {
    await run('git', ['-C', this.folder, ...FLUSHED, ...args], { env: this.env });
  }
}
