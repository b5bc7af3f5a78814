/** Creating and deleting a composite: a repository without a version, and the row that makes it known. */

import type { z } from 'zod';
import { breaksReference, orConflict } from '../../db/errors.ts';
import type { Database } from '../../db/open.ts';
import {
  clearPendingDeletion,
  finishPendingDeletions,
  notePendingDeletion,
} from '../../db/repository-rows.ts';
import { DEFAULT_ENTRY_POINT } from '../../domain/bundle-paths.ts';
import { nameLock } from '../../domain/lock-names.ts';
import { normalizePath } from '../../domain/safe-path.ts';
import type { GitStore } from '../../git/store.ts';
import type { RepositoryRef, RepositorySettings } from '../../git/types.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Locks } from '../../lib/locks.ts';
import type { Log } from '../../lib/log.ts';
import type { GrantedResource } from '../../security/access.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { grantToCreator } from '../permissions/queries.ts';
import { deleteCompositeRow, insertComposite, isCompositeNameTaken } from './queries.ts';
import type { NewComposite } from './schemas.ts';

export function repositoryOf({ name }: Pick<GrantedResource, 'name'>) {
  return { kind: 'composites', name } as const satisfies RepositoryRef;
}

const nameTaken = () => conflict('name_taken', 'A composite configuration of this name exists');

export interface CompositeStores {
  database: Database;
  store: GitStore;
  /** Held over the check of the name and the making of the repository. */
  locks: Locks;
}

/**
 * @returns the new composite's id
 * @throws HawserError conflict `name_taken`, invalid `invalid_path` for the entry point
 */
export async function createComposite(
  { database, store, locks }: CompositeStores,
  { principal, actor }: { principal: UserPrincipal; actor: Actor },
  composite: z.output<typeof NewComposite>,
): Promise<string> {
  const { name } = composite;
  const settings: RepositorySettings = {
    id: newId(),
    description: composite.description ?? null,
    createdBy: principal.userId,
    useServerManagedParameters: false,
    entryPoint: normalizePath(composite.entryPoint ?? DEFAULT_ENTRY_POINT),
    createdAt: actor.at,
  };
  await database.requireWritable();
  await locks.run(nameLock('composites', name), async () => {
    if (await isCompositeNameTaken(database.read, name)) throw nameTaken();
    await finishPendingDeletions(database, [repositoryOf({ name })], (repository) =>
      store.remove(repository),
    );
    await store.create(repositoryOf({ name }), settings, null);
    try {
      await registerComposite(database, name, settings, { how: 'created', actor });
    } catch (error) {
      // Without its row nobody was told of it; the next start would adopt what cannot be removed now.
      await store.remove(repositoryOf({ name })).catch(() => undefined);
      throw error;
    }
  });
  return settings.id;
}

/** Makes the row, and the creator's grant, from what the repository says of itself. */
export async function registerComposite(
  database: Database,
  name: string,
  settings: RepositorySettings,
  { how, actor }: { how: 'created' | 'adopted'; actor: Actor },
): Promise<void> {
  const { id, description, createdAt, createdBy } = settings;
  const entryPoint = settings.entryPoint ?? DEFAULT_ENTRY_POINT;
  await orConflict('composites.name_key', nameTaken(), () =>
    database.write.transaction().execute(async (trx) => {
      await clearPendingDeletion(trx, { kind: 'composites', name });
      await insertComposite(trx, {
        id,
        name,
        description,
        entry_point: entryPoint,
        created_at: createdAt,
      });
      await grantToCreator(trx, { on: 'composite', resourceId: id }, createdBy, createdAt);
      const details = { name, description, entryPoint };
      await recordAudit(trx, actor, { action: `composite.${how}`, resourceId: id, details });
    }),
  );
}

/** @throws HawserError not_found when somebody else was faster, conflict `in_use` while it is assigned to a node */
export function deleteComposite(
  { database, store, locks, log }: CompositeStores & { log: Log },
  { resource, actor }: { resource: GrantedResource; actor: Actor },
): Promise<void> {
  return locks.run(nameLock('composites', resource.name), async () => {
    await dropRow(database, resource, actor);
    try {
      await finishPendingDeletions(database, [repositoryOf(resource)], (repository) =>
        store.remove(repository),
      );
    } catch (error) {
      // Gone it is, with its row, and what is left on the disk is noted.
      log.error({ err: error, composite: resource.name }, 'a composite that is gone is still on the disk');
    }
  });
}

async function dropRow(database: Database, { id, name }: GrantedResource, actor: Actor): Promise<void> {
  try {
    await database.write.transaction().execute(async (trx) => {
      if (!(await deleteCompositeRow(trx, id))) throw notFound('No composite configuration of this name');
      await notePendingDeletion(trx, repositoryOf({ name }));
      await recordAudit(trx, actor, { action: 'composite.deleted', resourceId: id, details: { name } });
    });
  } catch (error) {
    if (breaksReference(error)) throw conflict('in_use', 'It is assigned to a node');
    throw error;
  }
}
