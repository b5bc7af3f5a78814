/**
 * Looks at all folders of a push, each distinct tree once, however many commits share it. What depends on where a tree
 * stands (the length of a path, how many files a version has) is counted from what is known of the tree.
 */

import { MAX_PATH_BYTES, PathSet, showText } from '../domain/safe-path.ts';
import { MAX_FILES, MAX_FOLDERS, MAX_SEGMENTS, tooMany, tooManyFiles } from '../domain/upload-tree.ts';
import { decodeTree } from '../git/tree.ts';
import { type HawserError, invalid } from '../lib/errors.ts';
import { Pace } from '../lib/pace.ts';
import { isFolder, type TreeLook, type TreeToLookAt } from './tree-tasks.ts';

export interface TreeSource {
  /** The contents of trees, in any order. @throws HawserError `repository_damaged` */
  read(oids: readonly string[]): AsyncIterable<{ oid: string; content: Uint8Array }>;
  /** Does what `lookAtTrees` does, beside the event loop. */
  lookAt(trees: readonly TreeToLookAt[]): Promise<TreeLook[]>;
  /** Throws once the work has taken too long. */
  requireTime(): void;
}

/** What all that stands below a tree comes to. */
interface Measure {
  files: number;
  folders: number;
  /** The segments and the bytes of the longest paths, counted from here. */
  segments: number;
  bytes: number;
}

/** A tree, and the first place where it was found. */
interface Found extends TreeLook {
  prefix: string;
}

/** The entries of all distinct trees of a push. Ten versions of the greatest size have as many. */
const MAX_ENTRIES = 200_000;
/** So many bytes of trees are handed to the thread at once. */
const BATCH_BYTES = 1024 * 1024;

export class PushedTrees {
  private readonly source: TreeSource;
  private readonly found = new Map<string, Found>();
  private readonly measures = new Map<string, Measure>();
  private entries = 0;

  constructor(source: TreeSource) {
    this.source = source;
  }

  /**
   * Looks at these trees, each the uppermost folder of a commit, and at all below them.
   * @param ofTips the trees of the versions themselves, each of which may have so many files
   * @throws HawserError invalid `invalid_path`, `too_complex`; too_large `payload_too_large`, `too_many_files`; what reading
   *   throws
   */
  async require(
    ofTips: { trees: ReadonlySet<string>; files: number },
    others: Iterable<string>,
  ): Promise<void> {
    const roots = new Set([...ofTips.trees, ...others]);
    let level = new Map([...roots].map((oid) => [oid, '']));
    while (level.size > 0) level = await this.lookAtLevel(level);
    for (const [oid, { hasTwins, prefix }] of this.found) if (hasTwins) await this.checkTwins(oid, prefix);
    for (const root of roots) {
      this.source.requireTime();
      if (ofTips.trees.has(root) && this.measure(root, 1).files > ofTips.files)
        throw tooManyFiles(ofTips.files);
      this.requireBounds(root);
    }
  }

  /** @param level trees by id, with a place of each. @returns those that they lead to and that nobody has looked at */
  private async lookAtLevel(level: ReadonlyMap<string, string>): Promise<Map<string, string>> {
    const next = new Map<string, string>();
    let batch: (TreeToLookAt & { oid: string })[] = [];
    let bytes = 0;
    const lookAtBatch = async () => {
      const looks = await this.source.lookAt(batch.map(({ content, prefix }) => ({ content, prefix })));
      for (const [at, { oid, prefix }] of batch.entries()) this.note(oid, prefix, looks[at], next);
      [batch, bytes] = [[], 0];
    };
    for await (const { oid, content } of this.source.read([...level.keys()])) {
      this.source.requireTime();
      batch.push({ oid, content, prefix: level.get(oid) ?? '' });
      bytes += content.byteLength;
      if (bytes > BATCH_BYTES) await lookAtBatch();
    }
    if (batch.length > 0) await lookAtBatch();
    for (const oid of this.found.keys()) next.delete(oid);
    return next;
  }

  private note(oid: string, prefix: string, look: TreeLook | undefined, next: Map<string, string>): void {
    if (look === undefined) throw new Error('a tree was not looked at');
    this.count(look.entries);
    this.found.set(oid, { ...look, prefix });
    for (const { name, oid: folder } of look.folders) next.set(folder, `${prefix}${name}/`);
  }

  /**
   * Lists all files below a tree of which two folders may become one: those of both must not clash.
   * @throws HawserError `invalid_path`, `too_complex`
   */
  private async checkTwins(root: string, prefix: string): Promise<void> {
    const paths = new PathSet();
    const pace = new Pace();
    const walk = [{ oid: root, path: prefix }];
    for (let place = walk.pop(); place !== undefined; place = walk.pop()) {
      for await (const { content } of this.source.read([place.oid])) {
        const entries = decodeTree(Buffer.from(content)) ?? [];
        this.count(entries.length);
        for (const entry of entries) {
          const path = place.path + entry.name;
          if (isFolder(entry)) walk.push({ oid: entry.oid, path: `${path}/` });
          else paths.add(path);
          if (pace.isDue) await pace.rest();
        }
      }
      this.source.requireTime();
    }
  }

  private count(entries: number): void {
    this.entries += entries;
    if (this.entries > MAX_ENTRIES)
      throw tooComplex(`The folders of the push have more than ${MAX_ENTRIES} entries`);
  }

  private requireBounds(root: string): void {
    const { files, folders, segments, bytes } = this.measure(root, 1);
    if (files > MAX_FILES) throw tooMany(`${MAX_FILES} files`);
    if (folders > MAX_FOLDERS) throw tooMany(`${MAX_FOLDERS} folders`);
    if (segments > MAX_SEGMENTS)
      throw this.tooLong(root, 'segments', `has more than ${MAX_SEGMENTS} segments`);
    if (bytes > MAX_PATH_BYTES) throw this.tooLong(root, 'bytes', `is longer than ${MAX_PATH_BYTES} bytes`);
  }

  /** @param depth the segments of the shortest path to a file here, on the way by which it is reached */
  private measure(oid: string, depth: number): Measure {
    const known = this.measures.get(oid);
    if (known) return known;
    const tree = this.foundOf(oid);
    if (depth > MAX_SEGMENTS) throw tooDeep(tree.prefix);
    const measure = {
      files: tree.files,
      folders: 0,
      segments: tree.files > 0 ? 1 : 0,
      bytes: Buffer.byteLength(tree.longest),
    };
    for (const { name, oid: folder } of tree.folders) {
      const below = this.measure(folder, depth + 1);
      if (below.files === 0) continue;
      measure.files += below.files;
      measure.folders += 1 + below.folders;
      measure.segments = Math.max(measure.segments, 1 + below.segments);
      measure.bytes = Math.max(measure.bytes, Buffer.byteLength(name) + 1 + below.bytes);
    }
    this.measures.set(oid, measure);
    return measure;
  }

  /** The refusal that names the path that is too long: the way down follows what is longest. */
  private tooLong(root: string, by: 'segments' | 'bytes', fault: string): HawserError {
    let path = '';
    let tree = this.foundOf(root);
    for (;;) {
      const lengthOf = ({ name, oid }: { name: string; oid: string }) => {
        const below = this.measure(oid, 1);
        if (below.files === 0) return 0;
        return by === 'segments' ? 1 + below.segments : Buffer.byteLength(name) + 1 + below.bytes;
      };
      const own = by === 'segments' ? Math.min(1, tree.files) : Buffer.byteLength(tree.longest);
      const deepest = tree.folders.toSorted((a, b) => lengthOf(b) - lengthOf(a))[0];
      if (deepest === undefined || lengthOf(deepest) <= own) break;
      path += `${deepest.name}/`;
      tree = this.foundOf(deepest.oid);
    }
    return invalid('invalid_path', `The path "${showText(path + tree.longest)}" ${fault}`);
  }

  private foundOf(oid: string): Found {
    const tree = this.found.get(oid);
    if (tree === undefined) throw new Error('a tree was not looked at');
    return tree;
  }
}

/** The push takes more work than one may ask for. */
export function tooComplex(message: string): HawserError {
  return invalid('too_complex', `${message}; push fewer commits at once, or smaller folders`);
}

function tooDeep(path: string): HawserError {
  return invalid('invalid_path', `The path "${showText(path)}" has more than ${MAX_SEGMENTS} segments`);
}
