/** Drafts and publishing: everything checked first, under the repository's lock, then one atomic act. */

import type { z } from 'zod';
import type { Database } from '../../db/open.ts';
import { DEFAULT_ENTRY_POINT } from '../../domain/bundle-paths.ts';
import { isVersion, nextPatch } from '../../domain/version-order.ts';
import type { FileContent, RepositoryRef } from '../../git/types.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import type { CompatibilityGuard } from '../../resolve/compatibility.ts';
import type { GrantedResource } from '../../security/access.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import type { GitStore } from '../../versions/store.ts';
import type { LockedRepository, VersionDetails } from '../../versions/types.ts';
import { checkDraft } from './drafts.ts';
import { type ConfigurationRow, findConfiguration, readEffectiveSettings } from './queries.ts';
import type { NewVersion } from './schemas.ts';
import { noConfiguration, whileThere } from './while-there.ts';

export function repositoryOf(resource: Pick<GrantedResource, 'name'>): RepositoryRef {
  return { kind: 'configurations', name: resource.name };
}

interface Stores {
  database: Database;
  store: GitStore;
}

interface Target {
  resource: GrantedResource;
  principal: UserPrincipal;
  actor: Actor;
}

interface Draft {
  /** Aborted when whoever asked has gone. */
  gone: AbortSignal;
  form: z.output<typeof NewVersion>;
  files: readonly FileContent[];
}

/** @throws HawserError conflict `version_exists`, or what `checkDraft` finds */
export function createDraft(stores: Stores, target: Target, draft: Draft): Promise<VersionDetails> {
  const { database, store } = stores;
  const { resource } = target;
  return exclusively(stores, resource, async (locked, row) => {
    const highest = locked.index.of('').versions[0];
    const version =
      draft.form.version ?? nextPatch(highest && isVersion(highest.version) ? highest.version : null);
    const inherited = highest && (await store.details(repositoryOf(resource), highest)).entryPoint;
    const entryPoint = draft.form.entryPoint ?? inherited ?? DEFAULT_ENTRY_POINT;
    const { requireSemVer } = await readEffectiveSettings(database.read, resource.id);
    const named = { version, entryPoint, requireSemVer };
    const made = await locked.writeDraft('', checked(row, target, draft, named));
    await record(stores, target, 'version_created', { version, commit: made.commit });
    return made;
  });
}

/**
 * Puts other files in the place of a draft's. It keeps its entry point unless another is given.
 * @throws HawserError not_found, conflict `published_version`, or what `checkDraft` finds
 */
export function replaceDraft(
  stores: Stores,
  target: Target,
  version: string,
  draft: Draft,
): Promise<VersionDetails> {
  const { resource } = target;
  return exclusively(stores, resource, async (locked, row) => {
    const ref = existing(locked, version);
    if (ref.status === 'Published') throw published('A published version never changes');
    const details = await stores.store.details(repositoryOf(resource), ref);
    const entryPoint = draft.form.entryPoint ?? details.entryPoint;
    // The version has its name already: a rule that came later asks no other of it.
    const named = { version, entryPoint, requireSemVer: false };
    const { author, ...rest } = checked(row, target, draft, named);
    const change = { ...rest, committer: author };
    const made = await locked.replaceDraft('', version, change);
    const commit = { from: details.commit, to: made.commit };
    await record(stores, target, 'version_replaced', { version, commit });
    return made;
  });
}

/** @throws HawserError not_found without such a version, conflict `published_version` */
export function deleteDraft(
  stores: Stores,
  target: Omit<Target, 'principal'>,
  version: string,
): Promise<void> {
  return exclusively(stores, target.resource, async (locked) => {
    const { status, oid } = existing(locked, version);
    if (status === 'Published') throw published('A published version stays');
    await locked.deleteDraft('', version);
    // The id of a draft is that of its commit.
    await record(stores, target, 'version_deleted', { version, commit: oid });
  });
}

/**
 * Where the server keeps the configuration's parameters, its `parameters` block must fit those before it.
 * @throws HawserError not_found without such a version; conflict `already_published`, `incompatible_parameters`, or
 *   `validation_failed` in mode Strict for a block that cannot be read
 */
export function publishVersion(
  stores: Stores & { compatibility: CompatibilityGuard },
  target: Target,
  version: string,
): Promise<VersionDetails> {
  const { resource, principal, actor } = target;
  const tagger = { name: principal.username, email: principal.email };
  return exclusively(stores, resource, async (locked, row) => {
    if (row.use_server_managed_parameters === 1) {
      const { parameterValidationMode } = await readEffectiveSettings(stores.database.read, resource.id);
      const isStrict = parameterValidationMode === 'Strict';
      await stores.compatibility.requirePublishable(resource.name, version, {
        isStrict,
        caller: principal.userId,
      });
    }
    const made = await locked.publish('', version, tagger, actor.at);
    await record(stores, target, 'version_published', { version, commit: made.commit });
    return made;
  });
}

type VersionAction = 'version_created' | 'version_replaced' | 'version_published' | 'version_deleted';

/** Still under the lock, so that the entries stand in the order of the changes. */
function record(
  { database }: Stores,
  { resource, actor }: Omit<Target, 'principal'>,
  action: VersionAction,
  details: { version: string; commit: unknown },
): Promise<void> {
  return recordAudit(database.write, actor, {
    action: `configuration.${action}`,
    resourceId: resource.id,
    details: { name: resource.name, ...details },
  });
}

/** Details of a version that is named in a path. @throws HawserError not_found */
export async function findVersion(
  store: GitStore,
  repository: RepositoryRef,
  version: string,
): Promise<VersionDetails> {
  const ref = (await store.versions(repository)).get(version);
  if (ref === undefined) throw notFound('No such version');
  return store.details(repository, ref);
}

function existing(locked: LockedRepository, version: string) {
  const ref = locked.index.of('').get(version);
  if (ref === undefined) throw notFound('No such version');
  return ref;
}

const published = (message: string) => conflict('published_version', message);

/**
 * Runs alone in the repository of the configuration to which the caller was let. That one may have been deleted
 * since, and another of its name made, by somebody who gave this caller nothing.
 */
export function exclusively<T>(
  { database, store }: Stores,
  resource: GrantedResource,
  work: (locked: LockedRepository, row: ConfigurationRow) => Promise<T>,
): Promise<T> {
  const run = async (locked: LockedRepository) => {
    const row = await findConfiguration(database.read, resource.id);
    if (!row) throw noConfiguration();
    return work(locked, row);
  };
  return whileThere(database, resource.id, () => store.exclusive(repositoryOf(resource), run));
}

/** Checks a draft by the configuration's flags as they are now, under the lock. */
function checked(
  row: ConfigurationRow,
  { principal, actor }: Target,
  { form, files, gone }: Draft,
  named: { version: string; entryPoint: string; requireSemVer: boolean },
) {
  const { prereleaseChannel } = form;
  const useServerManagedParameters = row.use_server_managed_parameters === 1;
  const now = actor.at;
  return checkDraft({ ...named, prereleaseChannel, useServerManagedParameters, files, principal, now, gone });
}
