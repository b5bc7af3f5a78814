/** A repository, a client's clone of it, packs made by stock git, and quarantines over the repository. */

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { Quarantine, type QuarantineOptions } from '../../../../src/git/push/quarantine.ts';
import { HawserError } from '../../../../src/lib/errors.ts';
import { runGit } from '../support.ts';

export const SYSTEM_PATH = process.env['PATH'] ?? '';
export const MIB = 1024 * 1024;

export const LIMITS = {
  packBytes: 100 * MIB,
  objects: 100_000,
  commits: 1_000,
  bytes: 1_000 * MIB,
  objectBytes: 100 * MIB,
};

type OpenOptions = Partial<Omit<QuarantineOptions, 'limits'>> & {
  limits?: Partial<QuarantineOptions['limits']>;
};

export class Site {
  readonly root = mkdtempSync(join(tmpdir(), 'hawser-quarantine-'));
  /** The repository of the server. */
  readonly gitdir = join(this.root, 'web.git');
  /** The client's working copy. */
  readonly work = join(this.root, 'work');
  private readonly opened: Quarantine[] = [];

  constructor() {
    runGit(this.root, 'init', '-q', '--bare', '-b', 'main', this.gitdir);
    runGit(this.root, 'init', '-q', '-b', 'main', this.work);
  }

  get folder(): string {
    return join(this.root, `.tmp-${this.opened.length}`);
  }

  git(...args: string[]): string {
    return runGit(this.work, ...args);
  }

  server(...args: string[]): string {
    return runGit(this.gitdir, ...args);
  }

  /** Commits files of the client by path. @returns the id of the commit */
  commit(files: Record<string, string | Buffer>): string {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(this.work, path, '..'), { recursive: true });
      writeFileSync(join(this.work, path), content);
    }
    this.git('add', '-A');
    this.git('commit', '-q', '--allow-empty', '-m', `commit of ${Object.keys(files).join(' ')}`);
    return this.git('rev-parse', 'HEAD');
  }

  /** Gives the server a ref, as if it had been pushed before. */
  publish(commit: string, ref = 'refs/heads/main'): string {
    this.git('push', '-q', '--force', this.gitdir, `${commit}:${ref}`);
    return commit;
  }

  /** What a client sends for these revisions, such as `HEAD` and `^main`. */
  pack(revisions: readonly string[], ...options: string[]): Buffer {
    return this.packObjects(['--revs', ...options], revisions);
  }

  /** A pack of exactly these objects. */
  packOf(oids: readonly string[]): Buffer {
    return this.packObjects([], oids);
  }

  async open({ limits, ...options }: OpenOptions = {}): Promise<Quarantine> {
    const quarantine = await Quarantine.open({
      searchPath: SYSTEM_PATH,
      gitdir: this.gitdir,
      folder: this.folder,
      have: this.refs(),
      gone: new AbortController().signal,
      ...options,
      limits: { ...LIMITS, ...limits },
    });
    this.opened.push(quarantine);
    return quarantine;
  }

  /** A quarantine that has received a pack, if one is given, and found what is new. */
  async received(pack: Buffer | null, tips: readonly string[], options?: OpenOptions): Promise<Quarantine> {
    const quarantine = await this.open(options);
    if (pack !== null) await quarantine.receive(streamOf(pack));
    await quarantine.findAdded(tips);
    return quarantine;
  }

  refs(): string[] {
    const lines = this.server('for-each-ref', '--format=%(objectname)').split('\n');
    return [...new Set(lines.filter((line) => line !== ''))];
  }

  /** A program that is taken for git: a shell script. @returns the search path on which it is found */
  fakeGit(script: string): string {
    const folder = join(this.root, 'bin');
    mkdirSync(folder);
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, 'git'), 0o755);
    return `${folder}:${SYSTEM_PATH}`;
  }

  /** The ids of git processes that work in a quarantine of this site. */
  processes(): number[] {
    return gitProcesses(`--git-dir=${this.root}`);
  }

  /** The paths and contents of the repository, which no quarantine changes. */
  repositoryFiles(): Record<string, string> {
    const entries = readdirSync(this.gitdir, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    return Object.fromEntries(files.sort().map((path) => [path, readFileSync(path, 'latin1')]));
  }

  /** Removes all, and expects that no quarantine has left anything. */
  async close(): Promise<void> {
    for (const quarantine of this.opened) await quarantine.remove();
    const [processes, left] = [this.processes(), readdirSync(this.root)];
    rmSync(this.root, { recursive: true, force: true });
    expect(processes).to.deep.equal([]);
    expect(left.filter((name) => name.startsWith('.tmp'))).to.deep.equal([]);
  }

  private packObjects(options: readonly string[], lines: readonly string[]): Buffer {
    const args = ['-C', this.work, 'pack-objects', '--stdout', '-q', ...options];
    return execFileSync('git', args, {
      input: lines.map((line) => `${line}\n`).join(''),
      maxBuffer: 2 ** 30,
    });
  }
}

/** The bytes in pieces, as a socket gives them. */
export function streamOf(bytes: Buffer, piece = 64 * 1024): Readable {
  const pieces = function* () {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  };
  return Readable.from(pieces(), { objectMode: false });
}

/** The code of the HawserError that the work fails with, and its message. */
export async function failureOf(work: Promise<unknown>): Promise<Pick<HawserError, 'code' | 'message'>> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HawserError) return { code: error.code, message: error.message };
    throw error;
  }
  return { code: 'no error', message: '' };
}

function gitProcesses(argument: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => readProc(pid, 'cmdline').includes(argument));
}

function readProc(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Looks at the git processes of a site while the work runs. @returns the most memory that one of them had, in MiB */
export async function peakDuring(site: Site, work: () => Promise<void>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => {
    for (const pid of site.processes()) {
      const kib = Number(/^VmHWM:\s+(\d+) kB$/m.exec(readProc(pid, 'status'))?.[1] ?? 0);
      peak = Math.max(peak, kib / 1024);
    }
  }, 25);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return peak;
}
