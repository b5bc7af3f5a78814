/** Publishes a version of a composite, and tells what publishing would meet. */

import type { Database } from '../db/database.ts';
import { readValidationSettings } from '../db/settings.ts';
import type { Finding } from '../domain/findings.ts';
import { ASSIGNMENTS } from '../domain/lock-names.ts';
import type { HawserError } from '../lib/errors.ts';
import { findingsOfChildren } from '../resolve/composite-findings.ts';
import type { CompositeReader } from '../resolve/composites.ts';
import { documentUnreadable } from '../resolve/schema-compatibility.ts';
import type { SchemaReader } from '../resolve/schemas.ts';
import type { UserPrincipal } from '../security/principal.ts';
import { authorVersions, type VersionAuthor } from '../versions/author.ts';
import type { ResourceTools } from '../versions/resources.ts';
import type { Target } from '../versions/rows.ts';
import { findUnpublishedChildren } from '../versions/rules.ts';
import type { VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { blockerOfChildren } from './handing-out.ts';
import { requireDoneAlone } from './protection.ts';

export type CompositeTools = ResourceTools & JudgingTools;

/** What the rules for publishing a composite read. */
export interface JudgingTools {
  database: Pick<Database, 'read'>;
  store: VersionSource;
  composites: CompositeReader;
  schemas: SchemaReader;
}

export type CompositeTarget = Target<'composites'>;

/**
 * @throws HawserError not_found, also for a new child that the caller may not read; conflict `already_published`,
 *   `no_children`, `unpublished_child`, `draft_changed`, `change_set_required`
 */
export async function publishComposite(
  tools: CompositeTools,
  target: CompositeTarget,
  version: string,
  message?: string,
): Promise<void> {
  const publish = async (author: VersionAuthor<'composites'>) => {
    const deed = { kind: 'PublishComposite', compositeName: target.resource.name, version } as const;
    await requireDoneAlone(tools, target.actor, deed);
    await author.publish(version, (draft) => judgePublish(tools, target, draft), { message });
  };
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
