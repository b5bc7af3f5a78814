/** The files of two bundles of a preview: how many differ, without a look at any content. */

import { LRUCache } from 'lru-cache';
import { PARAMETERS_FILE } from '../domain/bundle-paths.ts';
import { type ChangedFile, changedFiles, type ListedFile } from '../domain/file-changes.ts';
import type { StoredFile } from '../git/types.ts';
import { sortByBytes } from '../lib/byte-order.ts';
import { gitBlobId } from '../lib/hash.ts';

export interface FileTotals {
  added: number;
  removed: number;
  modified: number;
  renamed: number;
}

/** The merged parameters of a part. */
export interface MergedFile {
  /** As `MergedDocuments.evidence`. */
  evidence: string;
  /** Whether it holds secrets. Then it is never told as renamed, as that would tell that it is the same as another one. */
  hasSecrets: boolean;
  /** The bytes of the real file. */
  size: number;
  /** The Git object id of the real file. Null if it has secrets, or the other side has merged parameters at the same path. */
  oid: string | null;
}

/** A part of a bundle with its own files, without any at the place of its merged parameters. */
export interface BundlePart {
  name: string;
  files: readonly StoredFile[];
  merged: MergedFile | null;
}

export interface Bundle {
  /** The generated document of a composite. Null for a configuration, which is a single part. */
  document: { path: string; text: string } | null;
  parts: readonly BundlePart[];
}

/** A file of a bundle, and where its bytes come from. */
export interface BundleFile extends ListedFile {
  /** The part, by its place. Null for the generated document of a composite. */
  part: number | null;
  isMerged: boolean;
}

/** The folder of a part in the bundle: empty, or the child's name and a slash. */
export function folderOf({ document }: Pick<Bundle, 'document'>, { name }: { name: string }): string {
  return document === null ? '' : `${name}/`;
}

/** The path of a part's merged parameters in the bundle; null if there are none. */
export function mergedPath(
  bundle: Pick<Bundle, 'document'>,
  part: Pick<BundlePart, 'name' | 'merged'>,
): string | null {
  return part.merged && folderOf(bundle, part) + PARAMETERS_FILE;
}

/** All files of a bundle, by the bytes of their paths. Null stands for no bundle. */
export function filesOfBundle(bundle: Bundle | null, withMerged = true): BundleFile[] {
  if (bundle === null) return [];
  const { document, parts } = bundle;
  const files: BundleFile[] = [];
  if (document) {
    const oid = gitBlobId(Buffer.from(document.text));
    files.push({ path: document.path, oid, executable: false, part: null, isMerged: false });
  }
  for (const [at, part] of parts.entries()) {
    const folder = folderOf(bundle, part);
    for (const { path, oid, executable } of part.files)
      files.push({ path: folder + path, oid, executable, part: at, isMerged: false });
    const path = mergedPath(bundle, part);
    if (path === null || !part.merged || !withMerged) continue;
    files.push({ path, oid: idOfMerged(path, part.merged), executable: false, part: at, isMerged: true });
  }
  return sortByBytes(files, ({ path }) => path);
}

/** Two merged files at the same path are compared by their hashes. All others have an object id like any file. */
function idOfMerged(path: string, { oid, evidence, hasSecrets }: MergedFile): string {
  return oid ?? `${hasSecrets ? path : 'sha256'} ${evidence}`;
}

/** What differs between the files of two plans, whatever the merged parameters are. */
interface PlanDifference {
  totals: FileTotals;
  /** The paths of each side, and the ids of files whose path is on the one side alone. */
  before: { paths: ReadonlySet<string>; alone: ReadonlySet<string> };
  after: { paths: ReadonlySet<string>; alone: ReadonlySet<string> };
}

/** The pairs of plans that are kept. Most previews have a few. */
const MAX_PAIRS = 500;

export class FileCounter {
  private readonly pairs = new LRUCache<string, PlanDifference>({ max: MAX_PAIRS });
  /** Each list of files has a number, by which pairs are found. */
  private readonly numbers = new Map<readonly StoredFile[], number>();

  /** As many files as `changedFiles` gives. The lists of files are told apart by identity. */
  count(before: Bundle | null, after: Bundle | null): FileTotals {
    const key = `${this.keyOf(before)} > ${this.keyOf(after)}`;
    const plans = this.pairs.get(key) ?? compareLists(before, after);
    this.pairs.set(key, plans);
    const [old, next] = [mergedIn(before), mergedIn(after)];
    const totals = { ...plans.totals };
    for (const [path, merged] of old) {
      const other = next.get(path);
      if (other) totals.modified += other.evidence === merged.evidence ? 0 : 1;
      else if (mayMatch(path, merged, plans.after, next)) return totalsOf(before, after);
      else totals.removed += 1;
    }
    for (const [path, merged] of next) {
      if (old.has(path)) continue;
      if (mayMatch(path, merged, plans.before, old)) return totalsOf(before, after);
      totals.added += 1;
    }
    return totals;
  }

  private keyOf(bundle: Bundle | null): string {
    if (bundle === null) return '';
    let key = bundle.document ? JSON.stringify(bundle.document) : '';
    for (const { name, files } of bundle.parts) {
      const number = this.numbers.get(files) ?? this.numbers.size;
      this.numbers.set(files, number);
      key += ` ${name} ${number}`;
    }
    return key;
  }
}

function compareLists(before: Bundle | null, after: Bundle | null): PlanDifference {
  const [old, next] = [filesOfBundle(before, false), filesOfBundle(after, false)];
  const paths = { before: pathsOf(old), after: pathsOf(next) };
  const alone = (files: readonly ListedFile[], others: ReadonlySet<string>) =>
    new Set(files.filter(({ path }) => !others.has(path)).map(({ oid }) => oid));
  return {
    totals: sum(changedFiles(old, next)),
    before: { paths: paths.before, alone: alone(old, paths.after) },
    after: { paths: paths.after, alone: alone(next, paths.before) },
  };
}

function pathsOf(files: readonly ListedFile[]): Set<string> {
  return new Set(files.map(({ path }) => path));
}

/** Whether a merged file that is alone at its path may be the same file as one of the other side. */
function mayMatch(
  path: string,
  merged: MergedFile,
  { paths, alone }: PlanDifference['before'],
  others: ReadonlyMap<string, MergedFile>,
): boolean {
  if (paths.has(path)) return true;
  if (merged.hasSecrets) return false;
  if (alone.has(idOfMerged(path, merged))) return true;
  for (const other of others.values()) if (other.evidence === merged.evidence) return true;
  return false;
}

function mergedIn(bundle: Bundle | null): Map<string, MergedFile> {
  const found = new Map<string, MergedFile>();
  for (const part of bundle?.parts ?? []) {
    const path = bundle && mergedPath(bundle, part);
    if (path !== null && part.merged) found.set(path, part.merged);
  }
  return found;
}

function totalsOf(before: Bundle | null, after: Bundle | null): FileTotals {
  return sum(changedFiles(filesOfBundle(before), filesOfBundle(after)));
}

function sum(files: readonly ChangedFile[]): FileTotals {
  const count = (change: ChangedFile['change']) => files.filter((file) => file.change === change).length;
  return {
    ...{ added: count('Added'), removed: count('Removed') },
    ...{ modified: count('Modified'), renamed: count('Renamed') },
  };
}
