/** What is found between composites and the entry points of their children: dsc reads those beside the composite's document. */

import type { CompositeDocument } from '../domain/composite-document.ts';
import { type Finding, inOrder } from '../domain/findings.ts';
import { chooseVersion } from '../domain/version-choice.ts';
import type { VersionIndex, VersionRef } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import type { CompositeReader } from './composites.ts';
import { includesInChild } from './entry-points.ts';
import type { SchemaReader } from './schemas.ts';

/** Nodes without a channel get stable versions only. */
const STABLE = { majorVersion: null, prereleaseChannel: null };

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
  for (const { configuration: name, version } of children) {
    const repository = { kind: 'configurations', name } as const;
    if (!(await store.has(repository))) continue;
    const ref = versionOfChild(await store.versions(repository), version);
    if (ref === undefined) continue;
    const details = await store.details(repository, ref);
    const known = await schemas.readEntryPoint(name, details, caller);
    if (known !== null)
      found.push(...includesInChild(known, { child: name, entryPoint: details.entryPoint }));
  }
  return inOrder(found);
}

function versionOfChild(index: VersionIndex, version: string | null): VersionRef | undefined {
  if (version !== null) return index.get(version);
  return chooseVersion(index.published, STABLE) ?? index.published[0];
}

/** The names of the composites of which a published version follows the configuration, whichever version it has. */
export async function compositesThatFollow(composites: CompositeReader, name: string): Promise<string[]> {
  const found = new Set<string>();
  for await (const { compositeName, isPublished, document } of composites.versions())
    if (
      isPublished &&
      document.children.some((child) => child.configuration === name && child.version === null)
    )
      found.add(compositeName);
  return [...found];
}
