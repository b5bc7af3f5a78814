/** A PostgreSQL server in a temporary folder, which tests may kill, stop and start again. */

import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { steadyPort } from '../ports.ts';
import { isRunning, killProcesses, processesOf, send } from './processes.ts';
import { findPrograms, hasStatementStatistics, unprivilegedUser } from './programs.ts';

const run = promisify(execFile);

/** A start repairs what a kill has left, which takes a while after much was written. */
const START_TIMEOUT = 60_000;
const PAUSE = 20;
/** For a cluster that all tests of a run share. Autovacuum would visit their hundreds of databases all the time. */
const FAST = {
  ...{ fsync: 'off', full_page_writes: 'off', autovacuum: 'off' },
  ...{ checkpoint_timeout: '1h', max_wal_size: '4GB' },
};

export interface ClusterOptions {
  /** Whether a commit waits for the disk. A cluster without this also has a quicker check of passwords. */
  fsync: boolean;
  /** Settings of postgresql.conf in addition to those of this file. */
  settings?: Record<string, string>;
}

/** How to reach a cluster. Other processes of the same test run can be given it as JSON. */
export interface ClusterAddress {
  port: number;
  superPassword: string;
  password: string;
}

export class Cluster {
  readonly folder: string;
  readonly address: ClusterAddress;
  private readonly programs: string;

  private constructor(folder: string, address: ClusterAddress, programs: string) {
    this.folder = folder;
    this.address = address;
    this.programs = programs;
  }

  /**
   * Makes a cluster and starts it.
   * @param folder an absent one, which the cluster's user must be able to reach
   */
  static async make(folder: string, { fsync, settings = {} }: ClusterOptions): Promise<Cluster> {
    const programs = findPrograms();
    const user = unprivilegedUser();
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (user) chownSync(folder, user.uid, user.gid);
    // Passwords of real life hold characters that are encoded in a URL.
    const newPassword = () => `${randomBytes(12).toString('hex')}@/%:`;
    const address = { port: await steadyPort(), superPassword: newPassword(), password: newPassword() };
    const cluster = new Cluster(folder, address, programs);
    const passwordFile = join(folder, 'password');
    writeFileSync(passwordFile, address.superPassword, { mode: 0o644 });
    // The database's own order of texts is not that of SQLite, so that a column without `collate "C"` is found.
    const order = ['--locale=C.UTF-8', '--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en'];
    // The default of today, SCRAM, takes both ends several milliseconds for each of the thousands of connections.
    const auth = fsync ? 'scram-sha-256' : 'md5';
    const access = ['--username=postgres', `--pwfile=${passwordFile}`, `--auth=${auth}`];
    await run(join(programs, 'initdb'), ['-D', cluster.dataFolder, '--no-sync', ...order, ...access], {
      ...user,
      cwd: folder,
    });
    rmSync(passwordFile);
    const all = { ...baseSettings(programs, fsync), ...settings };
    const lines = Object.entries(all).map(([name, value]) => `${name} = '${value}'\n`);
    writeFileSync(join(cluster.dataFolder, 'postgresql.auto.conf'), lines.join(''));
    await cluster.start();
    await cluster.prepare();
    return cluster;
  }

  private get dataFolder(): string {
    return join(this.folder, 'data');
  }

  /** What the server has written to its log. */
  log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  /** Starts the server on its port. Resolves when it takes connections. */
  async start(): Promise<void> {
    const log = openSync(join(this.folder, 'log'), 'a');
    const child = spawn(
      join(this.programs, 'postgres'),
      ['-D', this.dataFolder, '-p', String(this.address.port)],
      {
        ...unprivilegedUser(),
        cwd: this.folder,
        // Ctrl-C is for the tests. What ends with them is killed by `watch.ts`.
        detached: true,
        stdio: ['ignore', log, log],
      },
    );
    child.unref();
    const deadline = Date.now() + START_TIMEOUT;
    for (;;) {
      const fault = await this.query('select 1').catch((error: Error) => error);
      if (!(fault instanceof Error)) return;
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (hasEnded || Date.now() > deadline)
        throw new Error(`PostgreSQL did not start: ${fault.message}\n${this.log().slice(-2_000)}`);
      await sleep(PAUSE);
    }
  }

  /** Kills all processes of the server, as a crash of the machine would. */
  async kill(): Promise<void> {
    await killProcesses(this.dataFolder);
  }

  /** Ends the server in order, which ends all connections. */
  async stop(): Promise<void> {
    const pids = processesOf(this.dataFolder);
    const [postmaster] = pids;
    if (postmaster === undefined) return;
    send(postmaster, 'SIGINT');
    while (pids.some(isRunning)) await sleep(PAUSE);
  }

  /** Makes all processes of the server stand still: connections stay, and nothing is answered. */
  freeze(): void {
    for (const pid of processesOf(this.dataFolder)) send(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of processesOf(this.dataFolder)) send(pid, 'SIGCONT');
  }

  /** Kills the server and deletes its folder. */
  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Runs a statement as the superuser. */
  query<T extends object>(text: string, database?: string): Promise<T[]> {
    return queryAs(superUrl(this.address, database), text);
  }

  private async prepare(): Promise<void> {
    const password = this.address.password.replaceAll("'", "''");
    await this.query(`create role hawser login createdb password '${password}'`);
    if (hasStatementStatistics(this.programs)) await this.query('create extension pg_stat_statements');
  }
}

/** The URL of a database, as a server gets it. */
export function urlOf({ port, password }: ClusterAddress, database: string): string {
  return `postgres://hawser:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** Many databases share a cluster, and with the default of 5,000 statements the oldest would be forgotten. */
const STATEMENT_STATISTICS = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.max': '100000',
};

/** The URL for the superuser. The statistics of all statements are in the view `pg_stat_statements` of `postgres`. */
export function superUrl({ port, superPassword }: ClusterAddress, database = 'postgres'): string {
  return `postgres://postgres:${encodeURIComponent(superPassword)}@127.0.0.1:${port}/${database}`;
}

/** Runs one statement on a connection of its own. */
export async function queryAs<T extends object>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  // The connection may break while it is idle, and nobody needs it then.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

function baseSettings(programs: string, fsync: boolean): Record<string, string> {
  return {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '400',
    shared_buffers: '64MB',
    // Nothing in the tests copies the log of a cluster.
    wal_level: 'minimal',
    max_wal_senders: '0',
    ...(fsync ? {} : FAST),
    ...(hasStatementStatistics(programs) ? STATEMENT_STATISTICS : {}),
  };
}
