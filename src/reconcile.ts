/**
 * Start-up comparison of the two stores: removals that a crash cut off are ended, a repository without a row is
 * adopted, a row without a repository is reported, and so are parameters without a configuration.
 */

import { registerComposite } from './api/composite-configurations/create.ts';
import { register as registerConfiguration } from './api/configurations/create.ts';
import { noteParameters } from './api/configurations/queries.ts';
import type { Database } from './db/open.ts';
import { finishPendingDeletions, listPendingDeletions } from './db/repository-rows.ts';
import { isResourceName } from './domain/names.ts';
import type { GitStore } from './git/store.ts';
import type { RepositoryRef, RepositorySettings } from './git/types.ts';
import { HawserError, invalid } from './lib/errors.ts';
import { newId } from './lib/ids.ts';
import type { Log } from './lib/log.ts';
import { systemActor } from './security/audit.ts';

export interface ReconcileOptions {
  database: Database;
  store: GitStore;
  log: Log;
  now: number;
}

/** The kinds whose repositories have a row of their own; parameters belong to their configuration's. */
const REGISTERS = { configurations: registerConfiguration, composites: registerComposite };
type RegisteredKind = keyof typeof REGISTERS;

/** Runs before anything is served. Removes only what was being removed. */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { database, store } = options;
  await finishPendingDeletions(database, await listPendingDeletions(database.read), (repository) =>
    store.remove(repository),
  );
  for (const kind of Object.keys(REGISTERS) as RegisteredKind[]) await compare(options, kind);
  await compareParameters(options);
}

async function compare(options: ReconcileOptions, kind: RegisteredKind): Promise<void> {
  const { database, store, log } = options;
  const rows = await database.read.selectFrom(kind).select('name').execute();
  const registered = new Set(rows.map((row) => row.name));
  const onDisk = new Set(await store.list(kind));
  for (const name of onDisk) if (!registered.has(name)) await adopt(options, { kind, name });
  for (const name of registered) {
    if (onDisk.has(name)) continue;
    log.error({ repository: { kind, name } }, 'the repository of this row is missing');
    // Asked for once, the store knows of it, and readiness names it from the start.
    await store.index({ kind, name }).catch(() => undefined);
  }
}

/**
 * Parameters without a configuration, and the other way round. Those whose configuration is nowhere are kept, as they may hold what cannot be had again, and given to nobody.
 * Their name stays taken until an administrator brings the configuration back or moves them away.
 */
async function compareParameters({ database, store, log }: ReconcileOptions): Promise<void> {
  const rows = await database.read.selectFrom('configurations').selectAll().execute();
  const byName = new Map(rows.map((row) => [row.name, row]));
  for (const name of await store.list('parameters')) {
    const row = byName.get(name);
    byName.delete(name);
    // A crash may have come between the first file and the note of it.
    if (row) await noteParameters(database.write, row.id);
    else
      log.error(
        { repository: { kind: 'parameters', name } },
        'there is no configuration for these parameters',
      );
  }
  for (const { name, has_parameters } of byName.values()) {
    if (has_parameters === 0) continue;
    log.error(
      { repository: { kind: 'parameters', name } },
      'the parameters of this configuration are missing',
    );
  }
}

/** One repository that cannot be adopted must not keep the server, and all the others, from starting. */
async function adopt(
  options: ReconcileOptions,
  repository: RepositoryRef & { kind: RegisteredKind },
): Promise<void> {
  const { database, log, now } = options;
  const { kind, name } = repository;
  try {
    if (!isResourceName(name)) throw invalid('invalid_name', 'The name cannot be that of a configuration');
    const settings = await settingsOf(options, repository);
    await REGISTERS[kind](database, name, settings, { how: 'adopted', actor: systemActor(now) });
    log.warn({ repository }, 'adopted a repository that had no row');
  } catch (error) {
    if (!(error instanceof HawserError)) throw error;
    log.error({ repository, reason: error.message }, 'a repository without a row cannot be adopted');
  }
}

/** What the repository remembers, under another id when it is a copy of one that is known. */
async function settingsOf(
  { database, store, now }: ReconcileOptions,
  repository: RepositoryRef & { kind: RegisteredKind },
): Promise<RepositorySettings> {
  const remembered = await store.settings(repository);
  if (remembered === null) {
    const settings = { id: newId(), description: null, createdBy: '', createdAt: now };
    return { ...settings, useServerManagedParameters: true, entryPoint: null };
  }
  const original = await database.read
    .selectFrom(repository.kind)
    .select('id')
    .where('id', '=', remembered.id)
    .executeTakeFirst();
  return original ? { ...remembered, id: newId() } : remembered;
}
