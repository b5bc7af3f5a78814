/** Makes drafts of composites, and changes them. A version is one small document. */

import { COMPOSITE_FILE, type CompositeDocument, printComposite } from '../domain/composite-document.ts';
import { authorVersions } from '../versions/author.ts';
import { checkChannel } from '../versions/rules.ts';
import type { VersionRef } from '../versions/store.ts';
import type { CompositeTarget, CompositeTools } from './publish-composite.ts';

/** Who works on which draft of which composite. */
export type ChildTarget = CompositeTarget & { version: string };

/** A version of a composite that is to be drafted, without children at first. */
export interface WantedCompositeDraft {
  version: string;
  prereleaseChannel?: string | null | undefined;
  message?: string | undefined;
}

/** @throws HawserError conflict `version_exists`, invalid for a channel that is not the version's */
export async function createCompositeDraft(
  tools: CompositeTools,
  target: CompositeTarget,
  { version, prereleaseChannel, message }: WantedCompositeDraft,
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
