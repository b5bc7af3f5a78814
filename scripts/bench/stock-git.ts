/** What stock git takes to publish files on the same disk: the baseline of the part "Publishing". */

import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Git flushes all that it writes, as Hawser does. By default it would flush only some of it. */
const FLUSHED = ['-c', 'core.fsync=all', '-c', 'core.fsyncMethod=fsync'];
const PERSON = { NAME: 'bench', EMAIL: 'bench@localhost' };

/** An author's own repository, in which stock git commits and tags. */
export class StockGit {
  private readonly folder: string;
  private readonly env: NodeJS.ProcessEnv;

  constructor(folder: string) {
    this.folder = folder;
    // No settings of this machine's user count, so that nothing is signed and no hook runs.
    const own = { HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };
    const people = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
      Object.entries(PERSON).map(([part, value]) => [`GIT_${role}_${part}`, value]),
    );
    this.env = { PATH: process.env['PATH'], ...own, ...Object.fromEntries(people) };
  }

  async begin(): Promise<void> {
    mkdirSync(this.folder);
    await this.git('init', '--quiet');
  }

  /**
   * Makes a version of these files and tags it.
   * @returns milliseconds of `git add -A`, `git commit` and `git tag -a` together
   */
  async publish(version: string, files: Readonly<Record<string, Buffer>>): Promise<number> {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), content);
    }
    const start = performance.now();
    await this.git('add', '-A');
    await this.git('commit', '--quiet', '-m', `Version ${version}`);
    await this.git('tag', '-a', `v${version}`, '-m', `Version ${version}`);
    return performance.now() - start;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }

  private async git(...args: string[]): Promise<void> {
    await run('git', ['-C', this.folder, ...FLUSHED, ...args], { env: this.env });
  }
}
