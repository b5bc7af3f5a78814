/** Start-up comparison of the two stores: a repository without a row is adopted, a row without one is reported. */

import type { Database } from '../../db/open.ts';
import { isResourceName } from '../../domain/names.ts';
import type { GitStore } from '../../git/store.ts';
import type { RepositorySettings } from '../../git/types.ts';
import { HawserError, invalid } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { register } from './create.ts';
import { findConfiguration } from './queries.ts';

/** Repairs what a crash between repository and row left; never removes anything. */
export async function reconcileConfigurations(
  database: Database,
  store: GitStore,
  log: Log,
  now: number,
): Promise<void> {
  const rows = await database.read.selectFrom('configurations').select('name').execute();
  const registered = new Set(rows.map((row) => row.name));
  const onDisk = new Set(await store.list('configurations'));
  for (const name of onDisk) if (!registered.has(name)) await adopt(database, store, log, { name, now });
  for (const name of registered) {
    if (!onDisk.has(name))
      log.error({ configuration: name }, 'the repository of this configuration is missing');
  }
}

/** One repository that cannot be adopted must not keep the server, and all the others, from starting. */
async function adopt(
  database: Database,
  store: GitStore,
  log: Log,
  { name, now }: { name: string; now: number },
): Promise<void> {
  try {
    if (!isResourceName(name)) throw invalid('invalid_name', 'The name cannot be that of a configuration');
    await register(database, name, await settingsOf(database, store, name, now));
    log.warn({ configuration: name }, 'adopted a repository that had no row');
  } catch (error) {
    if (!(error instanceof HawserError)) throw error;
    log.error({ configuration: name, reason: error.message }, 'a repository without a row cannot be adopted');
  }
}

/** What the repository remembers, under another id when it is a copy of one that is known. */
async function settingsOf(
  database: Database,
  store: GitStore,
  name: string,
  now: number,
): Promise<RepositorySettings> {
  const remembered = await store.settings({ kind: 'configurations', name });
  if (remembered !== null) {
    const original = await findConfiguration(database.read, remembered.id);
    return original ? { ...remembered, id: newId() } : remembered;
  }
  return { id: newId(), description: null, createdBy: '', useServerManagedParameters: true, createdAt: now };
}
