/** Start-up comparison of the two stores: a repository without a row is adopted, a row without one is reported. */

import type { Database } from '../../db/open.ts';
import type { GitStore } from '../../git/store.ts';
import { HawserError } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { register } from './create.ts';

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

async function adopt(
  database: Database,
  store: GitStore,
  log: Log,
  { name, now }: { name: string; now: number },
): Promise<void> {
  const remembered = await store.settings({ kind: 'configurations', name });
  const unknown = {
    id: newId(),
    description: null,
    createdBy: '',
    useServerManagedParameters: true,
    createdAt: now,
  };
  try {
    await register(database, name, remembered ?? unknown);
    log.warn({ configuration: name }, 'adopted a repository that had no row');
  } catch (error) {
    if (!(error instanceof HawserError)) throw error;
    log.error({ configuration: name, reason: error.message }, 'a repository without a row cannot be adopted');
  }
}
