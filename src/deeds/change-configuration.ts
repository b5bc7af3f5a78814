/** Changes what is said of a configuration, and who manages its parameters. */

import type { Db } from '../db/database.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { recordAudit } from '../security/audit.ts';
import { authorVersions } from '../versions/author.ts';
import type { ResourceTools } from '../versions/resources.ts';
import {
  refusePublishedParameters,
  refuseReservedEntryPoints,
  refuseReservedPaths,
} from '../versions/rules.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { ConfigurationTarget } from './create-draft.ts';
import { requireDoneAlone } from './protection.ts';

/** What is to be changed of a configuration. Absent members stay; null clears the description. */
export interface ConfigurationChange {
  description?: string | null | undefined;
  useServerManagedParameters?: boolean | undefined;
}

/**
 * Changes a configuration. Where nothing differs, nothing is written, not even the time of the last change.
 * @throws HawserError conflict `reserved_path` when the highest version has a file where the parameters go, or a published one
 *   its entry point; `in_use` when nodes would lose published parameters; `change_set_required`
 */
export async function changeConfiguration(
  tools: ResourceTools,
  target: ConfigurationTarget,
  change: ConfigurationChange,
): Promise<void> {
  const { database, store } = tools;
  const { actor, resource } = target;
  const { id: resourceId, name } = resource;
  // Under the lock, so that no draft with a reserved path slips in between.
  await authorVersions(tools, target, async (_author, { description, use_server_managed_parameters }) => {
    const before = { description, useServerManagedParameters: use_server_managed_parameters === 1 };
    const changes = changedMembers(before, change);
    if (changes === null) return;
    const isManaged = changes['useServerManagedParameters']?.to;
    if (typeof isManaged === 'boolean') {
      const deed = { configurationName: name, useServerManagedParameters: isManaged };
      await requireDoneAlone(tools, actor, { kind: 'SetServerManaged', ...deed });
      await requireManageable(store, name, isManaged);
    }
    await database.transact(async (trx) => {
      await updateRow(trx, resourceId, change, actor.at);
      const details = { name, ...changes };
      await recordAudit(trx, actor, { action: 'configuration.updated', resourceId, details });
    });
  });
}

/**
 * What stands in the way of the server managing the parameters of a configuration from now on, or no longer.
 * @throws HawserError as `changeConfiguration`
 */
export async function requireManageable(
  source: VersionSource,
  name: string,
  isManaged: boolean,
): Promise<void> {
  if (!isManaged) return refusePublishedParameters(source, name);
  const repository = { kind: 'configurations', name } as const;
  const index = await source.versions(repository);
  const [highest] = index.versions;
  if (highest === undefined) return;
  refuseReservedPaths((await source.details(repository, highest)).files);
  await refuseReservedEntryPoints(source, name, index);
}

async function updateRow(
  trx: Db,
  id: string,
  { description, useServerManagedParameters: managed }: ConfigurationChange,
  now: number,
): Promise<void> {
  const columns = {
    ...(description === undefined ? {} : { description }),
    ...(managed === undefined ? {} : { use_server_managed_parameters: Number(managed) }),
  };
  const update = trx.updateTable('configurations').set({ ...columns, updated_at: now });
  await update.where('id', '=', id).execute();
}
