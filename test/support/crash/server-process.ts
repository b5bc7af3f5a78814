/** The server under test as a separate process: starting and killing it. */

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT } from '../../../scripts/support/project.ts';
import { CHEAP_HASHES } from '../cheap-hashes.ts';
import type { Target } from '../client.ts';
import { ADMIN_PASSWORD } from '../hawser.ts';
import { follow, type Spawned } from '../spawned.ts';
import { DiskRecord } from './disk-record.ts';
import type { Doom } from './failpoints.ts';
import { fileOfProgram } from './programs.ts';
import type { ServerArguments } from './server.ts';

export class ServerProcess {
  readonly dataDir: string;
  readonly reposDir: string;
  readonly databaseUrl: string | null;
  /** What it does to the disk of the repositories. */
  readonly record: DiskRecord;
  private readonly settings: Record<string, string>;
  private spawned: Spawned | undefined;

  /**
   * @param folder an empty folder
   * @param databaseUrl of PostgreSQL; null for SQLite
   * @param settings HAWSER_* variables in addition to those that every server gets
   */
  constructor(folder: string, databaseUrl: string | null = null, settings: Record<string, string> = {}) {
    this.settings = settings;
    this.databaseUrl = databaseUrl;
    this.dataDir = join(folder, 'data');
    this.reposDir = join(folder, 'repos');
    this.record = new DiskRecord(folder);
  }

  /** @param doom where the server must kill itself while it starts, if it gets there */
  launch(doom: Doom | null): Spawned {
    const settings = {
      HAWSER_HOST: '127.0.0.1',
      HAWSER_PORT: '0',
      HAWSER_DATA_DIR: this.dataDir,
      HAWSER_REPOS_DIR: this.reposDir,
      HAWSER_ADMIN_PASSWORD: ADMIN_PASSWORD,
      HAWSER_DATABASE_URL: this.databaseUrl ?? '',
      HAWSER_LOG_LEVEL: 'info',
      ...this.settings,
    };
    const { journal, kept } = this.record;
    const given: ServerArguments = { settings, journal, kept, doom };
    const child = spawn(process.execPath, [fileOfProgram('server'), JSON.stringify(given)], {
      cwd: PROJECT,
      // Some of what counts is read by Node.js itself.
      env: { ...process.env, ...CHEAP_HASHES, ...this.settings },
    });
    // The process may be dead before it reads.
    child.stdin.on('error', () => undefined);
    this.spawned = follow(child, this.dataDir);
    return this.spawned;
  }

  /** Resolves when the server listens. Throws with its output if it ends before. */
  start(): Promise<Target> {
    return this.launch(null).listening();
  }

  /** Tells the running server where to kill itself. */
  arm(doom: Doom): void {
    this.spawned?.child.stdin.write(JSON.stringify(doom));
  }

  /** Resolves when the server is dead. */
  async ended(): Promise<void> {
    await this.spawned?.ended;
  }

  async kill(): Promise<void> {
    this.spawned?.child.kill('SIGKILL');
    await this.ended();
  }

  /** Log lines of the level `error`, which mean that somebody must act. A crash alone must not cause any. */
  get errors(): string[] {
    return this.log.split('\n').filter((line) => line.includes('"level":"error"'));
  }

  /** All that the last run of the server has written. */
  get log(): string {
    const { spawned } = this;
    return spawned ? spawned.stdout() + spawned.stderr() : '';
  }
}
