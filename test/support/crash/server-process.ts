/**
 * The server under test as a separate process: building it, starting and killing it, and its folder after a power
 * cut.
 */

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Target } from '../client.ts';
import { ADMIN_PASSWORD, CHEAP_HASHES } from '../hawser.ts';
import { follow, type Spawned } from '../spawned.ts';
import { type Doom, isOfStart } from './failpoints.ts';
import { readLines } from './journal.ts';
import { cutPower } from './power-cut.ts';
import type { Random } from './random.ts';
import type { ServerArguments } from './server.ts';
import { Unflushed } from './unflushed.ts';

const PROJECT = join(import.meta.dirname, '../../..');
/**
 * The folder belongs to this process alone. Its depth is such that the server finds package.json, whose version it
 * tells.
 */
const PROGRAMS = join(PROJECT, `.build/crash-${process.pid}`);

const REQUIRE = 'forBundle(import.meta.url)';

/** As a single file for each of its threads, the server starts four times as fast; the rounds consist of a thousand starts. */
export async function buildServer(): Promise<void> {
  await build({
    entryPoints: {
      server: join(import.meta.dirname, 'server.ts'),
      'fleet-thread': join(PROJECT, 'src/threads/fleet-thread.ts'),
    },
    outdir: PROGRAMS,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
    external: ['better-sqlite3', 'pg', 'swagger-ui-dist'],
    // The CommonJS packages that are bundled need this.
    banner: { js: `import { createRequire as forBundle } from 'node:module'; const require = ${REQUIRE};` },
  });
}

export function removeServer(): void {
  rmSync(PROGRAMS, { recursive: true });
}

/** How often one run of the server has passed each failpoint. */
export type Passings = ReadonlyMap<string, number>;

export class ServerProcess {
  readonly dataDir: string;
  readonly reposDir: string;
  readonly databaseUrl: string | null;
  private readonly settings: Record<string, string>;
  private readonly kept: string;
  private readonly journal: string;
  private readonly unflushed: Unflushed;
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
    this.kept = join(folder, 'kept');
    this.journal = join(folder, 'journal');
    mkdirSync(this.kept);
    this.unflushed = new Unflushed(this.kept);
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
      ...CHEAP_HASHES,
      HAWSER_LOG_LEVEL: 'info',
      ...this.settings,
    };
    const given: ServerArguments = { settings, journal: this.journal, kept: this.kept, doom };
    const child = spawn(process.execPath, [join(PROGRAMS, 'server.js'), JSON.stringify(given)], {
      cwd: PROJECT,
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

  /** Call this once after each run of the server. */
  takePassings(): Passings {
    const passings = new Map<string, number>();
    if (!existsSync(this.journal)) return passings;
    for (const line of readLines(readFileSync(this.journal, 'utf8'))) {
      if (line.do === 'pass') passings.set(line.point, (passings.get(line.point) ?? 0) + 1);
      else if (line.do === 'armed')
        for (const point of passings.keys()) isOfStart(point) || passings.delete(point);
      else this.unflushed.add(line);
    }
    this.unflushed.end();
    truncateSync(this.journal);
    return passings;
  }

  /**
   * Simulates a power cut on the dead server's folder.
   * @returns how many changes were not flushed, and could therefore be lost
   */
  cutPower(random: Random): number {
    return cutPower(this.unflushed, this.kept, random);
  }
}
