/** Versions of a composite: an empty draft, its children, publishing. The whole version is one small document. */

import type { z } from 'zod';
import type { Database } from '../../db/open.ts';
import { COMPOSITE_FILE, type CompositeDocument, printComposite } from '../../domain/composite-document.ts';
import { prereleaseChannelOf } from '../../domain/version-order.ts';
import type { GitStore } from '../../git/store.ts';
import type { LockedRepository, VersionDetails } from '../../git/types.ts';
import type { VersionRef } from '../../git/version-index.ts';
import { conflict, invalidField, notFound } from '../../lib/errors.ts';
import type { CompositeReader } from '../../resolve/composites.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { repositoryOf } from './create.ts';
import { type CompositeRow, findComposite } from './queries.ts';
import type { NewCompositeVersion } from './schemas.ts';

export interface CompositeTools {
  database: Database;
  store: GitStore;
  composites: CompositeReader;
}

/** Who works on which version of which composite, and when. */
export interface VersionTarget {
  resource: GrantedResource;
  principal: UserPrincipal;
  version: string;
  now: number;
}

/** @throws HawserError conflict `version_exists`, invalid for a channel that is not the version's */
export async function createCompositeDraft(
  tools: CompositeTools,
  { resource, principal, now }: Omit<VersionTarget, 'version'>,
  { version, prereleaseChannel }: z.output<typeof NewCompositeVersion>,
): Promise<VersionDetails> {
  if ((prereleaseChannel ?? null) !== null && prereleaseChannel !== prereleaseChannelOf(version)) {
    const message = "Not the first part of the version's prerelease";
    throw invalidField('/prereleaseChannel', message, 'prerelease_channel_mismatch');
  }
  return exclusively(tools, resource, (locked, row) => {
    const content = toFile({ entryPoint: row.entry_point, children: [] });
    return locked.writeDraft({ version, ...content, author: personOf(principal), at: now });
  });
}

/**
 * Changes a draft's document under the lock.
 * @throws HawserError not_found without such a version, conflict `published_version`
 */
export function changeDocument(
  tools: CompositeTools,
  { resource, principal, version, now }: VersionTarget,
  change: (document: CompositeDocument) => Promise<CompositeDocument>,
): Promise<VersionDetails> {
  return exclusively(tools, resource, async (locked) => {
    const ref = findDraft(locked, version);
    const document = await change(await tools.composites.document(repositoryOf(resource), ref));
    return locked.replaceDraft(version, { ...toFile(document), committer: personOf(principal), at: now });
  });
}

/** @throws HawserError not_found without such a version, conflict `published_version` */
export function deleteCompositeDraft(
  tools: CompositeTools,
  resource: GrantedResource,
  version: string,
): Promise<void> {
  return exclusively(tools, resource, async (locked) => {
    findDraft(locked, version);
    await locked.deleteDraft(version);
  });
}

/** @throws HawserError not_found, conflict `already_published`, `no_children` or `unpublished_child` */
export function publishComposite(
  tools: CompositeTools,
  { resource, principal, version, now }: VersionTarget,
): Promise<VersionDetails> {
  return exclusively(tools, resource, async (locked) => {
    const ref = locked.index.get(version);
    if (ref?.status === 'Draft') {
      const document = await tools.composites.document(repositoryOf(resource), ref);
      await requirePublishedChildren(tools.store, document);
    }
    return locked.publish(version, personOf(principal), now);
  });
}

/**
 * Works under the repository's lock, on the very composite that the caller's grant was checked on: while the
 * body came in, it may have been deleted, and its name given to another.
 */
async function exclusively<T>(
  { database, store }: CompositeTools,
  resource: GrantedResource,
  work: (locked: LockedRepository, row: CompositeRow) => Promise<T>,
): Promise<T> {
  const findRow = async () => {
    const row = await findComposite(database.read, resource.id);
    if (!row) throw notFound('No composite configuration of this name');
    return row;
  };
  try {
    return await store.exclusive(repositoryOf(resource), async (locked) => work(locked, await findRow()));
  } catch (error) {
    // A repository that has gone with its row is no fault of the disk.
    await findRow();
    throw error;
  }
}

async function requirePublishedChildren(store: GitStore, { children }: CompositeDocument): Promise<void> {
  if (children.length === 0)
    throw conflict('no_children', 'A composite without children cannot be published');
  for (const { configuration, version } of children) {
    const index = await store.index({ kind: 'configurations', name: configuration });
    const isPublished =
      version === null ? index.published.length > 0 : index.get(version)?.status === 'Published';
    if (!isPublished) {
      const what =
        version === null ? 'has no published version' : `is pinned to ${version}, which is not published`;
      throw conflict('unpublished_child', `The child ${configuration} ${what}`);
    }
  }
}

function findDraft(locked: LockedRepository, version: string): VersionRef {
  const ref = locked.index.get(version);
  if (ref === undefined) throw notFound('No such version');
  if (ref.status === 'Published') throw conflict('published_version', 'A published version never changes');
  return ref;
}

function toFile(document: CompositeDocument) {
  const content = Buffer.from(printComposite(document));
  return { entryPoint: COMPOSITE_FILE, files: [{ path: COMPOSITE_FILE, content }] };
}

function personOf({ username, email }: UserPrincipal) {
  return { name: username, email };
}
