/** Walks from the refs of a repository to all objects that they lead to, wherever these are. */

import { isCorruption } from '../git/disk-errors.ts';
import type { ObjectContent } from '../git/loose-objects.ts';
import { isMissingObject } from '../git/objects.ts';
import { BROKEN_OID } from '../git/ref-reader.ts';
import { decodeTree, FOLDER_MODE } from '../git/tree.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { HawserError } from '../lib/errors.ts';

/** A fault of a repository, and the ref or file that has it. */
export interface Fault {
  where: string;
  what: string;
}

export interface Inspection {
  refs: number;
  /** The number of objects that the refs lead to. */
  objects: number;
  /** Faults that make a version, or the whole repository, unusable. */
  faults: readonly Fault[];
  /** Broken objects that no ref leads to. */
  unreachable: readonly Fault[];
  /** The tags and draft branches that are no versions, with the reasons. */
  ignoredRefs: readonly Fault[];
  leftOvers: readonly LeftOver[];
  /** Refs that were made in the folder of a repository in PostgreSQL, where they mean nothing. */
  strayRefs: readonly string[];
}

/** A lock or an unfinished file. Its program may be at work still, or may have ended without removing it. */
export interface LeftOver {
  /** The path inside the repository. */
  path: string;
  /** Epoch milliseconds. */
  modifiedAt: number;
}

/** The entry of a tree that names a commit of another repository, which need not be here. */
const SUBMODULE_MODE = '160000';

/** What an object must be, and what it leads to. */
export interface Link {
  oid: string;
  /** The type that the object must have; null for what a ref names, which may be anything. */
  type: string | null;
}

/**
 * Walks from refs to every object that they lead to.
 * @param visit gives what an object leads to, or what is wrong with it
 * @returns the oids of all objects that were looked at, and what is missing, broken or of a wrong type
 */
export async function walkObjects(
  refs: ReadonlyMap<string, string>,
  visit: (link: Link) => Awaitable<readonly Link[] | string>,
): Promise<{ seen: Set<string>; faults: Fault[] }> {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const [where, tip] of refs) {
    if (tip === BROKEN_OID) faults.push({ where, what: 'the ref holds no object id' });
    const next: Link[] = tip === BROKEN_OID ? [] : [{ oid: tip, type: null }];
    for (let link = next.pop(); link !== undefined; link = next.pop()) {
      if (seen.has(link.oid)) continue;
      seen.add(link.oid);
      const links = await visit(link);
      if (typeof links === 'string') faults.push({ where, what: links });
      else next.push(...links);
    }
  }
  return { seen, faults };
}

/** What an unbroken object leads to, or what is wrong with it. */
export function follow(
  { oid, type }: Link,
  object: ObjectContent,
  shallow: ReadonlySet<string>,
): Link[] | string {
  if (type !== null && object.type !== type) return `${oid} is a ${object.type} where a ${type} must be`;
  return linksOf(oid, object, shallow) ?? `the ${object.type} ${oid} is malformed`;
}

export function describeBroken({ oid, type }: Link, failure: string): string {
  return `the ${type ?? 'object'} ${oid} ${failure}`;
}

export const MISSING = 'is missing';
export const BROKEN = 'is broken: its bytes are not what its id says';

/** The objects that an object leads to; null when it is malformed. @param shallow the commits at which history ends */
export function linksOf(
  oid: string,
  { type, content }: ObjectContent,
  shallow: ReadonlySet<string>,
): Link[] | null {
  if (type === 'tree') {
    const entries = decodeTree(content)?.filter(({ mode }) => mode !== SUBMODULE_MODE);
    return (
      entries?.map((entry) => ({ oid: entry.oid, type: entry.mode === FOLDER_MODE ? 'tree' : 'blob' })) ??
      null
    );
  }
  const header = type === 'blob' ? '' : (content.toString('latin1').split('\n\n', 1)[0] ?? '');
  if (type === 'tag') {
    const [, object, kind] = /^object ([0-9a-f]{40})\ntype (\w+)$/m.exec(header) ?? [];
    return object === undefined || kind === undefined ? null : [{ oid: object, type: kind }];
  }
  if (type !== 'commit') return [];
  const tree = /^tree ([0-9a-f]{40})$/m.exec(header)?.[1];
  if (tree === undefined) return null;
  const parents = shallow.has(oid) ? [] : header.matchAll(/^parent ([0-9a-f]{40})$/gm);
  const links = [...parents].map(([, parent = '']) => ({ oid: parent, type: 'commit' }));
  return [{ oid: tree, type: 'tree' }, ...links];
}

export function describeFailure(error: HawserError): string {
  if (isMissingObject(error)) return MISSING;
  if (isCorruption(error)) return BROKEN;
  return `cannot be read: ${error.cause instanceof Error ? error.cause.message : error.message}`;
}
