/** Versions of a composite: an empty draft, its children, publishing. The whole version is one small document. */

import type { z } from 'zod';
import type { Database } from '../../db/open.ts';
import { COMPOSITE_FILE, type CompositeDocument, printComposite } from '../../domain/composite-document.ts';
import { prereleaseChannelOf } from '../../domain/version-order.ts';
import { conflict, invalidField, notFound } from '../../lib/errors.ts';
import type { Locks } from '../../lib/locks.ts';
import type { Log } from '../../lib/log.ts';
import type { CompositeReader } from '../../resolve/composites.ts';
import type { GrantedResource } from '../../security/access.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import type { GitStore } from '../../versions/store.ts';
import type { LockedRepository, VersionDetails, VersionRef } from '../../versions/types.ts';
import { repositoryOf } from './create.ts';
import { type CompositeRow, findComposite } from './queries.ts';
import type { NewCompositeVersion } from './schemas.ts';

export interface CompositeTools {
  database: Database;
  store: GitStore;
  locks: Locks;
  log: Log;
  composites: CompositeReader;
}

/** Who works on which version of which composite. */
export interface VersionTarget {
  resource: GrantedResource;
  principal: UserPrincipal;
  actor: Actor;
  version: string;
}

/** A document as it is to be, and what the audit trail says of the way there. */
export interface DocumentChange {
  document: CompositeDocument;
  action: 'child_added' | 'child_changed' | 'child_removed';
  details: Record<string, unknown>;
}

/** @throws HawserError conflict `version_exists`, invalid for a channel that is not the version's */
export async function createCompositeDraft(
  tools: CompositeTools,
  caller: Omit<VersionTarget, 'version'>,
  { version, prereleaseChannel }: z.output<typeof NewCompositeVersion>,
): Promise<VersionDetails> {
  if ((prereleaseChannel ?? null) !== null && prereleaseChannel !== prereleaseChannelOf(version)) {
    const message = "Not the first part of the version's prerelease";
    throw invalidField('/prereleaseChannel', message, 'prerelease_channel_mismatch');
  }
  const { resource, principal, actor } = caller;
  return exclusively(tools, resource, async (locked, row) => {
    const content = toFile({ entryPoint: row.entry_point, children: [] });
    const draft = { version, ...content, author: personOf(principal), at: actor.at };
    const made = await locked.writeDraft('', draft);
    await record(tools, { ...caller, version }, 'version_created', { commit: made.commit });
    return made;
  });
}

/**
 * Changes a draft's document under the lock.
 * @param change gives null where there is nothing to change
 * @throws HawserError not_found without such a version, conflict `published_version`
 */
export function changeDocument(
  tools: CompositeTools,
  target: VersionTarget,
  change: (document: CompositeDocument) => Promise<DocumentChange | null>,
): Promise<void> {
  const { resource, principal, version, actor } = target;
  return exclusively(tools, resource, async (locked) => {
    const ref = findDraft(locked, version);
    const changed = await change(await tools.composites.document(repositoryOf(resource), ref));
    if (changed === null) return;
    const content = toFile(changed.document);
    await locked.replaceDraft('', version, { ...content, committer: personOf(principal), at: actor.at });
    await record(tools, target, changed.action, changed.details);
  });
}

/** @throws HawserError not_found without such a version, conflict `published_version` */
export function deleteCompositeDraft(
  tools: CompositeTools,
  target: Omit<VersionTarget, 'principal'>,
): Promise<void> {
  const { resource, version } = target;
  return exclusively(tools, resource, async (locked) => {
    // The id of a draft is that of its commit.
    const { oid: commit } = findDraft(locked, version);
    await locked.deleteDraft('', version);
    await record(tools, target, 'version_deleted', { commit });
  });
}

/** @throws HawserError not_found, conflict `already_published`, `no_children` or `unpublished_child` */
export function publishComposite(tools: CompositeTools, target: VersionTarget): Promise<VersionDetails> {
  const { resource, principal, version, actor } = target;
  return exclusively(tools, resource, async (locked) => {
    const ref = locked.index.of('').get(version);
    if (ref?.status === 'Draft') {
      const document = await tools.composites.document(repositoryOf(resource), ref);
      await requirePublishedChildren(tools.store, document);
    }
    const made = await locked.publish('', version, personOf(principal), actor.at);
    await record(tools, target, 'version_published', { commit: made.commit });
    return made;
  });
}

type VersionAction = 'version_created' | 'version_published' | 'version_deleted';

/** Still under the lock, so that the entries stand in the order of the changes. */
function record(
  { database }: CompositeTools,
  { resource, actor, version }: Omit<VersionTarget, 'principal'>,
  action: VersionAction | DocumentChange['action'],
  details: Record<string, unknown>,
): Promise<void> {
  return recordAudit(database.write, actor, {
    action: `composite.${action}`,
    resourceId: resource.id,
    details: { name: resource.name, version, ...details },
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
    const index = await store.versions({ kind: 'configurations', name: configuration });
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
  const ref = locked.index.of('').get(version);
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
