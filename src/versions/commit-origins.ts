/** Finds out in which published version of a series each commit came first. */

import { Pace } from '../lib/pace.ts';
import type { VersionIndex } from './types.ts';

/** Reads the parents of each commit that the given ones are or come from. */
export type ReadParents = (commits: readonly string[]) => Promise<ReadonlyMap<string, readonly string[]>>;

type Origins = ReadonlyMap<string, string>;

/** The key is the list of versions, which is another object after each change. */
const known = new WeakMap<VersionIndex['versions'], Promise<Origins>>();

/**
 * Maps each commit of published versions, withdrawn ones too, to the lowest version that is it or comes from it. Callers
 * at the same time share one reading. A failure is not kept.
 */
export function originsOf({ versions }: VersionIndex, readParents: ReadParents): Promise<Origins> {
  const before = known.get(versions);
  if (before !== undefined) return before;
  const origins = findOrigins(versions, readParents);
  known.set(versions, origins);
  origins.catch(() => known.delete(versions));
  return origins;
}

async function findOrigins(versions: VersionIndex['versions'], readParents: ReadParents): Promise<Origins> {
  const published = versions.flatMap(({ status, version, commit }) =>
    status === 'Published' && commit !== null ? [{ version, commit }] : [],
  );
  const parents = await readParents(published.map(({ commit }) => commit));
  const origins = new Map<string, string>();
  const pace = new Pace();
  // The lowest version comes first, so what a version adds is what no lower one contains.
  for (const { version, commit } of published.toReversed()) {
    const next = [commit];
    for (let each = next.pop(); each !== undefined; each = next.pop()) {
      if (origins.has(each)) continue;
      origins.set(each, version);
      next.push(...(parents.get(each) ?? []));
      if (pace.isDue) await pace.rest();
    }
  }
  return origins;
}
