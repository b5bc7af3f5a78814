/**
 * Compares the two stores at the start: removals that a crash cut off are ended, a repository without a row is adopted,
 * a row without a repository is reported, and so are parameters without a configuration.
 */

import type { Database } from '../db/database.ts';
import { finishPendingDeletions, listPendingDeletions } from '../db/repository-rows.ts';
import { isResourceName } from '../domain/names.ts';
import { HawserError, invalid } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { systemActor } from '../security/audit.ts';
import { underLock } from './author.ts';
import { registerResource } from './resources.ts';
import { findRow, noteParameters, type Owner, type ResourceKind } from './rows.ts';
import type { GitStore, RepositorySettings } from './store.ts';
import { hasUnrecorded } from './unrecorded.ts';

export interface ReconcileOptions {
  database: Database;
  store: GitStore;
  log: Log;
  now: number;
}

/** A repository that should have a row of its own. */
interface Repository {
  kind: ResourceKind;
  name: string;
}

/** Runs before anything is served. Removes only what was being removed, and records only what was being recorded. */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { database, store } = options;
  await finishPendingDeletions(database, await listPendingDeletions(database.read), (repository) =>
    store.remove(repository),
  );
  for (const kind of ['configurations', 'composites'] as const) await compare(options, kind);
  await compareParameters(options);
}

async function compare(options: ReconcileOptions, kind: ResourceKind): Promise<void> {
  const { database, store, log } = options;
  const rows = await database.read.selectFrom(kind).select(['id', 'name']).execute();
  const registered = new Set(rows.map((row) => row.name));
  const onDisk = new Set(await store.list(kind));
  for (const name of onDisk) if (!registered.has(name)) await adopt(options, { kind, name });
  for (const name of registered) {
    if (onDisk.has(name)) continue;
    log.error({ repository: { kind, name } }, 'the repository of this row is missing');
    // After this first read the store knows that it is missing, and readiness names it from the start.
    await store.index({ kind, name }).catch(() => undefined);
  }
  for (const resource of rows) if (onDisk.has(resource.name)) await record(options, { kind, resource });
}

/** Records what a server that was killed had changed and not yet recorded. A failure is left to the next write. */
async function record({ database, store, log }: ReconcileOptions, owner: Owner): Promise<void> {
  const repository = { kind: owner.kind, name: owner.resource.name };
  if (!hasUnrecorded(store.root, repository)) return;
  try {
    await underLock({ database, store }, owner, async () => undefined);
    log.info({ repository }, 'completed the audit trail after a crash');
  } catch (error) {
    log.error({ err: error, repository }, 'could not complete the audit trail after a crash');
  }
}

/**
 * Reports parameters without a configuration, and configurations whose parameters are missing. Parameters without a
 * configuration are kept, as they may hold what cannot be had again, and given to nobody. Their name stays taken until
 * an administrator brings the configuration back or moves them away.
 */
async function compareParameters(options: ReconcileOptions): Promise<void> {
  const { database, store, log } = options;
  const rows = await database.read.selectFrom('configurations').selectAll().execute();
  const byName = new Map(rows.map((row) => [row.name, row]));
  const report = (name: string, message: string) =>
    log.error({ repository: { kind: 'parameters', name } }, message);
  for (const name of await store.list('parameters')) {
    const row = byName.get(name);
    byName.delete(name);
    // A crash may have happened between the first file and this note.
    if (row) {
      await noteParameters(database.write, row.id);
      await record(options, { kind: 'parameters', resource: row });
    } else report(name, 'there is no configuration for these parameters');
  }
  for (const { name, has_parameters } of byName.values())
    if (has_parameters === 1) report(name, 'the parameters of this configuration are missing');
}

/** One repository that cannot be adopted must not keep the server, and all the others, from starting. */
async function adopt(options: ReconcileOptions, repository: Repository): Promise<void> {
  const { log } = options;
  try {
    await adoptRepository(options, repository);
    log.warn({ repository }, 'adopted a repository that had no row');
  } catch (error) {
    if (!(error instanceof HawserError)) throw error;
    log.error({ repository, reason: error.message }, 'a repository without a row cannot be adopted');
  }
}

/** Makes the row of a repository that has none. @throws HawserError invalid, conflict `name_taken` */
export async function adoptRepository(
  options: Pick<ReconcileOptions, 'database' | 'store' | 'now'>,
  repository: Repository,
): Promise<void> {
  const { database, now } = options;
  if (!isResourceName(repository.name))
    throw invalid('invalid_name', 'The name cannot be that of a configuration');
  const settings = await settingsOf(options, repository);
  await registerResource(database, { ...repository, settings }, { how: 'adopted', actor: systemActor(now) });
}

/** The settings of a repository that this server did not make. */
export function unknownSettings(now: number): RepositorySettings {
  const settings = { id: newId(), description: null, createdBy: '', createdAt: now };
  return { ...settings, useServerManagedParameters: true, entryPoint: null };
}

/** What the repository remembers, under another id when it is a copy of one that is known. */
async function settingsOf(
  { database, store, now }: Pick<ReconcileOptions, 'database' | 'store' | 'now'>,
  repository: Repository,
): Promise<RepositorySettings> {
  const remembered = await store.settings(repository);
  if (remembered === null) return unknownSettings(now);
  const original = await findRow(database.read, repository.kind, remembered.id);
  return original ? { ...remembered, id: newId() } : remembered;
}
