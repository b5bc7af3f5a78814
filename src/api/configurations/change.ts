/** Changing and deleting a configuration, with the guards that keep nodes and composites whole. */

import type { z } from 'zod';
import { breaksReference } from '../../db/errors.ts';
import type { Database } from '../../db/open.ts';
import { finishPendingDeletions, notePendingDeletion } from '../../db/repository-rows.ts';
import { changedMembers } from '../../domain/changed-members.ts';
import type { GitStore } from '../../git/store.ts';
import { conflict } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { CompositeReader } from '../../resolve/composites.ts';
import type { GrantedResource } from '../../security/access.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { partsOf } from './create.ts';
import { refuseReserved } from './drafts.ts';
import { type ConfigurationRow, updateConfiguration } from './queries.ts';
import type { ConfigurationChange } from './schemas.ts';
import { exclusively, repositoryOf } from './versions.ts';
import { noConfiguration, whileThere } from './while-there.ts';

/**
 * Changes nothing, the time of the last change included, where all is so already.
 * @throws HawserError conflict `reserved_path` when the highest version holds what the parameters would overwrite;
 *   `in_use` when nodes would lose published parameters
 */
export async function changeConfiguration(
  { database, store }: { database: Database; store: GitStore },
  { resource, actor }: { resource: GrantedResource; actor: Actor },
  change: z.output<typeof ConfigurationChange>,
): Promise<void> {
  // Under the lock, so that no draft with a reserved path slips in between.
  await exclusively({ database, store }, resource, async ({ index }, row) => {
    const changes = changedMembers(changeableOf(row), change);
    if (changes === null) return;
    const highest = index.versions[0];
    if (highest && changes['useServerManagedParameters']?.to === true) {
      refuseReserved((await store.details(repositoryOf(resource), highest)).files);
    }
    if (changes['useServerManagedParameters']?.to === false) await refusePublished(store, resource.name);
    const { id: resourceId, name } = resource;
    await database.write.transaction().execute(async (trx) => {
      await updateConfiguration(trx, resourceId, { ...toColumns(change), updated_at: actor.at });
      const details = { name, ...changes };
      await recordAudit(trx, actor, { action: 'configuration.updated', resourceId, details });
    });
  });
}

async function refusePublished(store: GitStore, name: string): Promise<void> {
  const index = await store.parameters.index(name);
  const isPublished = index.scopes().some((scope) => index.published(scope).length > 0);
  if (isPublished) throw inUse('It has published parameter files, which nodes would no longer get');
}

function changeableOf({ description, use_server_managed_parameters: managed }: ConfigurationRow) {
  return { description, useServerManagedParameters: managed === 1 };
}

function toColumns({
  description,
  useServerManagedParameters: managed,
}: z.output<typeof ConfigurationChange>) {
  return {
    ...(description === undefined ? {} : { description }),
    ...(managed === undefined ? {} : { use_server_managed_parameters: managed ? 1 : 0 }),
  };
}

interface DeleteOptions {
  database: Database;
  store: GitStore;
  composites: CompositeReader;
  log: Log;
}

/**
 * Deletes the row, and with it grants and settings, then the repositories of its parameters and its versions. To be
 * called under the lock of its name.
 * @throws HawserError conflict `in_use` while a node or a composite has it
 */
export async function deleteConfiguration(
  { database, store, composites, log }: DeleteOptions,
  { resource, actor }: { resource: GrantedResource; actor: Actor },
): Promise<void> {
  const repository = repositoryOf(resource);
  const drop = async () => {
    if (await composites.isChild(resource.name)) throw inUse('A composite configuration has it as a child');
    // Whoever writes parameters looks for the row under this lock, so that none come back once it is gone.
    await store.parameters.exclusive(resource.name, () => dropRow(database, resource, actor));
  };
  if (await store.has(repository)) {
    // Whoever adds it to a composite holds this lock too.
    await whileThere(database, resource.id, () => store.exclusive(repository, drop));
  } else {
    // Lost on the disk: nobody can take its lock or add it anywhere, and its row would stay for ever.
    await drop();
  }
  try {
    await finishPendingDeletions(database, partsOf(resource.name), (part) => store.remove(part));
  } catch (error) {
    // Gone it is, with its row, and what is left on the disk is noted.
    log.error(
      { err: error, configuration: resource.name },
      'a configuration that is gone is still on the disk',
    );
  }
}

async function dropRow(database: Database, { id, name }: GrantedResource, actor: Actor): Promise<void> {
  try {
    await database.write.transaction().execute(async (trx) => {
      await notePendingDeletion(trx, { kind: 'configurations', name });
      await notePendingDeletion(trx, { kind: 'parameters', name });
      const gone = await trx.deleteFrom('configurations').where('id', '=', id).executeTakeFirst();
      // Somebody else was faster; what has the name by now is not to be removed.
      if (gone.numDeletedRows === 0n) throw noConfiguration();
      await recordAudit(trx, actor, { action: 'configuration.deleted', resourceId: id, details: { name } });
    });
  } catch (error) {
    if (breaksReference(error)) throw inUse('It is assigned to a node');
    throw error;
  }
}

const inUse = (message: string) => conflict('in_use', message);
