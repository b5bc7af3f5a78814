/** Opens and prepares what a server works on: both stores, its locks and its metrics. */

import { join } from 'node:path';
import { sweepBundleFiles } from './bundles/bundle-files.ts';
import { type Config, ConfigError } from './config.ts';
import { readTips } from './db/change-sets.ts';
import type { Database } from './db/database.ts';
import { describeFault } from './db/errors.ts';
import { openDatabase } from './db/open.ts';
import { notePastBegin } from './db/past.ts';
import { noteRefsMoved } from './db/repository-rows.ts';
import { DATABASE_FILE } from './db/sqlite/open.ts';
import { FIRST_START, TLS_FILES } from './domain/lock-names.ts';
import { passwordFault } from './domain/password-rules.ts';
import { EventWaiting } from './events/waiting.ts';
import type { AtomicFs } from './git/atomic-fs.ts';
import { refuseOtherUse } from './git/cache-root.ts';
import type { Clock } from './lib/clock.ts';
import { makePrivateFolder, tightenOwnFolder } from './lib/folders.ts';
import { newSecret } from './lib/ids.ts';
import type { Locks } from './lib/locks.ts';
import type { Log } from './lib/log.ts';
import { Metrics } from './lib/metrics/metrics.ts';
import { readVersion } from './lib/version.ts';
import { refuseUnfinishedRestore } from './operations/backup/restore.ts';
import { POLL_PATH } from './pull/routes.ts';
import { ensureBuiltIns, ensureFirstAdmin } from './security/built-ins.ts';
import { SecretStore } from './security/secrets/secret-store.ts';
import { sharedAuthority } from './security/shared-secrets.ts';
import { loadTlsMaterial, type TlsMaterial } from './security/tls-files.ts';
import { followFeed } from './versions/follow-feed.ts';
import { admissionBy } from './versions/outside-tags.ts';
import { reconcile } from './versions/reconcile.ts';
import { endAllScopeMoves } from './versions/scope-moves.ts';
import { GitStore } from './versions/store.ts';
import { isDamage } from './versions/types.ts';

export interface ServerOptions {
  config: Config;
  clock: Clock;
  log: Log;
  /** Called with the first administrator's random password, once in the life of a data folder. */
  showFirstPassword(password: string): void;
  /**
   * Called when both folders are there, before anything in them is read or changed.
   * Throws where another server uses them. By default nobody is kept out.
   */
  claimFolders?(): void;
  /** The repositories' way to the disk. By default it is direct. */
  fs?: AtomicFs;
  tuning?: Tuning;
}

/** What only tests choose. Each has a default beside the code that uses it, and no setting leads here. */
export interface Tuning {
  /** A request that takes the server longer, in milliseconds, is logged as slow. */
  slowMs?: number;
  /** How many calls of nodes are carried out at once. */
  nodeCalls?: number;
  /** The authorities that receivers of webhooks may be under, as PEM, in place of those of Node.js. */
  receiverAuthorities?: readonly string[];
}

/** The stores, what counts in the process, and who waits for events. */
export interface Stores {
  database: Database;
  store: GitStore;
  locks: Locks;
  metrics: Metrics;
  eventWaiting: EventWaiting;
  /** The keys of secrets. */
  secrets: SecretStore;
}

export async function openStores({ config, clock, log, fs, claimFolders }: ServerOptions): Promise<Stores> {
  checkAdminPassword(config.adminPassword);
  refuseUnfinishedRestore(config);
  const { dataDir, reposDir } = config;
  await requireFolder('HAWSER_DATA_DIR', dataDir);
  await requireFolder('HAWSER_REPOS_DIR', reposDir);
  claimFolders?.();
  refuseOtherUse(reposDir, config.databaseUrl !== null);
  for (const path of [dataDir, reposDir]) await tightenOwnFolder(path, log);
  const metrics = new Metrics({ version: readVersion(), pollPath: POLL_PATH });
  // Nobody reads them without a token, so the process is not watched for nothing.
  if (config.metricsToken !== null) metrics.watchProcess();
  const database = await namingDatabase(config, () => openDatabase(config, { watch: metrics.work, log }));
  const secrets = await SecretStore.open({ config, database, clock, log }).catch(async (error) => {
    await database.close();
    throw error;
  });
  const { locks } = database;
  const store = new GitStore({
    root: reposDir,
    log,
    cacheBytes: config.cacheBytes / 2,
    ...(fs && { fs }),
    ...(database.repositories && {
      shared: { reader: database.repositories, tables: database.repositories },
    }),
    locks,
    onRefsMoved: (repository, isAwaited, trx = isAwaited ? database.write : database.writeNow) =>
      noteRefsMoved(trx, repository, clock.now()),
    beforeWrite: () => database.requireWritable(),
    admit: admissionBy(database, () => clock.now()),
    onOperation: metrics.work.onGitOperation,
  });
  // A server that has the stores to itself knows of its own moves.
  if (database.repositories !== null) followFeed(store, database);
  metrics.addCaches(() => store.caches);
  metrics.addReadings({
    repositoryProblems: () => store.problems().filter(isDamage).length,
    refProblems: () => store.problems().filter((problem) => !isDamage(problem)).length,
  });
  return { database, store, locks, metrics, eventWaiting: new EventWaiting(database), secrets };
}

export async function closeStores({ store, database }: Stores): Promise<void> {
  await store.close();
  await database.close();
}

/** What is done before the stores serve. */
export function prepareStores(options: ServerOptions, stores: Stores): Promise<void> {
  return namingDatabase(options.config, () => prepare(options, stores));
}

/** Names the database in an error of its file. A damaged page is found by whatever reads it first. */
async function namingDatabase<T>({ dataDir }: Config, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw describeFault(error, join(dataDir, DATABASE_FILE));
  }
}

async function prepare(options: ServerOptions, stores: Stores): Promise<void> {
  const { config, clock, log } = options;
  const { database, store, locks } = stores;
  await store.prepare();
  await sweepBundleFiles(config.dataDir);
  // Before the rest, so that a fault in the TLS settings ends a first start before its password is made and shown.
  await loadTls(options, stores);
  // Of several servers that start at once, one makes these rows.
  const password = await locks.run(FIRST_START, async () => {
    await ensureBuiltIns(database, clock.now());
    await notePastBegin(database.write, clock.now());
    return ensureFirstAdmin(database, {
      dataDir: config.dataDir,
      password: config.adminPassword,
      randomPassword: newSecret,
      now: clock.now(),
    });
  });
  if (password !== null) options.showFirstPassword(password);
  // In PostgreSQL a row and its repository are made and removed by one commit.
  if (database.repositories !== null) return;
  await reconcile({ database, store, log, now: clock.now() });
  await store.changes.settle(await readTips(database.read));
  await endAllScopeMoves({ database, store, locks, log }, clock.now());
}

function checkAdminPassword(password: string | null): void {
  const fault = password === null ? null : passwordFault(password, 'admin');
  if (fault !== null) throw new ConfigError('HAWSER_ADMIN_PASSWORD', 'too weak', fault);
}

/** Makes the folder before the stores would, so that a fault is reported as one of the setting. */
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

/** Makes what is absent or about to expire. No two processes may do this at once. */
export function loadTls(
  { config, clock, log }: ServerOptions,
  { database, locks }: Stores,
): Promise<TlsMaterial> {
  const { dataDir, tls, nodeCaFile, nodeCrlFile } = config;
  const files = { dataDir, ...tls, nodeCaFile, nodeCrlFile };
  return locks.run(TLS_FILES, () =>
    loadTlsMaterial({ ...files, sharedAuthority: sharedAuthority(database), now: clock.now(), log }),
  );
}
