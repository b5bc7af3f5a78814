/** Drafts and publishing: everything checked first, under the repository's lock, then one atomic act. */

import type { z } from 'zod';
import type { Database } from '../../db/open.ts';
import { isVersion, nextPatch } from '../../domain/version-order.ts';
import type { GitStore } from '../../git/store.ts';
import type { FileContent, LockedRepository, RepositoryRef, VersionDetails } from '../../git/types.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { checkDraft, DEFAULT_ENTRY_POINT } from './drafts.ts';
import { type ConfigurationRow, findConfiguration } from './queries.ts';
import type { NewVersion } from './schemas.ts';
import { readEffectiveSettings } from './settings.ts';
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
}

interface Draft {
  form: z.output<typeof NewVersion>;
  files: readonly FileContent[];
  now: number;
}

/** @throws HawserError conflict `version_exists`, or what `checkDraft` finds */
export function createDraft(stores: Stores, target: Target, draft: Draft): Promise<VersionDetails> {
  const { database, store } = stores;
  const { resource } = target;
  return exclusively(stores, resource, async (locked, row) => {
    const highest = locked.index.versions[0];
    const version =
      draft.form.version ?? nextPatch(highest && isVersion(highest.version) ? highest.version : null);
    const inherited = highest && (await store.details(repositoryOf(resource), highest)).entryPoint;
    const entryPoint = draft.form.entryPoint ?? inherited ?? DEFAULT_ENTRY_POINT;
    const { requireSemVer } = await readEffectiveSettings(database.read, resource.id);
    return locked.writeDraft(checked(row, target, draft, { version, entryPoint, requireSemVer }));
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
    const { files, author, at, ...rest } = checked(row, target, draft, named);
    return locked.replaceDraft(version, { entryPoint: rest.entryPoint, files, committer: author, at });
  });
}

/** @throws HawserError not_found without such a version, conflict `published_version` */
export function deleteDraft(stores: Stores, resource: GrantedResource, version: string): Promise<void> {
  return exclusively(stores, resource, async (locked) => {
    if (existing(locked, version).status === 'Published') throw published('A published version stays');
    await locked.deleteDraft(version);
  });
}

/** @throws HawserError not_found without such a version, conflict `already_published` */
export function publishVersion(
  stores: Stores,
  { resource, principal }: Target,
  version: string,
  now: number,
): Promise<VersionDetails> {
  const tagger = { name: principal.username, email: principal.email };
  return exclusively(stores, resource, (locked) => locked.publish(version, tagger, now));
}

/** Details of a version that is named in a path. @throws HawserError not_found */
export async function findVersion(
  store: GitStore,
  repository: RepositoryRef,
  version: string,
): Promise<VersionDetails> {
  const ref = (await store.index(repository)).get(version);
  if (ref === undefined) throw notFound('No such version');
  return store.details(repository, ref);
}

function existing(locked: LockedRepository, version: string) {
  const ref = locked.index.get(version);
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
  { principal }: Target,
  { form, files, now }: Draft,
  named: { version: string; entryPoint: string; requireSemVer: boolean },
) {
  const { prereleaseChannel } = form;
  const useServerManagedParameters = row.use_server_managed_parameters === 1;
  return checkDraft({ ...named, prereleaseChannel, useServerManagedParameters, files, principal, now });
}
