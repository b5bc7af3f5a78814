/** What differs between the merged parameters of two sides, leaf by leaf. */

import type { LeafProvenance } from '../domain/merge.ts';
import { type MergeWay, traceInWay } from '../domain/merge-way.ts';
import { isSameValue } from '../domain/same-value.ts';
import { isSecret, isSecretAt, PARAMETERS, type SecretNames } from '../domain/secrets.ts';
import { UNSET } from '../domain/unset.ts';
import { holdsSecrets, isMapping, type Mapping, type Value } from '../domain/value.ts';
import { compareBytes } from '../lib/byte-order.ts';

/** The documents of one side. */
export interface LeafSide {
  /** The documents in the order of merging. */
  documents: readonly Mapping[];
  /** What names the file of each document. Two documents are of the same file exactly if their names are the same. */
  files: readonly string[];
  /** The parameters that are secure on this side. */
  secrets: SecretNames;
  /** How the documents merge. */
  way: MergeWay;
}

/** A leaf that is there on one side only, or differs. */
export interface LeafChange {
  /** The JSON Pointer (RFC 6901). */
  path: string;
  before: LeafProvenance | null;
  after: LeafProvenance | null;
}

type MergedSide = LeafSide & { merged: Mapping };

/**
 * The leaves that differ, by the bytes of their pointers. A leaf that is secure on either side differs if it comes from
 * another file, whatever its value. So the list tells nothing about secret values.
 * @param before null where there are no parameters at all, and so is `after`
 * @throws HawserError conflict `parameter_merge_failed`
 */
export function listLeafChanges(before: LeafSide | null, after: LeafSide | null): LeafChange[] {
  const old = tracedLeaves(before);
  const next = tracedLeaves(after);
  const changes: LeafChange[] = [];
  for (const [path, leaf] of next) {
    const known = old.get(path) ?? null;
    if (known && before && after && !isChanged(path, { before, after }, known, leaf)) continue;
    changes.push({ path, before: known, after: leaf });
  }
  for (const [path, leaf] of old) if (!next.has(path)) changes.push({ path, before: leaf, after: null });
  return changes.sort((a, b) => compareBytes(a.path, b.path));
}

/**
 * The number of leaves that `listLeafChanges` lists, in a small part of its time: it traces secure parameters alone.
 * @param before must be what its documents make together, and so must `after`
 */
export function countLeafChanges(before: MergedSide | null, after: MergedSide | null): number {
  if (before === null || after === null) return countInside(before?.merged) + countInside(after?.merged);
  let count = 0;
  for (const key of new Set([...before.merged.keys(), ...after.merged.keys()])) {
    const [old, next] = [before.merged.get(key), after.merged.get(key)];
    count +=
      key === PARAMETERS && hasKeys(old) && hasKeys(next)
        ? countInBlocks(old, next, before, after)
        : countBetween(old, next);
  }
  return count;
}

function tracedLeaves(side: LeafSide | null): ReadonlyMap<string, LeafProvenance> {
  return side ? traceInWay(side.documents, side.way).provenance : new Map();
}

function isChanged(
  path: string,
  { before, after }: { before: LeafSide; after: LeafSide },
  old: LeafProvenance,
  next: LeafProvenance,
): boolean {
  const isSecure =
    holdsSecrets(old.value) ||
    holdsSecrets(next.value) ||
    isSecretAt(path, before.secrets) ||
    isSecretAt(path, after.secrets);
  if (isSecure) return before.files[old.source] !== after.files[next.source];
  return !isSameValue(old.value, next.value);
}

function countInBlocks(old: Mapping, next: Mapping, before: MergedSide, after: MergedSide): number {
  const secure = new Set<string>();
  const noteSecure = (name: string) => {
    const isSecure =
      isSecret(name, before.secrets) ||
      isSecret(name, after.secrets) ||
      holdsSecrets(old.get(name)) ||
      holdsSecrets(next.get(name));
    if (isSecure) secure.add(name);
    return isSecure;
  };
  let count = 0;
  for (const [name, value] of next) if (!noteSecure(name)) count += countBetween(old.get(name), value);
  for (const [name, value] of old) if (!next.has(name) && !noteSecure(name)) count += countLeaves(value);
  // Where all files are the same, so are those of each leaf.
  if (secure.size === 0 || isSameList(before.files, after.files)) return count;
  return count + countTraced({ before, after }, leavesOf(before, secure), leavesOf(after, secure));
}

type TracedLeaves = ReadonlyMap<string, LeafProvenance>;

function countTraced(
  sides: { before: LeafSide; after: LeafSide },
  old: TracedLeaves,
  next: TracedLeaves,
): number {
  let count = 0;
  for (const [path, leaf] of next) {
    const known = old.get(path);
    if (known === undefined || isChanged(path, sides, known, leaf)) count += 1;
  }
  for (const path of old.keys()) if (!next.has(path)) count += 1;
  return count;
}

/** The leaves of these parameters. What else the documents hold changes nothing about them. */
function leavesOf({ documents, way }: LeafSide, names: ReadonlySet<string>): TracedLeaves {
  const narrowed = documents.map((document): Mapping => {
    const block = document.get(PARAMETERS);
    const gone = document.get(UNSET);
    const unset = new Map<string, Value>(gone === undefined ? [] : [[UNSET, gone]]);
    if (block === undefined) return unset;
    return new Map([...unset, [PARAMETERS, isMapping(block) ? only(block, names) : block]]);
  });
  const found = new Map<string, LeafProvenance>();
  // Without the other parameters the block may be empty, and so a leaf, which it is not in truth.
  for (const [path, leaf] of traceInWay(narrowed, way).provenance)
    if (isSecretAt(path, 'all')) found.set(path, leaf);
  return found;
}

function only(block: Mapping, names: ReadonlySet<string>): Mapping {
  const kept = new Map<string, Value>();
  for (const name of names) {
    const value = block.get(name);
    if (value !== undefined) kept.set(name, value);
  }
  return kept;
}

function countBetween(old: Value | undefined, next: Value | undefined): number {
  if (old === next) return 0;
  if (old === undefined || next === undefined) return countLeaves(old) + countLeaves(next);
  if (!hasKeys(old) || !hasKeys(next)) {
    if (hasKeys(old) || hasKeys(next)) return countLeaves(old) + countLeaves(next);
    return isSameValue(old, next) ? 0 : 1;
  }
  let count = 0;
  for (const [key, value] of next) count += countBetween(old.get(key), value);
  for (const [key, value] of old) if (!next.has(key)) count += countLeaves(value);
  return count;
}

function countLeaves(value: Value | undefined): number {
  if (value === undefined) return 0;
  return hasKeys(value) ? countInside(value) : 1;
}

/** The leaves below a mapping, which is none itself. */
function countInside(mapping: Mapping | undefined): number {
  let count = 0;
  for (const value of mapping?.values() ?? []) count += countLeaves(value);
  return count;
}

function hasKeys(value: Value | undefined): value is Mapping {
  return isMapping(value) && value.size > 0;
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}
