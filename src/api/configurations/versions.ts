/** New drafts and publishing: everything checked first, under the repository's lock, then one atomic act. */

import type { z } from 'zod';
import type { Database } from '../../db/open.ts';
import { nextPatch } from '../../domain/version-order.ts';
import type { GitStore } from '../../git/store.ts';
import type { FileContent, RepositoryRef, VersionDetails } from '../../git/types.ts';
import type { VersionIndex } from '../../git/version-index.ts';
import { notFound } from '../../lib/errors.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { checkDraft, DEFAULT_ENTRY_POINT } from './drafts.ts';
import { findConfiguration } from './queries.ts';
import type { NewVersion } from './schemas.ts';

export function repositoryOf(resource: Pick<GrantedResource, 'name'>): RepositoryRef {
  return { kind: 'configurations', name: resource.name };
}

/** @throws HawserError conflict `version_exists`, or what `checkDraft` finds */
export async function createDraft(
  database: Database,
  store: GitStore,
  target: { resource: GrantedResource; principal: UserPrincipal },
  draft: { form: z.output<typeof NewVersion>; files: readonly FileContent[]; now: number },
): Promise<VersionDetails> {
  const { resource, principal } = target;
  const { form, files, now } = draft;
  const row = await findConfiguration(database.read, resource.id);
  if (!row) throw notFound('No configuration of this name');
  const repository = repositoryOf(resource);
  return store.exclusive(repository, async (locked) =>
    locked.writeDraft(
      checkDraft({
        version: form.version ?? nextPatch(locked.index.versions[0]?.version ?? null),
        entryPoint: form.entryPoint ?? (await highestEntryPoint(store, repository, locked.index)),
        prereleaseChannel: form.prereleaseChannel,
        useServerManagedParameters: row.use_server_managed_parameters === 1,
        files,
        principal,
        now,
      }),
    ),
  );
}

async function highestEntryPoint(
  store: GitStore,
  repository: RepositoryRef,
  index: VersionIndex,
): Promise<string> {
  const highest = index.versions[0];
  return highest ? (await store.details(repository, highest)).entryPoint : DEFAULT_ENTRY_POINT;
}

/** @throws HawserError not_found without such a version, conflict `already_published` */
export function publishVersion(
  store: GitStore,
  resource: GrantedResource,
  version: string,
  by: { principal: UserPrincipal; now: number },
): Promise<VersionDetails> {
  const tagger = { name: by.principal.username, email: by.principal.email };
  return store.exclusive(repositoryOf(resource), (locked) => locked.publish(version, tagger, by.now));
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
