/** The entry points that versions take from others: a version whose objects name none takes that of the one below it. */

import { DEFAULT_ENTRY_POINT } from '../domain/bundle-paths.ts';
import type { RefCheck, RefChecks } from './ref-checks.ts';
import type { VersionRef } from './types.ts';

export interface Inheritance {
  /** Entry points by version. */
  inherited: ReadonlyMap<string, string>;
  /** Versions that have no file at the entry point that they inherit. */
  lacking: ReadonlySet<string>;
  /** The faults of those, by the full name of their ref. */
  faults: ReadonlyMap<string, string>;
}

export const NOTHING_INHERITED: Inheritance = { inherited: new Map(), lacking: new Set(), faults: new Map() };

/**
 * Finds the published version from which each version takes its entry point.
 * @param versions highest first
 * @param checks of their refs, by full name
 */
export async function inheritEntryPoints(
  versions: readonly VersionRef[],
  checks: ReadonlyMap<string, RefCheck>,
  refChecks: RefChecks,
): Promise<Inheritance> {
  const inherited = new Map<string, string>();
  const [lacking, faults] = [new Set<string>(), new Map<string, string>()];
  // Null above a version that cannot be read. What it would hand on is unknown and must not be guessed.
  let carried: string | null = DEFAULT_ENTRY_POINT;
  for (const { name, version, status } of versions.toReversed()) {
    const check = checks.get(name);
    let entryPoint = check?.facts?.entryPoint ?? null;
    if (check?.facts && entryPoint === null && carried !== null) {
      const fault = await refChecks.inheritedFault(check, carried);
      if (fault === null) inherited.set(version, carried);
      else lacking.add(version);
      if (fault !== null) faults.set(name, fault);
      entryPoint = carried;
    }
    if (status === 'Published' && !lacking.has(version)) carried = entryPoint;
  }
  return { inherited, lacking, faults };
}
