/** The composition root: opens the stores, brings them into order, and listens. */

import { X509Certificate } from 'node:crypto';
import { AuditRetention } from './api/audit/retention.ts';
import { RetentionRuns } from './api/retention/runs.ts';
import { RetentionSchedule } from './api/retention/schedule.ts';
import { createApp } from './app.ts';
import { type Config, ConfigError } from './config.ts';
import { noteRefsMoved } from './db/generation.ts';
import { type Database, openDatabase } from './db/open.ts';
import { passwordFault } from './domain/password-rules.ts';
import { Maintenance } from './git/maintenance.ts';
import { GitStore } from './git/store.ts';
import { UploadPack } from './git/upload-pack.ts';
import { createListener, type Listener } from './http/listener.ts';
import { type Clock, HOUR, SECOND } from './lib/clock.ts';
import { HawserError } from './lib/errors.ts';
import { makePrivateFolder } from './lib/folders.ts';
import { sha256Hex } from './lib/hash.ts';
import { newSecret } from './lib/ids.ts';
import type { Log } from './lib/log.ts';
import { Metrics } from './lib/metrics/metrics.ts';
import { readVersion } from './lib/version.ts';
import { refuseUnfinishedRestore } from './operations/backup/restore-folders.ts';
import { CheckIns } from './pull/check-ins.ts';
import { POLL_PATH } from './pull/routes.ts';
import { reconcile } from './reconcile.ts';
import { CompositeReader } from './resolve/composites.ts';
import { ensureBuiltIns, ensureFirstAdmin } from './security/built-ins.ts';
import { describeCertificate } from './security/certificates.ts';
import { loadTlsMaterial, type TlsMaterial } from './security/tls-files.ts';

export interface ServerOptions {
  config: Config;
  clock: Clock;
  log: Log;
  /** Told the first administrator's random password, once in the life of a data folder. */
  showFirstPassword(password: string): void;
}

export interface RunningServer {
  url: string;
  port: number;
  /** Takes certificates, keys, node CA and CRL anew from their files; a fault keeps the old ones. */
  reloadTls(): Promise<void>;
  /** Answers what is in progress, writes what is noted, closes the stores. */
  close(): Promise<void>;
}

const CLOSE_GRACE = 30 * SECOND;
/** How often the made certificate is looked at; it is renewed 30 days before its end. */
const TLS_CHECK_INTERVAL = 12 * HOUR;

/**
 * Starts a server; on a fault everything opened so far is closed again.
 * @throws ConfigError, or HawserError from the stores and the TLS files
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { config, clock, log } = options;
  checkAdminPassword(config.adminPassword);
  refuseUnfinishedRestore(config);
  await requireFolder('HAWSER_DATA_DIR', config.dataDir);
  await requireFolder('HAWSER_REPOS_DIR', config.reposDir);
  const metrics = openMetrics(config);
  const database = await openDatabase(config.dataDir, metrics.work);
  const store = new GitStore({
    root: config.reposDir,
    log,
    cacheBytes: config.cacheBytes / 2,
    onRefsMoved: (repository) => noteRefsMoved(database.write, repository, clock.now()),
    onOperation: metrics.work.onGitOperation,
  });
  metrics.addCaches(() => store.caches);
  metrics.addReadings({ repositoryProblems: () => store.problems().length });
  try {
    await store.open();
    // First, so that a fault in the TLS settings ends a first start before its password is made and shown.
    const material = await loadTls(options);
    await prepare(options, database, store);
    return await listen({ ...options, metrics }, database, store, material);
  } catch (error) {
    await store.close();
    await database.close();
    throw error;
  }
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

function loadTls({ config, clock, log }: ServerOptions): Promise<TlsMaterial> {
  const { dataDir, tls, nodeCaFile, nodeCrlFile } = config;
  return loadTlsMaterial({ dataDir, ...tls, nodeCaFile, nodeCrlFile, now: clock.now(), log });
}

/** The options of a server that is being started, and what counts in it. */
type Measured = ServerOptions & { metrics: Metrics };

async function listen(
  options: Measured,
  database: Database,
  store: GitStore,
  material: TlsMaterial,
): Promise<RunningServer> {
  const { config, clock, log, metrics } = options;
  const checkIns = new CheckIns(database.write, log);
  const { reposDir: root, searchPath } = config;
  const uploadPack = new UploadPack({ root, searchPath, log, onOperation: metrics.work.onGitOperation });
  metrics.addReadings({ gitProcesses: () => uploadPack.processes });
  await uploadPack.open();
  const retention = await openRetention(options, database, store);
  const handler = createApp({
    database,
    store,
    uploadPack,
    retention: retention.runs,
    authority: material.ca,
    issuesCertificates: material.nodeCa === null,
    dataDir: config.dataDir,
    environment: config.environment,
    limits: config.limits,
    nodeCallsAtOnce: config.nodeCallsAtOnce,
    metricsTokenHash: config.metricsToken && sha256Hex(config.metricsToken),
    metrics,
    bundleCacheBytes: config.cacheBytes / 2,
    clock,
    log,
    onNodeSeen: (nodeId, now) => checkIns.note(nodeId, now),
  });
  const listener = createListener({ material, proxies: config.proxies, handler, log, clock });
  const port = await open(listener, config);
  showTlsTerms(metrics, material);
  retention.start();
  const reloadTls = () => reload(options, listener);
  const timer = setInterval(reloadTls, TLS_CHECK_INTERVAL).unref();
  const auditRetention = new AuditRetention({ database, clock, log, keepDays: config.auditKeepDays });
  return {
    url: urlOf(config, port),
    port,
    reloadTls,
    async close() {
      clearInterval(timer);
      await listener.close(CLOSE_GRACE);
      await uploadPack.close();
      await retention.close();
      await auditRetention.close();
      await checkIns.close();
      await store.close();
      await database.close();
    },
  };
}

interface Retention {
  runs: RetentionRuns;
  start(): void;
  close(): Promise<void>;
}

/** Cleanups by request and by schedule, and the maintenance that follows them. */
async function openRetention(
  { config, clock, log }: ServerOptions,
  database: Database,
  store: GitStore,
): Promise<Retention> {
  const maintenance = new Maintenance({ root: config.reposDir, searchPath: config.searchPath, log });
  await maintenance.open();
  const composites = new CompositeReader(store);
  const tools = { database, store, composites, maintenance, clock, log };
  const runs = new RetentionRuns(tools);
  await runs.open();
  const schedule = new RetentionSchedule(tools, runs);
  return {
    runs,
    start: () => schedule.start(),
    async close() {
      await Promise.all([schedule.close(), runs.close()]);
      await maintenance.close();
    },
  };
}

/** With TLS off, as a proxy on this machine reaches it. */
function urlOf({ tls, host }: Config, port: number): string {
  return tls.isOn ? `https://localhost:${port}` : `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function open(listener: Listener, { host, port }: Config): Promise<number> {
  try {
    return await listener.listen(host, port);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE')
      throw unavailable(`HAWSER_PORT: another program listens on port ${port} already`);
    if (code === 'EACCES') throw unavailable(`HAWSER_PORT: this user may not listen on port ${port}`);
    if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN', 'EAFNOSUPPORT', 'EINVAL'].includes(code))
      throw new ConfigError('HAWSER_HOST', `cannot be listened on (${code})`, 'an address of this machine');
    throw error;
  }
}

const unavailable = (message: string) => new HawserError('unavailable', 'cannot_listen', message);

function showTlsTerms(metrics: Metrics, { server, ca }: TlsMaterial): void {
  const endOf = (pem: string) => describeCertificate(new X509Certificate(pem)).notAfter;
  if (server !== null) metrics.showTlsTerm('server', endOf(server.certificate));
  metrics.showTlsTerm('authority', endOf(ca.certificate));
}

async function reload(options: Measured, listener: Listener): Promise<void> {
  try {
    const material = await loadTls(options);
    listener.reload(material);
    showTlsTerms(options.metrics, material);
    options.log.info('TLS files loaded anew');
  } catch (error) {
    options.log.error({ err: error }, 'TLS files could not be loaded; the old ones stay');
  }
}
