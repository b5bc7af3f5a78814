/**
 * PostgreSQL for tests. All processes of one run of the tests share a cluster, which the first test that needs it starts.
 * Clusters end with the tests that made them.
 */

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PROJECT } from '../../scripts/support/project.ts';
import { openDatabase } from '../../src/db/open.ts';
import {
  Cluster,
  type ClusterAddress,
  type ClusterOptions,
  queryAs,
  superUrl,
  urlOf,
} from './postgres/cluster.ts';
import { nameOfProcess } from './postgres/processes.ts';
import { letAnythingBePublished } from './unchecked-documents.ts';

export type { Cluster } from './postgres/cluster.ts';

/** The folder for clusters. The memory folder of the tests is closed to the user under whom PostgreSQL runs. */
const BASE = process.env['TESTS_MEMORY_FOLDER'] === undefined ? tmpdir() : '/dev/shm';

/** The database that has all tables and no rows but those of the migrations. */
const MIGRATED = 'hawser_migrated';

/** What the program that ends a cluster keeps there must not appear in the temporary folder of one test. */
const TEMPORARY = tmpdir();

/** Another process of the tests may be making the cluster. */
const SHARE_TIMEOUT = 60_000;
const PAUSE = 50;

export interface TestDatabase {
  /** The value for HAWSER_DATABASE_URL. */
  url: string;
  name: string;
  /** Deletes the database. Connections to it are ended. */
  drop(): Promise<void>;
}

/**
 * Makes a database in the cluster that all tests share. Its commits do not wait for the disk.
 * @param template `empty` has no tables; `migrated` has those of a server that never started, which saves time, and
 *   lets anything be published
 * @throws an error that says how to install PostgreSQL if it is missing
 */
export async function newDatabase(template: 'empty' | 'migrated' = 'empty'): Promise<TestDatabase> {
  return makeDatabase(await sharedCluster(), asSuperuser, template === 'migrated' ? MIGRATED : 'template1');
}

/** The superuser's connection of this process, which does not keep it running. A new one takes some 40 ms. */
let superuser: pg.Pool | undefined;

async function asSuperuser(text: string): Promise<void> {
  if (superuser === undefined) {
    const connectionString = superUrl(await sharedCluster());
    superuser = new pg.Pool({ connectionString, max: 1, allowExitOnIdle: true, idleTimeoutMillis: 60_000 });
    // At the end the cluster may be gone before this process.
    superuser.on('error', () => undefined);
  }
  await superuser.query(text);
}

/** Runs a statement as the superuser of the shared cluster. The view `pg_stat_statements` is in the database `postgres`. */
export async function querySharedCluster<T extends object>(text: string, database?: string): Promise<T[]> {
  return queryAs(superUrl(await sharedCluster(), database), text);
}

/** The superuser's URL of a database of the shared cluster. */
export async function superUrlOf(url: string): Promise<string> {
  return superUrl(await sharedCluster(), databaseName(url));
}

/** A cluster for one test, which may kill and freeze it. */
export interface OwnCluster {
  cluster: Cluster;
  newDatabase(): Promise<TestDatabase>;
}

/** Makes a cluster that no other test uses. The test calls `cluster.remove()` in the end. */
export async function ownCluster(options: Partial<ClusterOptions> = {}): Promise<OwnCluster> {
  const folder = join(BASE, `hawser-postgres-own-${randomBytes(6).toString('hex')}`);
  mkdirSync(folder);
  watch(nameOfProcess(process.pid), folder);
  const cluster = await Cluster.make(folder, { fsync: true, ...options });
  const run = async (text: string) => void (await cluster.query(text));
  return { cluster, newDatabase: () => makeDatabase(cluster.address, run) };
}

/** The strategy copies files, which takes a third of the time of a copy through the log. */
const copyOf = (name: string, template: string) =>
  `create database ${name} owner hawser template ${template} strategy file_copy`;

/** @param run carries out a statement as the superuser */
async function makeDatabase(
  address: ClusterAddress,
  run: (text: string) => Promise<void>,
  template = 'template1',
): Promise<TestDatabase> {
  const name = `hawser_${randomBytes(6).toString('hex')}`;
  await run(copyOf(name, template));
  return {
    name,
    url: urlOf(address, name),
    drop: () => run(`drop database if exists ${name} with (force)`),
  };
}

/** Makes one database of the shared cluster a copy of another, which nobody may be connected to. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const name = databaseName(to);
  await asSuperuser(`drop database if exists ${name} with (force)`);
  await asSuperuser(copyOf(name, databaseName(from)));
}

/** The name of the database in a URL. */
export function databaseName(url: string): string {
  return new URL(url).pathname.slice(1);
}

let shared: Promise<ClusterAddress> | undefined;

function sharedCluster(): Promise<ClusterAddress> {
  shared ??= findShared();
  return shared;
}

/** Whoever can make the folder makes the cluster; the others wait for its address. */
async function findShared(): Promise<ClusterAddress> {
  const owner = nameOfProcess(process.env['MOCHA_WORKER_ID'] === undefined ? process.pid : process.ppid);
  const folder = join(BASE, `hawser-postgres-${owner}`);
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return waitForShared(folder);
    throw error;
  }
  watch(owner, folder);
  try {
    const { address } = await Cluster.make(folder, { fsync: false });
    await makeTemplate(folder, address);
    publish(folder, { address });
    return address;
  } catch (error) {
    publish(folder, { fault: String(error) });
    throw error;
  }
}

/** Nobody can be connected to the database afterwards, because a database in use cannot be copied. */
async function makeTemplate(dataDir: string, address: ClusterAddress): Promise<void> {
  await queryAs(superUrl(address), `create database ${MIGRATED} owner hawser`);
  const database = await openDatabase({ dataDir, databaseUrl: urlOf(address, MIGRATED) });
  await letAnythingBePublished(database.write);
  await database.close();
  await queryAs(superUrl(address), `alter database ${MIGRATED} is_template true allow_connections false`);
}

/** What the maker of the shared cluster tells the others. */
type Outcome = { address: ClusterAddress } | { fault: string };

function publish(folder: string, outcome: Outcome): void {
  const file = join(folder, 'outcome.json');
  writeFileSync(`${file}.new`, JSON.stringify(outcome), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

async function waitForShared(folder: string): Promise<ClusterAddress> {
  const deadline = Date.now() + SHARE_TIMEOUT;
  for (;;) {
    try {
      const outcome = JSON.parse(readFileSync(join(folder, 'outcome.json'), 'utf8')) as Outcome;
      if ('address' in outcome) return outcome.address;
      throw new Error(outcome.fault);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || Date.now() > deadline) throw error;
    }
    await sleep(PAUSE);
  }
}

/** Starts the program that ends a cluster. It must outlive the tests, however they end. */
function watch(owner: string, folder: string): void {
  const program = join(import.meta.dirname, 'postgres/watch.js');
  const words = [program, owner, folder];
  spawn(process.execPath, words, {
    cwd: PROJECT,
    env: { ...process.env, TMPDIR: TEMPORARY },
    detached: true,
    stdio: 'ignore',
  }).unref();
}
