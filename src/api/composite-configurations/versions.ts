/** Making composites, and the drafts of their versions. A version is one small document. */

import type { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { readValidationSettings } from '../../db/settings.ts';
import { blockerOfChildren } from '../../deeds/handing-out.ts';
import { withObstacles } from '../../deeds/publish-obstacles.ts';
import { DEFAULT_ENTRY_POINT } from '../../domain/bundle-paths.ts';
import { COMPOSITE_FILE, type CompositeDocument, printComposite } from '../../domain/composite-document.ts';
import type { Finding } from '../../domain/findings.ts';
import { ASSIGNMENTS } from '../../domain/lock-names.ts';
import { normalizePath } from '../../domain/safe-path.ts';
import { type HawserError, notFound } from '../../lib/errors.ts';
import { documentUnreadable } from '../../resolve/compatibility.ts';
import { findingsOfChildren } from '../../resolve/composite-findings.ts';
import type { CompositeReader } from '../../resolve/composites.ts';
import type { SchemaReader } from '../../resolve/schemas.ts';
import type { Caller } from '../../security/caller.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { authorVersions, type VersionAuthor } from '../../versions/author.ts';
import { createResource, type ResourceTools } from '../../versions/resources.ts';
import type { Target } from '../../versions/rows.ts';
import { checkChannel, findBlockers, findUnpublishedChildren } from '../../versions/rules.ts';
import type { SortedVersions } from '../../versions/sorted-versions.ts';
import type { VersionRef } from '../../versions/store.ts';
import type { VersionSource } from '../../versions/version-source.ts';
import { toPublishCheck } from '../crud/publish-check.ts';
import type { NewComposite, NewCompositeVersion } from './schemas.ts';

export type CompositeTools = ResourceTools & JudgingTools;

/** What the rules for publishing a composite read. */
export interface JudgingTools {
  database: Pick<Database, 'read'>;
  store: VersionSource;
  composites: CompositeReader;
  schemas: SchemaReader;
}
export type CompositeTarget = Target<'composites'>;
/** Who works on which draft of which composite. */
export type ChildTarget = CompositeTarget & { version: string };

/**
 * Creates a composite without any version.
 * @param answer as that of `createResource`
 * @throws HawserError as `createResource`, invalid `invalid_path` for the entry point
 */
export async function createComposite<T>(
  tools: ResourceTools,
  caller: Caller,
  { name, description = null, entryPoint }: z.output<typeof NewComposite>,
  answer: (id: string) => Promise<T>,
): Promise<T> {
  const made = {
    kind: 'composites',
    name,
    description,
    useServerManagedParameters: false,
    entryPoint: normalizePath(entryPoint ?? DEFAULT_ENTRY_POINT),
    draft: null,
  } as const;
  return createResource(tools, caller, made, answer);
}

/** @throws HawserError conflict `version_exists`, invalid for a channel that is not the version's */
export async function createCompositeDraft(
  tools: CompositeTools,
  target: CompositeTarget,
  { version, prereleaseChannel, message }: z.output<typeof NewCompositeVersion>,
): Promise<void> {
  checkChannel(version, prereleaseChannel);
  await authorVersions(tools, target, (author, row) =>
    author.createDraft(version, { ...toContent({ entryPoint: row.entry_point, children: [] }), message }),
  );
}

/** The new document, and the audit entry of the change. */
export interface DocumentChange {
  document: CompositeDocument;
  action: 'composite.child_added' | 'composite.child_changed' | 'composite.child_removed';
  details: Record<string, unknown>;
}

/**
 * Changes a draft's document under the lock.
 * @param change gives null where there is nothing to change
 * @throws HawserError not_found without such a version, conflict `published_version`, or what `change` throws
 */
export function changeDocument(
  tools: CompositeTools,
  target: ChildTarget,
  change: (document: CompositeDocument) => Promise<DocumentChange | null>,
): Promise<void> {
  return authorVersions(tools, target, async (author) => {
    const draft = author.requireDraft(target.version);
    const changed = await change(await readDocument(tools, target, draft));
    if (changed === null) return;
    const { document, ...told } = changed;
    await author.replaceDraft(draft, toContent(document), { told });
  });
}

/**
 * @throws HawserError not_found, also for a new child that the caller may not read; conflict `already_published`,
 *   `no_children`, `unpublished_child`, `draft_changed`
 */
export async function publishComposite(
  tools: CompositeTools,
  target: CompositeTarget,
  version: string,
  message?: string,
): Promise<void> {
  const publish = (author: VersionAuthor<'composites'>) =>
    author.publish(version, (draft) => judgePublish(tools, target, draft), { message });
  // The children must keep the versions that the nodes of the composite are about to get.
  await tools.locks.share(ASSIGNMENTS, () => authorVersions(tools, target, publish));
}

/** What blocks the caller from publishing a draft, the first of it first. */
export async function judgePublish(
  tools: CompositeTools,
  { resource, principal }: Pick<CompositeTarget, 'resource' | 'principal'>,
  draft: VersionRef,
): Promise<readonly HawserError[]> {
  const versions = await tools.store.versions({ kind: 'composites', name: resource.name });
  const unreadable = await blockerOfChildren(tools, principal, resource, { draft, versions });
  const { blockers } = await judgeDraft(tools, resource.name, draft, principal);
  return [...(unreadable ? [unreadable] : []), ...blockers];
}

/** Shows what publishing a version would answer. @throws HawserError not_found without such a version */
export async function checkPublish(
  tools: CompositeTools,
  name: string,
  index: SortedVersions,
  { version, now }: { version: string; now: number },
  caller: UserPrincipal,
) {
  const ref = index.get(version);
  if (ref === undefined) throw notFound('No such version');
  let findings: readonly Finding[] = [];
  const found = await findBlockers(ref, async (draft) => {
    const judged = await judgeDraft(tools, name, draft, caller);
    findings = judged.findings;
    return judged.blockers;
  });
  const blockers = await withObstacles(tools.database.read, { index, ref, now }, found);
  const comparedWith = index.highestPublishedBelow(ref)?.version ?? null;
  return toPublishCheck({ blockers, findings, compatibility: null, comparedWith });
}

/** The rules for publishing a composite. Those for the documents of its children are the server's. */
export async function judgeDraft(
  { database, store, composites, schemas }: JudgingTools,
  name: string,
  draft: VersionRef,
  { userId }: Pick<UserPrincipal, 'userId'>,
): Promise<{ blockers: readonly HawserError[]; findings: readonly Finding[] }> {
  const document = await composites.document({ kind: 'composites', name }, draft);
  const blockers = await findUnpublishedChildren(store, document);
  const findings = await findingsOfChildren({ store, schemas }, document, userId);
  const { defaultDocumentChecks } = await readValidationSettings(database.read);
  if (defaultDocumentChecks === 'Strict' && findings.length > 0)
    blockers.push(documentUnreadable(draft.version, findings));
  return { blockers, findings };
}

function readDocument(
  { composites }: CompositeTools,
  { kind, resource: { name } }: CompositeTarget,
  ref: VersionRef,
): Promise<CompositeDocument> {
  return composites.document({ kind, name }, ref);
}

function toContent(document: CompositeDocument) {
  const content = Buffer.from(printComposite(document));
  return { entryPoint: COMPOSITE_FILE, files: [{ path: COMPOSITE_FILE, content }] };
}
