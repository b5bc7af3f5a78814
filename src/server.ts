/** The composition root: opens and prepares the stores, makes all that works on them, and listens. */

import { X509Certificate } from 'node:crypto';
import { readConsole } from './api/console/files.ts';
import { readClients } from './api/download/files.ts';
import { createApp } from './app.ts';
import { BundleFiles, bundleFolder } from './bundles/bundle-files.ts';
import type { Config } from './config.ts';
import type { CarryingOutTools } from './deeds/carry-out-changes.ts';
import { type CleanupTools, RetentionRuns } from './deeds/clean-up.ts';
import { finishChangeSets } from './deeds/finish-change-sets.ts';
import { openPreviews } from './deeds/open-previews.ts';
import { previewEngine } from './deeds/preview-engine.ts';
import { GitBlame } from './git/blame.ts';
import { Maintenance } from './git/maintenance.ts';
import { UploadPack } from './git/upload-pack.ts';
import { type Listeners, openListeners, type Place } from './http/listeners.ts';
import { SECOND } from './lib/clock.ts';
import { sentenceOf } from './lib/errors.ts';
import type { Metrics } from './lib/metrics/metrics.ts';
import { CheckIns } from './pull/check-ins.ts';
import { EvidenceNotes } from './pull/evidence.ts';
import { CompositeReader } from './resolve/composites.ts';
import { Documents } from './resolve/documents.ts';
import { EntryPoints } from './resolve/entry-points.ts';
import { parameterFileLookup } from './resolve/parameter-files-of-scopes.ts';
import { placesIn } from './resolve/series-places.ts';
import { describeCertificate } from './security/certificates.ts';
import { Identifier } from './security/identify.ts';
import { Providers } from './security/openid/providers.ts';
import { sharedTicketKeys } from './security/shared-secrets.ts';
import type { TlsMaterial } from './security/tls-files.ts';
import { earliestUpdate, refuseOutOfTerm } from './security/tls-settings.ts';
import {
  closeStores,
  loadTls,
  openStores,
  prepareStores,
  type ServerOptions,
  type Stores,
} from './stores.ts';
import { openComparingThreads, openFleetThreads, openThreads } from './threads/open.ts';
import { startTimers } from './timers.ts';

export interface RunningServer extends Place {
  /** The second listener, which asks for no certificates; null where there is none. */
  ui: Place | null;
  /**
   * Takes certificates, keys, node CA and CRL, the identity providers and the keys of secrets anew from their files. After a
   * fault the old ones stay.
   * @returns the faults, a line each
   */
  reloadTls(): Promise<string[]>;
  /** Answers what is in progress, writes what is noted, and closes the stores. */
  close(): Promise<void>;
}

/** Bundles in files may take so many times the cache's bytes on the disk. */
const BUNDLE_FILES = 4;
const CLOSE_GRACE = 30 * SECOND;

/**
 * Starts a server. After a fault everything opened so far is closed again.
 * @throws ConfigError, or HawserError from the stores and the TLS files
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  // A fault in the file ends the start before anything is changed.
  const providers = new Providers(options.config);
  const stores = await openStores(options);
  try {
    await prepareStores(options, stores);
    stores.store.open();
    return await listen(options, { stores, providers, material: await loadTls(options, stores) });
  } catch (error) {
    await closeStores(stores);
    throw error;
  }
}

async function listen(
  options: ServerOptions,
  { stores, providers, material }: { stores: Stores; providers: Providers; material: TlsMaterial },
): Promise<RunningServer> {
  const { database, metrics } = stores;
  const { config, clock, log } = options;
  const checkIns = new CheckIns(database, log);
  const evidence = new EvidenceNotes({ ...stores, clock, log });
  const { uploadPack, blame } = await openGit(options, stores);
  metrics.addReadings({ gitProcesses: () => uploadPack.processes + blame.processes });
  const retention = await openRetention(options, stores);
  const [threads, comparingThreads] = [openThreads(stores.secrets), openComparingThreads()];
  const fleetThreads = openFleetThreads(config, stores.secrets);
  const carryingOut = carryingOutTools(stores, threads, options);
  // What the end of an earlier process cut off and only the rules of deeds can end, before anything is served.
  await finishChangeSets(carryingOut);
  const engine = previewEngine(fleetThreads.previews);
  const previews = await openPreviews({ ...stores, clock, log, engine });
  const bundleFiles = openBundleFiles(config);
  const handler = createApp({
    ...stores,
    config,
    threads,
    comparingThreads,
    fleetThreads,
    uploadPack,
    blame,
    retention: retention.runs,
    previews: previews.runs,
    authority: material.ca,
    issuesCertificates: material.nodeCa === null,
    bundleFiles,
    consoleFiles: config.ui.isOn ? await readConsole(log) : null,
    clientFiles: await readClients(log),
    providers,
    clock,
    log,
    onNodeSeen: (nodeId, now) => checkIns.note(nodeId, now),
    evidence,
    tuning: options.tuning,
  });
  const ticketKeys = await sharedTicketKeys(database, material);
  const tls = { material, ...(ticketKeys && { ticketKeys }) };
  const { onProblem } = metrics.requests;
  const listeners = await openListeners(config, { ...tls, handler, onProblem, log, clock });
  await showTlsTerms(metrics, material);
  const reloadTls = reloader(options, stores, { listeners, material, providers });
  const identifier = new Identifier(database, (provider) => providers.tokenMaxAge(provider));
  const applying = { ...carryingOut, runs: previews.runs, clock, identifier };
  const timed = { ...retention, ...fleetThreads, ...stores, applying, reloadTls };
  const endTimers = await startTimers(options, timed);
  return {
    url: listeners.url,
    port: listeners.port,
    ui: listeners.ui,
    reloadTls,
    async close() {
      const timers = endTimers();
      stores.eventWaiting.close();
      await listeners.close(CLOSE_GRACE);
      // The previews that are under way end with their threads.
      const all = [threads, comparingThreads, previews, fleetThreads.previews, fleetThreads.questions];
      await Promise.all(all.map((each) => each.close()));
      await Promise.all([uploadPack.close(), blame.close()]);
      await Promise.all([retention.close(), timers]);
      await evidence.close();
      await checkIns.close();
      await bundleFiles.close();
      await closeStores(stores);
    },
  };
}

/** Opens what stock git does for callers. */
async function openGit(
  { config: { reposDir: root, searchPath }, log }: ServerOptions,
  { store: { folders }, metrics }: Stores,
): Promise<{ uploadPack: UploadPack; blame: GitBlame }> {
  const options = { root, searchPath, log, folders };
  const uploadPack = new UploadPack({ ...options, onOperation: metrics.work.onGitOperation });
  await uploadPack.open();
  return { uploadPack, blame: new GitBlame({ ...options, hasGit: uploadPack.isAvailable }) };
}

/** What carries change sets out that nobody asks for at the moment. */
function carryingOutTools(
  stores: Stores,
  threads: ReturnType<typeof openThreads>,
  { clock, log }: Pick<ServerOptions, 'clock' | 'log'>,
): CarryingOutTools {
  const { database, store, secrets } = stores;
  const documents = new Documents(threads, secrets);
  const readers = { documents, places: placesIn(database), entryPoints: new EntryPoints(documents) };
  return { ...stores, ...readers, clock, log, hasParameterFiles: parameterFileLookup(store) };
}

function openBundleFiles({ dataDir, cacheBytes }: Config): BundleFiles {
  return new BundleFiles({ folder: bundleFolder(dataDir), maxBytes: BUNDLE_FILES * cacheBytes });
}

interface Retention {
  tools: CleanupTools;
  runs: RetentionRuns;
  close(): Promise<void>;
}

/** Opens cleanups, and the maintenance that follows them. */
async function openRetention(
  { config, clock, log }: ServerOptions,
  { database, store, locks, metrics }: Stores,
): Promise<Retention> {
  const { reposDir: root, searchPath, maxReportBytes } = config;
  // A cache is not repacked, and what is in PostgreSQL is pruned there.
  const hasFolders = database.repositories === null;
  const maintenance = new Maintenance({ root, searchPath, log, isNeeded: hasFolders });
  await maintenance.open();
  const composites = new CompositeReader(store);
  const { onOverSize } = metrics.work;
  const own = { maxReportBytes, onOverSize };
  const tools = { database, store, composites, maintenance, locks, clock, log, ...own };
  const runs = new RetentionRuns(tools);
  await runs.endInterrupted();
  return {
    tools,
    runs,
    async close() {
      await runs.close();
      await maintenance.close();
    },
  };
}

async function showTlsTerms(metrics: Metrics, { server, ca, nodeCrl }: TlsMaterial): Promise<void> {
  const endOf = (pem: string) => describeCertificate(new X509Certificate(pem)).notAfter;
  if (server !== null) metrics.showTlsTerm('server', endOf(server.certificate));
  metrics.showTlsTerm('authority', endOf(ca.certificate));
  metrics.showCrlTerm(await earliestUpdate(nodeCrl));
}

interface Reloaded {
  listeners: Listeners;
  material: TlsMaterial;
  providers: Providers;
}

/** Makes what takes all files anew, and gives the faults for which old ones stay, a line each. */
function reloader(
  options: ServerOptions,
  stores: Stores,
  { listeners, material, providers }: Reloaded,
): () => Promise<string[]> {
  let served = material;
  const takeTlsFiles = async () => {
    try {
      const next = await loadTls(options, stores);
      refuseOutOfTerm(next.server, served.server, options.clock.now());
      listeners.reload(next, await sharedTicketKeys(stores.database, next));
      served = next;
      await showTlsTerms(stores.metrics, next);
      options.log.info('TLS files loaded anew');
      return null;
    } catch (error) {
      options.log.error({ err: error }, 'TLS files could not be loaded; the old ones stay');
      return sentenceOf(error);
    }
  };
  const takeSecretKeys = async () => {
    try {
      await stores.secrets.reload();
      return null;
    } catch (error) {
      options.log.error({ err: error }, 'the keys of secrets could not be loaded; the old ones stay');
      return sentenceOf(error);
    }
  };
  return async () => {
    const found = [providers.reload(options.log), await takeTlsFiles(), await takeSecretKeys()];
    const faults = found.filter((fault) => fault !== null);
    stores.metrics.showReload(faults.length > 0);
    return faults;
  };
}
