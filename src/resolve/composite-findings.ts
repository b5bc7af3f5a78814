/** What is found between composites and the entry points of their children: dsc reads those beside the composite's document. */

import { type CompositeChild, type CompositeDocument, isFollowed } from '../domain/composite-document.ts';
import { type Finding, inOrder } from '../domain/findings.ts';
import { chooseVersion } from '../domain/version-choice.ts';
import type { VersionIndex, VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { CompositeReader } from './composites.ts';
import { includesInChild } from './entry-points.ts';
import type { SchemaReader } from './schemas.ts';
import { wantedOf } from './wanted-version.ts';

/**
 * The relative includes of the children, each of which is an Error. A child that is pinned is looked at in that version,
 * another one in the version that it follows now.
 * @param caller the one in whose turn documents are read
 */
export async function findingsOfChildren(
  { store, schemas }: { store: VersionSource; schemas: SchemaReader },
  { children }: CompositeDocument,
  caller: string,
): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const child of children) {
    const name = child.configuration;
    const repository = { kind: 'configurations', name } as const;
    if (!(await store.has(repository))) continue;
    const ref = versionOfChild(await store.versions(repository), child);
    if (ref === undefined) continue;
    const details = await store.details(repository, ref);
    const known = await schemas.readEntryPoint(name, details, caller);
    found.push(...includesInChild(known, { child: name, entryPoint: details.entryPoint }));
  }
  return inOrder(found);
}

/** Nodes without a channel get stable versions only. Where there is none, what others get is looked at. */
function versionOfChild(index: VersionIndex, child: CompositeChild): VersionRef | undefined {
  if (child.version !== null) return index.get(child.version);
  const stable = chooseVersion(index.published, wantedOf(child, { prereleaseChannel: null }));
  return stable ?? index.published.find((ref) => isFollowed(child, ref));
}

/** The names of the composites of which a published version follows the configuration, in this version's major too. */
export async function compositesThatFollow(
  composites: CompositeReader,
  name: string,
  ref: { version: string },
): Promise<string[]> {
  const found = new Set<string>();
  const follows = (child: CompositeChild) =>
    child.configuration === name && child.version === null && isFollowed(child, ref);
  for await (const { compositeName, isPublished, document } of composites.versions())
    if (isPublished && document.children.some(follows)) found.add(compositeName);
  return [...found];
}
