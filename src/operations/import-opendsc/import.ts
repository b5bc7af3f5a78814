/** `hawser import-opendsc`: brings what an OpenDSC server holds into this one, which must not run. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/database.ts';
import { lockFolders } from '../../db/folder-lock.ts';
import { freezeLook } from '../../db/freeze.ts';
import type { InspectedDatabase } from '../../db/inspected-database.ts';
import { inspectDatabase } from '../../db/inspection.ts';
import { listServers, listsServers } from '../../db/servers.ts';
import type { SecretTools } from '../../deeds/secret-content.ts';
import { SYSTEM_NAMES } from '../../domain/audit-actions.ts';
import type { AtomicFs } from '../../git/atomic-fs.ts';
import type { Clock } from '../../lib/clock.ts';
import { HawserError } from '../../lib/errors.ts';
import { createLog } from '../../lib/log.ts';
import { DocumentsInThread } from '../../resolve/documents.ts';
import { EntryPoints } from '../../resolve/entry-points.ts';
import { ParameterReader } from '../../resolve/parameters.ts';
import { SchemaReader } from '../../resolve/schemas.ts';
import { placesIn } from '../../resolve/series-places.ts';
import { type Actor, systemActor } from '../../security/audit.ts';
import { countAwaiting } from '../../security/awaiting-certificates.ts';
import { forgetInitialPassword } from '../../security/built-ins.ts';
import { closeStores, openStores, prepareStores, type Stores } from '../../stores.ts';
import { inspectingStore } from '../../versions/inspection.ts';
import { readCommandKeys } from '../command-keys.ts';
import { requirePresentForm } from '../present-form.ts';
import { type CheckReport, checkMove } from './check/check.ts';
import { type Deed, doInDatabase, isRowDeed } from './deeds.ts';
import { type HereTools, readHere } from './here.ts';
import type { ImportReport, Kind } from './kinds.ts';
import { type FileStates, lookAtFiles } from './look-at-files.ts';
import { makePlan } from './plan/make-plan.ts';
import { unknownPermissions } from './plan/people.ts';
import type { Plan } from './plan/plan.ts';
import { openSourceFiles } from './source/files.ts';
import { readSite } from './source/read-site.ts';
import type { SourceFiles, SourceSite } from './source/site.ts';
import { VersionsWriter } from './write-versions.ts';

export interface ImportOptions {
  config: Config;
  clock: Clock;
  /** The path of an SQLite file, or the URL of a PostgreSQL database. */
  database: string;
  /** The data folder of the OpenDSC server. */
  files: string;
  skip: ReadonlySet<Kind>;
  isDryRun: boolean;
  /** The repositories' way to the disk, as `ServerOptions` has it. */
  fs?: AtomicFs;
  /** Is told what is under way, and how many of how many are done. */
  onProgress(what: string, done: number, all: number): void;
}

interface Source {
  name: string;
  site: SourceSite;
  files: SourceFiles;
  states: FileStates;
}

/** Deeds of one transaction. */
const TOGETHER = 200;

/**
 * Imports all that is not here yet, or says in a dry run what that would be.
 * @throws HawserError `folder_in_use` while a server runs; `frozen`; Error with one sentence where the source cannot be read, or the
 *   target is of another release
 */
export async function importOpenDsc(options: ImportOptions): Promise<ImportReport> {
  const { site, name } = await readSite(options.database);
  const files = await openSourceFiles(options.files);
  // A folder of another database is found out before anything is made here.
  const states = await lookAtFiles(site, files, options.skip, (done, all) =>
    options.onProgress('files read', done, all),
  );
  const source = { name, site, files, states };
  return options.isDryRun ? dryRun(options, source) : runImport(options, source);
}

/**
 * Compares what each node of the source was served there with what it is served here. Nothing is written.
 * @throws Error with one sentence where the source cannot be read, or there is nothing to compare it with
 */
export async function checkOpenDsc(options: Omit<ImportOptions, 'skip' | 'isDryRun'>): Promise<CheckReport> {
  const { config, database, files: folder, onProgress } = options;
  const { site } = await readSite(database);
  const files = await openSourceFiles(folder);
  await requirePresentForm(config);
  const { dataDir, databaseUrl, reposDir, cacheBytes } = config;
  const place = { dataDir, databaseUrl, reposDir, cacheBytes };
  return checkMove(place, await readCommandKeys(config), { site, files }, (done, all) =>
    onProgress('nodes compared', done, all),
  );
}

async function dryRun(options: ImportOptions, source: Source): Promise<ImportReport> {
  return withTarget(options, async (target) => {
    const plan = await planFor(options, source, target);
    const planned = plan.deeds.filter(({ deed }) => deed.do === 'insertNode').length;
    return toReport(source, plan, (await countAwaiting(target.read)) + planned);
  });
}

async function runImport(options: ImportOptions, source: Source): Promise<ImportReport> {
  const { config, clock } = options;
  await requireThisRelease(config, { isStopped: true });
  return withStores(options, config, async (stores) => {
    const { database, store } = stores;
    const requireUnfrozen = freezeLook(() => clock.now());
    await requireUnfrozen(database.read);
    const actor = { ...systemActor(clock.now()), name: SYSTEM_NAMES.importer, requireUnfrozen };
    const target = { read: database.read, store, dataDir: config.dataDir, config };
    const plan = await planFor(options, source, target);
    await carryOut(options, stores, { plan, source, actor });
    return toReport(source, plan, await countAwaiting(database.read));
  });
}

async function planFor(options: ImportOptions, { site, states }: Source, target: HereTools): Promise<Plan> {
  const { skip, config, clock } = options;
  const here = await readHere(target, site);
  return makePlan({ site, files: states, here, skip, limits: config.limits, now: clock.now() });
}

interface Work {
  plan: Plan;
  source: Source;
  actor: Actor;
}

/** Where it ends, all that was done is whole, and the next run goes on after it. */
async function carryOut(
  { config, clock, onProgress }: ImportOptions,
  stores: Stores,
  { plan, source, actor }: Work,
): Promise<void> {
  const { database, store, locks } = stores;
  const tools = { database, store, locks, clock, log: createLog('silent'), secrets: secretToolsOf(stores) };
  const writer = new VersionsWriter(tools, source, actor);
  // In PostgreSQL the password that it holds may have gone in a run that was killed before it removed the file.
  if (!plan.input.here.hasFirstPassword) await forgetInitialPassword(config.dataDir);
  for (const { kind, deeds } of runsOf(plan)) {
    let done = 0;
    const tell = (more: number) => {
      done += more;
      onProgress(kind, done, deeds.length);
    };
    const rows = deeds.map(({ deed }) => deed).filter(isRowDeed);
    for (let at = 0; at < rows.length; at += TOGETHER) {
      const batch = rows.slice(at, at + TOGETHER);
      await database.write.transaction().execute(async (trx) => {
        for (const deed of batch) await doInDatabase(trx, actor, deed);
      });
      if (batch.some((deed) => deed.do === 'takePassword')) await forgetInitialPassword(config.dataDir);
      tell(batch.length);
    }
    const others = deeds.flatMap(({ name, deed }) => (isRowDeed(deed) ? [] : [{ name, deed }]));
    await writer.doAll(others, ({ name }, leftOut) => {
      if (leftOut !== null) plan.leaveOut(kind, { name, reason: leftOut.message });
      tell(1);
    });
  }
}

function secretToolsOf({ database, store, secrets }: Stores): SecretTools {
  const documents = new DocumentsInThread(secrets);
  const parameters = new ParameterReader(store, { documents, places: placesIn(database) });
  const entryPoints = new EntryPoints(documents);
  const schemas = new SchemaReader(store, { parameters, documents, entryPoints });
  return { parameters, schemas, documents, secrets };
}

/** The deeds that follow each other, kind by kind. No two of one kind hang on each other, but for versions of one series. */
function runsOf({ deeds }: Plan): { kind: Kind; deeds: { name: string; deed: Deed }[] }[] {
  const runs: ReturnType<typeof runsOf> = [];
  for (const { kind, ...named } of deeds) {
    const last = runs.at(-1);
    if (last?.kind === kind) last.deeds.push(named);
    else runs.push({ kind, deeds: [named] });
  }
  return runs;
}

function toReport(
  { name, site, states: { ambiguous } }: Source,
  plan: Plan,
  nodesAwaiting: number,
): ImportReport {
  const names = unknownPermissions(site.roles);
  const listed = [
    { kind: 'external logins', names: plan.loginsLeft },
    ...(names.length === 0 ? [] : [{ kind: 'permissions that are unknown here', names }]),
  ];
  const notCarried = [...site.notCarried, ...listed.map((each) => ({ ...each, count: each.names.length }))];
  return { source: name, kinds: plan.kinds, ambiguous, notCarried, nodesAwaiting };
}

/** @throws Error where the database has tables of another release; HawserError `folder_in_use` if servers must not run and do */
async function requireThisRelease(config: Config, { isStopped = false } = {}): Promise<void> {
  const inspected = await inspectDatabase(config);
  try {
    const read = await readerOf(inspected);
    if (read === null) return;
    const { pending, unknown } = await inspected.migrations();
    if (pending.length + unknown.length > 0)
      throw new Error(
        'the database of this server is of another release; start the server of this one first',
      );
    if (isStopped && listsServers(read)) await refuseRunningServers(read);
  } finally {
    await inspected.close();
  }
}

/** For reads; null without tables. One commit makes all of them, and a first start may have ended before it. */
async function readerOf({ read }: InspectedDatabase): Promise<Db | null> {
  const tables = (await read?.introspection.getTables()) ?? [];
  return tables.some(({ name }) => name === 'configurations') ? read : null;
}

async function refuseRunningServers(read: Db): Promise<void> {
  const servers = await listServers(read);
  if (servers.length > 0)
    throw new HawserError(
      'invalid',
      'folder_in_use',
      `${servers.length} Hawser servers use the database; stop them first`,
    );
}

/** Opens the stores as a start of the server does, and makes what the first start makes. */
async function withStores<T>(
  { clock, fs }: ImportOptions,
  config: Config,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  let locks: ReturnType<typeof lockFolders> | undefined;
  const options = {
    ...{ config, clock, log: createLog('silent'), showFirstPassword: () => undefined },
    ...(fs && { fs }),
    claimFolders: () => {
      locks = lockFolders(config);
    },
  };
  try {
    const stores = await openStores(options);
    try {
      await prepareStores(options, stores);
      return await work(stores);
    } finally {
      await closeStores(stores);
    }
  } finally {
    locks?.release();
  }
}

/** Gives what is here for reading. Where nothing is, it is what a first start would make. */
async function withTarget<T>(options: ImportOptions, work: (target: HereTools) => Promise<T>): Promise<T> {
  const { config } = options;
  await requireThisRelease(config);
  const inspected = await inspectDatabase(config);
  try {
    const read = await readerOf(inspected);
    if (read !== null) {
      const store = inspectingStore(config.reposDir, inspected.repositories);
      try {
        return await work({ read, store, dataDir: config.dataDir, config });
      } finally {
        await store.close();
      }
    }
  } finally {
    await inspected.close();
  }
  return withEmptyTarget(options, work);
}

async function withEmptyTarget<T>(
  options: ImportOptions,
  work: (target: HereTools) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'hawser-import-'));
  const [dataDir, reposDir] = [join(folder, 'data'), join(folder, 'repos')];
  try {
    return await withStores(options, { ...options.config, dataDir, reposDir, databaseUrl: null }, (stores) =>
      work({ read: stores.database.read, store: stores.store, dataDir, config: options.config }),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
