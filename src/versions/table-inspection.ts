/** Looks at a repository in the tables of PostgreSQL from end to end. Nothing that a cache holds is believed. */

import type { GitReader, StoredObject } from '../db/git-tables.ts';
import { AtomicFs } from '../git/atomic-fs.ts';
import { missingRepository } from '../git/disk-errors.ts';
import { inflateObject } from '../git/loose-objects.ts';
import { listLooseRefs } from '../git/ref-reader.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import type { StoredRef } from '../git/types.ts';
import { hashInBlocks } from '../lib/hash.ts';
import { inspectingStore, listIgnoredRefs } from './inspection.ts';
import {
  BROKEN,
  describeBroken,
  follow,
  type Inspection,
  type Link,
  MISSING,
  walkObjects,
} from './object-walk.ts';

/** What an unbroken object is and leads to. Contents are not kept. */
interface Known {
  type: string;
  /** What it leads to, or what is wrong with it. */
  links: Link[] | string;
}

/**
 * Inspects one repository.
 * @param root absolute path of the folder of all caches
 * @throws HawserError `repository_missing`, unavailable
 */
export async function inspectStored(reader: GitReader, root: string, ref: StoredRef): Promise<Inspection> {
  const stored = await reader.refs(ref);
  if (stored === undefined) throw missingRepository();
  const { repository, refs } = stored;
  const oids = [...(await reader.objectTypes(repository.id)).keys()];
  const known = await readAll(reader.readObjects(repository.id, oids), new Set(repository.shallow));
  const present = new Set(oids);
  const { seen, faults } = await walkObjects(refs, (link) => {
    const object = known.get(link.oid);
    if (!object) return describeBroken(link, present.has(link.oid) ? BROKEN : MISSING);
    if (link.type === null || object.type === link.type) return object.links;
    return `${link.oid} is a ${object.type} where a ${link.type} must be`;
  });
  const unreachable = oids.filter((oid) => !seen.has(oid) && !known.get(oid));
  return {
    refs: refs.size,
    objects: seen.size,
    faults,
    unreachable: unreachable.map((oid) => ({ where: oid, what: 'the object is broken' })),
    ignoredRefs: await listIgnoredRefs(inspectingStore(root, reader), ref, [...refs.keys()]),
    leftOvers: [],
    strayRefs: listLooseRefs(new AtomicFs(), gitdirOf(root, ref)),
  };
}

/** Null for a broken object. One that has no bytes at all is not in the map. */
async function readAll(
  objects: AsyncIterable<readonly StoredObject[]>,
  shallow: ReadonlySet<string>,
): Promise<Map<string, Known | null>> {
  const known = new Map<string, Known | null>();
  for await (const some of objects)
    for (const object of some) known.set(object.oid, await readOne(object, shallow));
  return known;
}

async function readOne(
  { oid, type, size, deflated }: StoredObject,
  shallow: ReadonlySet<string>,
): Promise<Known | null> {
  const inflated = await inflateObject(deflated).catch(() => null);
  if (inflated === null) return null;
  const { bytes, start } = inflated;
  const isWhole = bytes.toString('latin1', 0, start) === `${type} ${size}\0`;
  if (!isWhole || (await hashInBlocks('sha1', bytes)) !== oid) return null;
  return { type, links: follow({ oid, type }, { type, content: bytes.subarray(start) }, shallow) };
}
