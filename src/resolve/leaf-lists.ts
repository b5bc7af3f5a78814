/** Lists the parameters that differ between two sides, as JSON that is never parsed: that would change numbers. */

import { compareBytes } from '../lib/byte-order.ts';
import { scopeOf } from '../versions/parameter-files.ts';
import type { DocumentRunner } from './documents.ts';
import { behind, CALLER, factsOf, type GroupSides, pairParts, type SidePart } from './preview-sides.ts';
import type { ListedLeaf } from './preview-tasks.ts';

/** Each leaf as JSON, by path. @throws HawserError conflict `parameter_merge_failed` where there is too much to tell */
export async function listParameters(
  documents: DocumentRunner,
  group: GroupSides,
  caller = CALLER,
): Promise<string[]> {
  const listed: { path: string; json: string }[] = [];
  for (const { child, before, after } of pairParts(group)) {
    const leaves = await documents.run(caller, 'listLeaves', {
      ...{ beforeDocuments: before?.documents ?? null, afterDocuments: after?.documents ?? null },
      ...{ before: factsOf(before), after: factsOf(after) },
    });
    for (const leaf of leaves) {
      const path = child === null ? leaf.path : behind(child, leaf.path);
      listed.push({ path, json: printLeaf(path, leaf, before, after) });
    }
  }
  return listed.sort((a, b) => compareBytes(a.path, b.path)).map(({ json }) => json);
}

function printLeaf(
  path: string,
  { values, beforeSource, afterSource }: ListedLeaf,
  before: SidePart | null,
  after: SidePart | null,
): string {
  const sources = [sourceOf(before, beforeSource), sourceOf(after, afterSource)].map((each) =>
    JSON.stringify(each),
  );
  return `{"path":${JSON.stringify(path)},${values},"beforeSource":${sources[0]},"afterSource":${sources[1]}}`;
}

function sourceOf(part: SidePart | null, source: number | null) {
  const ref = source === null ? undefined : part?.refs[source];
  if (ref === undefined) return null;
  const { scopeType: scopeTypeName, value: scopeValue } = scopeOf(ref.series);
  return { scopeTypeName, scopeValue, version: ref.version };
}
