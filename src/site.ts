/** What a server works on: both stores, its locks, and what counts in it; opened, and brought into order before it serves. */

import { type Config, ConfigError } from './config.ts';
import { type Database, openDatabase } from './db/open.ts';
import { noteRefsMoved } from './db/repository-rows.ts';
import { TLS_FILES } from './domain/lock-names.ts';
import { passwordFault } from './domain/password-rules.ts';
import type { AtomicFs } from './git/atomic-fs.ts';
import type { Clock } from './lib/clock.ts';
import { makePrivateFolder } from './lib/folders.ts';
import { newSecret } from './lib/ids.ts';
import { LocalLocks, type Locks } from './lib/locks.ts';
import type { Log } from './lib/log.ts';
import { Metrics, type MetricsOfProcess } from './lib/metrics/metrics.ts';
import { readVersion } from './lib/version.ts';
import { refuseUnfinishedRestore } from './operations/backup/restore.ts';
import { sweepBundleFiles } from './pull/bundle-files.ts';
import { POLL_PATH } from './pull/routes.ts';
import { ensureBuiltIns, ensureFirstAdmin } from './security/built-ins.ts';
import { loadTlsMaterial, type TlsMaterial } from './security/tls-files.ts';
import { reconcile } from './versions/reconcile.ts';
import { GitStore } from './versions/store.ts';

export interface ServerOptions {
  config: Config;
  clock: Clock;
  log: Log;
  /** Told the first administrator's random password, once in the life of a data folder. */
  showFirstPassword(password: string): void;
  /** The repositories' way to the disk; default: straight. */
  fs?: AtomicFs;
  /** Set in a process that is one of several; the stores are in order then. */
  part?: Part;
}

/** The part of one process in a server of several (workers/). */
export interface Part {
  locks: Locks;
  /** Whether it does what only one must: the schedules, and the renewal of the made certificate. */
  isLeader: boolean;
  /** 48 bytes, the same in all, so that each can resume the TLS sessions of the others. */
  ticketKeys: Buffer;
  /** Epoch milliseconds: when the last of the others ended without a word. */
  leftBefore(): number;
  /** To be told by the leader once it has looked after the made certificate. */
  onRenewed(): void;
  /** What the others have counted. */
  readOtherMetrics(): Promise<readonly MetricsOfProcess[]>;
}

/**
 * What a start does before it serves, once for all processes of a server of several.
 * @throws as `startServer`
 */
export async function prepareServer(options: ServerOptions): Promise<void> {
  const site = await openSite(options);
  try {
    await bringIntoOrder(options, site);
  } finally {
    await closeSite(site);
  }
}

/** The stores of a process, and what counts in it. */
export interface Site {
  database: Database;
  store: GitStore;
  locks: Locks;
  metrics: Metrics;
}

export async function openSite({ config, clock, log, fs, part }: ServerOptions): Promise<Site> {
  checkAdminPassword(config.adminPassword);
  refuseUnfinishedRestore(config);
  await requireFolder('HAWSER_DATA_DIR', config.dataDir);
  await requireFolder('HAWSER_REPOS_DIR', config.reposDir);
  const metrics = openMetrics(config);
  const locks = part?.locks ?? new LocalLocks();
  const database = await openDatabase(config.dataDir, { watch: metrics.work, locks: part?.locks ?? null });
  const store = new GitStore({
    root: config.reposDir,
    log,
    cacheBytes: config.cacheBytes / 2,
    ...(fs && { fs }),
    locks,
    ...(part && { leftBefore: part.leftBefore }),
    onRefsMoved: (repository, isAwaited) =>
      noteRefsMoved(isAwaited ? database.write : database.writeNow, repository, clock.now()),
    beforeWrite: () => database.requireWritable(),
    onOperation: metrics.work.onGitOperation,
  });
  // A process that has the stores to itself knows of its own moves.
  if (part !== undefined) followMoves(database, store);
  metrics.addCaches(() => store.caches);
  metrics.addReadings({ repositoryProblems: () => store.problems().length });
  return { database, store, locks, metrics };
}

function followMoves(database: Database, store: GitStore): void {
  database.changes.subscribe({
    onChange: (kind, name) => kind !== 'certificates' && store.invalidate({ kind, name }),
    onLost: () => store.invalidate(),
  });
}

export async function closeSite({ store, database }: Site): Promise<void> {
  await store.close();
  await database.close();
}

export async function bringIntoOrder(
  options: ServerOptions,
  { database, store, locks }: Site,
): Promise<void> {
  await store.prepare();
  await sweepBundleFiles(options.config.dataDir);
  // First, so that a fault in the TLS settings ends a first start before its password is made and shown.
  await loadTls(options, locks);
  await prepare(options, database, store);
}

/** Nobody reads them without a token, so the process is not watched for nothing. */
function openMetrics({ metricsToken }: Config): Metrics {
  const metrics = new Metrics({ version: readVersion(), pollPath: POLL_PATH });
  if (metricsToken !== null) metrics.watchProcess();
  return metrics;
}

function checkAdminPassword(password: string | null): void {
  const fault = password === null ? null : passwordFault(password, 'admin');
  if (fault !== null) throw new ConfigError('HAWSER_ADMIN_PASSWORD', 'too weak', fault);
}

/** Made here, before the stores would, so that the fault is told as one of the setting. */
async function requireFolder(setting: string, path: string): Promise<void> {
  try {
    await makePrivateFolder(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      setting,
      `cannot be used (${code})`,
      'a folder that this user may make and write to',
    );
  }
}

async function prepare(options: ServerOptions, database: Database, store: GitStore): Promise<void> {
  const { config, clock, log } = options;
  await ensureBuiltIns(database, clock.now());
  const password = await ensureFirstAdmin(database, {
    dataDir: config.dataDir,
    password: config.adminPassword,
    randomPassword: newSecret,
    now: clock.now(),
  });
  if (password !== null) options.showFirstPassword(password);
  await reconcile({ database, store, log, now: clock.now() });
}

/** Makes what is absent or about to expire, which no two processes must do at once. */
export function loadTls({ config, clock, log }: ServerOptions, locks: Locks): Promise<TlsMaterial> {
  const { dataDir, tls, nodeCaFile, nodeCrlFile } = config;
  return locks.run(TLS_FILES, () =>
    loadTlsMaterial({ dataDir, ...tls, nodeCaFile, nodeCrlFile, now: clock.now(), log }),
  );
}
