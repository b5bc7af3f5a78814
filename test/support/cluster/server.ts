/** One of several servers on one database: the program as users start it, on a port and in folders of its own. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT } from '../../../scripts/support/project.ts';
import type { Target } from '../client.ts';
import { programArguments } from '../program.ts';

/** Milliseconds. A server may wait for PostgreSQL for 60 s. */
const START_TIMEOUT = 90_000;
const PAUSE = 10;

const LISTENING = '"msg":"listening"';

export class ClusterServer {
  readonly number: number;
  readonly port: number;
  readonly folder: string;
  /** The project whose program the next start runs. */
  project = PROJECT;
  private readonly settings: Record<string, string>;
  private child: ChildProcess | null = null;
  private runs = 0;
  private standsStill = false;

  /**
   * @param number counted from 1
   * @param folder an absent one
   * @param settings HAWSER_* variables in addition to the address and the folders
   */
  constructor(number: number, port: number, folder: string, settings: Record<string, string>) {
    this.number = number;
    this.port = port;
    this.folder = folder;
    this.settings = settings;
    mkdirSync(folder, { recursive: true });
  }

  get dataDir(): string {
    return join(this.folder, 'data');
  }

  get reposDir(): string {
    return join(this.folder, 'repos');
  }

  /** The address for clients, once the server has been started. */
  get target(): Target {
    return { port: this.port, ca: readFileSync(join(this.dataDir, 'tls/ca.crt'), 'utf8') };
  }

  get isRunning(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Whether it was made to stand still. */
  get isFrozen(): boolean {
    return this.isRunning && this.standsStill;
  }

  /** Starts the program and does not wait for it. */
  launch(): void {
    this.runs += 1;
    this.standsStill = false;
    const output = openSync(this.logFile, 'w');
    this.child = spawn(process.execPath, programArguments('main'), {
      cwd: this.project,
      stdio: ['ignore', output, output],
      env: {
        PATH: process.env['PATH'] ?? '',
        HAWSER_HOST: '127.0.0.1',
        HAWSER_PORT: String(this.port),
        HAWSER_DATA_DIR: this.dataDir,
        HAWSER_REPOS_DIR: this.reposDir,
        ...this.settings,
      },
    });
  }

  /** Resolves when the server listens. Throws with its log if it ends before. */
  async listening(): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT;
    while (!this.log.includes(LISTENING)) {
      if (!this.isRunning || performance.now() > deadline)
        throw new Error(`server ${this.number} did not start:\n${this.log}`);
      await sleep(PAUSE);
    }
  }

  async start(): Promise<void> {
    this.launch();
    await this.listening();
  }

  /** Kills the program at once. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** Ends the program as a service manager does. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** Makes the program stand still: its connections stay, and it answers nothing. */
  freeze(): void {
    this.standsStill = true;
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.standsStill = false;
    this.child?.kill('SIGCONT');
  }

  /** All that the last run has written. */
  get log(): string {
    return this.runs === 0 ? '' : readFileSync(this.logFile, 'utf8');
  }

  /** The lines of the last run that are of the level `error`. */
  get errors(): string[] {
    return this.log.split('\n').filter((line) => line.includes('"level":"error"'));
  }

  private get logFile(): string {
    return join(this.folder, `log-${this.runs}.jsonl`);
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning || this.child === null) return;
    const gone = once(this.child, 'exit');
    this.child.kill(signal);
    await gone;
  }
}
