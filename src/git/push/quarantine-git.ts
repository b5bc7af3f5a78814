/** The git processes of one quarantine: what they see, what they may take, and their end. */

import { join } from 'node:path';
import { refuseGone } from '../../lib/client-gone.ts';
import { shuttingDown } from '../../lib/errors.ts';
import { type GitBounds, GitProcess } from '../git-process.ts';
import { type GitTask, pushFault } from './git-faults.ts';

export interface QuarantineGitOptions {
  /** The folders in which git is looked for, like `PATH`. */
  searchPath: string;
  /** The absolute path of the repository's folder. */
  gitdir: string;
  /** The absolute path of the quarantine. */
  folder: string;
  /** The limit for the pack in bytes, which an error may name. */
  packBytes: number;
  /** The limit for an object in bytes, which an error may name. */
  objectBytes: number;
  bounds: GitBounds;
  gone: AbortSignal;
}

export interface GitRun {
  task: GitTask;
  args: readonly string[];
  input?: string;
  /** Whether the objects of the repository are hidden, so that there are only those of the pack. */
  isAlone?: boolean;
  /**
   * The bytes of the largest object that git may make. A larger one is refused by what its header says, before it is
   * inflated, and one that a delta would make is not made.
   */
  objectBytes?: number;
}

/**
 * By default git maps whole packs into memory, and keeps 96 MiB of what deltas are based on. An object of more than a
 * mebibyte is hashed or printed in pieces, unless it is in a delta.
 */
const SETTINGS = [
  'core.bigFileThreshold=1m',
  'core.packedGitWindowSize=1m',
  'core.packedGitLimit=16m',
  'core.deltaBaseCacheLimit=16m',
  'pack.threads=1',
  // Nothing of a quarantine is kept: the store writes the objects again.
  'core.fsync=none',
  // The graph of a repository may name commits that are no longer there.
  'core.commitGraph=false',
];

/** Git makes an object in one piece then, for which it asks for as much memory as the header says (wrapper.c). */
const IN_ONE_PIECE = 'core.bigFileThreshold=2g';

/** The bytes that git may ask for at once. Its list of all objects of a push may take 32 MiB. */
const allocationFor = (objectBytes: number) => Math.max(objectBytes, 32 * 1024 * 1024) + 1024;

export class QuarantineGit {
  private readonly options: QuarantineGitOptions;
  private readonly running = new Set<GitProcess>();
  private closed = false;
  private readonly onGone = () => {
    for (const process of this.running) process.stop();
  };

  constructor(options: QuarantineGitOptions) {
    this.options = options;
    options.gone.addEventListener('abort', this.onGone);
  }

  /** Whoever starts a process releases it. @throws HawserError `client_gone`; unavailable `shutting_down` */
  start({ task, args, input, isAlone = false, objectBytes }: GitRun): GitProcess {
    this.refuseEnd();
    const { searchPath, gitdir, folder, bounds } = this.options;
    const settings = objectBytes === undefined ? SETTINGS : [...SETTINGS, IN_ONE_PIECE];
    const process = new GitProcess({
      searchPath,
      args: [...settings.flatMap((setting) => ['-c', setting]), `--git-dir=${folder}`, task, ...args],
      env: {
        ...(!isAlone && { GIT_ALTERNATE_OBJECT_DIRECTORIES: quotePath(join(gitdir, 'objects')) }),
        ...(objectBytes !== undefined && { GIT_ALLOC_LIMIT: String(allocationFor(objectBytes)) }),
      },
      bounds,
    });
    this.running.add(process);
    if (input !== undefined) process.stdin.end(input);
    return process;
  }

  /**
   * Waits until a process has ended, whose output must be read meanwhile.
   * @param inputFault why git did not get all of its input; null where it did. It goes before what git says
   * @throws HawserError what `pushFault` makes of its end; `client_gone`; unavailable `shutting_down`; the input's fault
   */
  async finish(
    process: GitProcess,
    task: GitTask,
    inputFault: () => Error | null = () => null,
  ): Promise<void> {
    const exit = await process.ended;
    this.refuseEnd();
    const { gitdir, folder, packBytes, objectBytes } = this.options;
    const fault = inputFault() ?? pushFault(exit, { task, packBytes, objectBytes, hidden: [folder, gitdir] });
    if (fault !== null) throw fault;
  }

  /** Ends a process, if it still runs, and waits for its end. */
  async release(process: GitProcess): Promise<void> {
    process.stop();
    // The end is not told while there is output that nobody reads.
    process.stdout.destroy();
    await process.ended;
    this.running.delete(process);
  }

  /** The lines that git prints, in ASCII. Whoever leaves the loop ends the process. @throws as `start` and `finish` */
  async *lines(run: GitRun): AsyncGenerator<string> {
    const process = this.start(run);
    let rest = '';
    try {
      for await (const chunk of process.stdout.setEncoding('latin1') as AsyncIterable<string>) {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        yield* lines;
      }
      await this.finish(process, run.task);
    } catch (error) {
      throw await this.reasonOf(error, process, run.task);
    } finally {
      await this.release(process);
    }
  }

  /** Why the output of a process could not be read. When git has ended early, its end says more than what is missing. */
  async reasonOf(error: unknown, process: GitProcess, task: GitTask): Promise<unknown> {
    if (this.closed) return shuttingDown();
    // A process whose output nobody reads to its end does not end by itself.
    if (!process.stdout.readableEnded) return error;
    return this.finish(process, task).then(
      () => error,
      (reason: unknown) => reason,
    );
  }

  /** Ends all processes, and waits until they have ended. No other can be started. */
  async close(): Promise<void> {
    this.closed = true;
    this.options.gone.removeEventListener('abort', this.onGone);
    await Promise.all([...this.running].map((process) => this.release(process)));
  }

  private refuseEnd(): void {
    refuseGone(this.options.gone);
    // A quarantine is removed while it is used only when the server ends.
    if (this.closed) throw shuttingDown();
  }
}

/** Quotes a path for a variable that holds a list of paths with colons between them. */
function quotePath(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}
