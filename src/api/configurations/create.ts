/** Creating a configuration: the repository with its first draft, then the row that makes it known. */

import type { z } from 'zod';
import { orConflict } from '../../db/errors.ts';
import type { Database } from '../../db/open.ts';
import { clearPendingDeletion, finishPendingDeletions } from '../../db/repository-rows.ts';
import { DEFAULT_ENTRY_POINT } from '../../domain/bundle-paths.ts';
import { nameLock } from '../../domain/lock-names.ts';
import type { GitStore } from '../../git/store.ts';
import type { FileContent, RepositorySettings } from '../../git/types.ts';
import { refuseGone } from '../../lib/client-gone.ts';
import { conflict } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import type { Locks } from '../../lib/locks.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { grantToCreator } from '../permissions/queries.ts';
import { readValidationSettings } from '../settings/queries.ts';
import { checkDraft } from './drafts.ts';
import { insertConfiguration, isNameTaken } from './queries.ts';
import type { NewConfiguration } from './schemas.ts';

const FIRST_VERSION = '1.0.0';

/** What keeps the name of a configuration that is gone, or that was copied here without one. */
const parametersLeft = () =>
  conflict('name_taken', 'Parameters of an earlier configuration of this name are still there');

/**
 * The repositories of a configuration in the order in which they are removed: the parameters first, since while the
 * versions are there nobody can make another configuration of this name.
 */
export const partsOf = (name: string) => [
  { kind: 'parameters' as const, name },
  { kind: 'configurations' as const, name },
];

const nameTaken = () => conflict('name_taken', 'A configuration of this name exists');

export interface CreateOptions {
  database: Database;
  store: GitStore;
  /** Held over the check of the name and the making of the repository. */
  locks: Locks;
}

/**
 * @returns the new configuration's id
 * @throws HawserError conflict `name_taken`, also where parameters lie that another configuration of this name left,
 *   which nobody has given to this one; or what `checkDraft` finds
 */
export async function createConfiguration(
  { database, store, locks }: CreateOptions,
  { principal, actor, gone }: { principal: UserPrincipal; actor: Actor; gone: AbortSignal },
  form: z.output<typeof NewConfiguration>,
  files: readonly FileContent[],
): Promise<string> {
  const useServerManagedParameters = form.useServerManagedParameters ?? true;
  const draft = checkDraft({
    version: form.version ?? FIRST_VERSION,
    entryPoint: form.entryPoint ?? DEFAULT_ENTRY_POINT,
    prereleaseChannel: form.prereleaseChannel,
    requireSemVer: (await readValidationSettings(database.read)).requireSemVer,
    useServerManagedParameters,
    principal,
    files,
    now: actor.at,
    gone,
  });
  const settings: RepositorySettings = {
    id: newId(),
    description: form.description ?? null,
    createdBy: principal.userId,
    useServerManagedParameters,
    entryPoint: null,
    createdAt: actor.at,
  };
  const repository = { kind: 'configurations', name: form.name } as const;
  await database.requireWritable();
  await locks.run(nameLock('configurations', form.name), async () => {
    if (await isNameTaken(database.read, form.name)) throw nameTaken();
    await finishPendingDeletions(database, partsOf(form.name), (part) => store.remove(part));
    if (await store.has({ kind: 'parameters', name: form.name })) throw parametersLeft();
    await store.create(repository, settings, draft);
    try {
      refuseGone(gone);
      await register(database, form.name, settings, { how: 'created', actor, version: draft.version });
    } catch (error) {
      // Without its row nobody was told of it; the next start would adopt what cannot be removed now.
      await store.remove(repository).catch(() => undefined);
      throw error;
    }
  });
  return settings.id;
}

interface Origin {
  how: 'created' | 'adopted';
  actor: Actor;
  /** The first draft's. */
  version?: string;
}

/** Makes the row, and the creator's grant, from what the repository says of itself. */
export async function register(
  database: Database,
  name: string,
  settings: RepositorySettings,
  { how, actor, version }: Origin,
): Promise<void> {
  const { id, description, createdAt, createdBy, useServerManagedParameters } = settings;
  await orConflict('configurations.name_key', nameTaken(), () =>
    database.write.transaction().execute(async (trx) => {
      await clearPendingDeletion(trx, { kind: 'configurations', name });
      await clearPendingDeletion(trx, { kind: 'parameters', name });
      await insertConfiguration(trx, {
        id,
        name,
        description,
        use_server_managed_parameters: useServerManagedParameters ? 1 : 0,
        created_at: createdAt,
      });
      await grantToCreator(trx, { on: 'configuration', resourceId: id }, createdBy, createdAt);
      const details = { name, description, useServerManagedParameters, version };
      await recordAudit(trx, actor, { action: `configuration.${how}`, resourceId: id, details });
    }),
  );
}
