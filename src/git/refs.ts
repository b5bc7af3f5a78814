/**
 * Moves, removes and packs refs: isomorphic-git does so neither atomically nor with a comparison of the old value. Git's
 * lock protocol is followed, so this is safe while stock git works in the same repository.
 */

import { dirname, join } from 'node:path';
import { sortByBytes } from '../lib/byte-order.ts';
import { HawserError } from '../lib/errors.ts';
import { forEachOf } from '../lib/for-each-of.ts';
import { paced } from '../lib/pace.ts';
import { damagedRepository, unlessAbsent } from './disk-errors.ts';
import { type GitFolder, type LockFile, takeLock, withLock } from './lock-file.ts';
import {
  findPackedRef,
  parsePackedRefs,
  type RefValue,
  readLooseRef,
  readPackedRefs,
  readRef,
} from './ref-reader.ts';

/** A ref to be put into `packed-refs`. */
export interface PackedRef extends RefValue {
  /** What an annotated tag leads to in the end; null for a branch. */
  peeled: string | null;
}

/** The first line of `packed-refs`: names are sorted by their bytes, and every annotated tag has its `^` line. */
const HEADER = '# pack-refs with: peeled fully-peeled sorted ';

/** A second name of the `packed-refs` before a move, by which it can be taken back without space on the disk. */
export const EARLIER_PACKED = 'packed-refs.hawser';

/** These folders stay when they become empty. Those below them come and go with their refs. */
const LASTING = ['refs/heads', 'refs/heads/draft', 'refs/tags'];

/** So many locks of one move are taken at once. */
const CONCURRENT_LOCKS = 16;
/** So many refs are looked for one by one in `packed-refs`. */
const FEW = 8;

/**
 * Moves a ref from one value to another, or makes it.
 * @param from null when the ref must not exist
 * @returns false, with nothing changed, when the ref has another value than `from`
 */
export async function updateRef(
  folder: GitFolder,
  name: string,
  from: string | null,
  to: string,
): Promise<boolean> {
  return withLock(folder, join(folder.gitdir, name), async (lock) => {
    if (readRef(folder.fs, folder.gitdir, name) !== from) return false;
    await lock.commit(`${to}\n`);
    return true;
  });
}

/** The value of a ref before and after a move; null where it does not exist. */
export interface RefMove {
  name: string;
  from: string | null;
  to: string | null;
}

/** Makes, moves or removes a ref. Returns false, with nothing changed, when it has another value than `from`. */
export async function moveRef(folder: GitFolder, { name, from, to }: RefMove): Promise<boolean> {
  if (to !== null) return updateRef(folder, name, from, to);
  return from === null || deleteRef(folder, name, from);
}

/** A move, and what an annotated tag that it makes leads to in the end; null for a branch, and for a ref that goes. */
export interface PeeledMove extends RefMove {
  peeled: string | null;
}

/**
 * Moves of refs that are ready to be made: whatever takes time, or space on the disk, is done. The locks of git's protocol are
 * held until `end`.
 */
export interface ReadyMoves {
  /** Makes all of them at once, also for other programs. They are not flushed. */
  make(): void;
  /** Takes back what was made. */
  takeBack(): void;
  /** Flushes what was made. */
  flush(): Promise<void>;
  /** Does so while nothing else runs in this process. */
  flushNow(): void;
  /** Gives the locks back, and drops what was not made. */
  end(): Promise<void>;
}

/**
 * Moves refs all at once, also for who reads them meanwhile and where the process ends: one rename of `packed-refs` is the
 * change. Refs that are loose are packed as they are before that.
 * @returns false, with nothing changed, when one of them has another value than `from`
 * @throws HawserError `repository_damaged` for a `packed-refs` in another form than git gives it
 */
export async function moveRefs(folder: GitFolder, moves: readonly PeeledMove[]): Promise<boolean> {
  const ready = await readyMoves(folder, moves);
  if (ready === null) return false;
  try {
    ready.make();
    await ready.flush();
    return true;
  } finally {
    await ready.end();
  }
}

/** Makes moves ready, as `moveRefs` makes them. @returns null when a ref has another value. @throws as `moveRefs` */
export async function readyMoves(
  folder: GitFolder,
  moves: readonly PeeledMove[],
): Promise<ReadyMoves | null> {
  const { fs, gitdir } = folder;
  const locks: LockFile[] = [];
  const giveBack = () => giveLocksBack(folder, locks, moves);
  try {
    await takeLocks(folder, locks, moves);
    locks.push(await takeLock(folder, join(gitdir, 'packed-refs')));
    if (!(await allHold(folder, moves))) {
      await giveBack();
      return null;
    }
    await packLoose(folder, moves);
    const made = moves.flatMap(({ name, to, peeled }) => (to === null ? [] : [{ name, oid: to, peeled }]));
    const gone = moves.flatMap(({ name, to }) => (to === null ? [name] : []));
    return new PackedMoves(fs, gitdir, await writeNewPacked(folder, made, gone), giveBack);
  } catch (error) {
    await giveBack();
    throw error;
  }
}

type Named = Pick<RefMove, 'name'>;

/** Takes the locks of all these refs, none of which becomes a file. */
async function takeLocks(folder: GitFolder, locks: LockFile[], refs: readonly Named[]): Promise<void> {
  await forEachOf(refs, CONCURRENT_LOCKS, async ({ name }) => {
    locks.push(await takeLock(folder, join(folder.gitdir, name), { isLasting: false }));
  });
}

async function giveLocksBack(
  folder: GitFolder,
  locks: readonly LockFile[],
  refs: readonly Named[],
): Promise<void> {
  await forEachOf(locks, CONCURRENT_LOCKS, (lock) => lock.release());
  await dropEmptyFolders(folder, ...refs.map(({ name }) => name));
}

/** Holds the locks of all these refs while `work` runs. */
async function withLocks<T>(folder: GitFolder, refs: readonly Named[], work: () => Promise<T>): Promise<T> {
  const locks: LockFile[] = [];
  try {
    await takeLocks(folder, locks, refs);
    return await work();
  } finally {
    await giveLocksBack(folder, locks, refs);
  }
}

/** Packs the loose ones of these refs as they are. The caller holds all locks. */
async function packLoose(folder: GitFolder, moves: readonly PeeledMove[]): Promise<void> {
  const { fs, gitdir } = folder;
  const loose = moves.flatMap(({ name, from: oid }) =>
    oid === null || readLooseRef(fs, gitdir, name) === null ? [] : [{ name, oid, peeled: null }],
  );
  if (loose.length === 0) return;
  await replacePacked(folder, requirePacked(folder, loose));
  // They hide what is packed, so none may come back after a power cut.
  for (const { name } of loose) await fs.unlink(join(gitdir, name));
}

function requirePacked({ fs, gitdir }: GitFolder, ...change: PackedChange): string {
  const text = withPackedRefs(readPackedRefs(fs, gitdir).toString('utf8'), ...change);
  if (text === null) throw damagedRepository(new Error('packed-refs is not in the form that git gives it'));
  return text;
}

type PackedChange = [added: readonly PackedRef[], gone?: readonly string[]];

/** Writes the text that is to be `packed-refs`, and keeps the file before it. @returns whether there was one */
async function writeNewPacked(folder: GitFolder, ...change: PackedChange): Promise<boolean> {
  const { fs, gitdir } = folder;
  const text = requirePacked(folder, ...change);
  const path = join(gitdir, 'packed-refs');
  try {
    await fs.writePlain(`${path}.new`, text);
    await fs.discardFile(join(gitdir, EARLIER_PACKED));
    return await unlessAbsent(
      fs.link(path, join(gitdir, EARLIER_PACKED)).then(() => true),
      false,
    );
  } catch (error) {
    await fs.discardFile(`${path}.new`).catch(() => undefined);
    throw error;
  }
}

class PackedMoves implements ReadyMoves {
  private readonly fs: GitFolder['fs'];
  private readonly gitdir: string;
  private readonly hadPacked: boolean;
  private readonly giveBack: () => Promise<void>;
  private isMade = false;

  constructor(fs: GitFolder['fs'], gitdir: string, hadPacked: boolean, giveBack: () => Promise<void>) {
    this.fs = fs;
    this.gitdir = gitdir;
    this.hadPacked = hadPacked;
    this.giveBack = giveBack;
  }

  make(): void {
    this.fs.renameNow(join(this.gitdir, 'packed-refs.new'), join(this.gitdir, 'packed-refs'));
    this.isMade = true;
  }

  takeBack(): void {
    if (!this.isMade) return;
    const path = join(this.gitdir, 'packed-refs');
    if (this.hadPacked) this.fs.renameNow(join(this.gitdir, EARLIER_PACKED), path);
    else this.fs.unlinkNow(path);
    this.isMade = false;
  }

  flush(): Promise<void> {
    return this.fs.flushFolder(this.gitdir);
  }

  flushNow(): void {
    this.fs.flushFolderNow(this.gitdir);
  }

  async end(): Promise<void> {
    const left = this.isMade ? [] : ['packed-refs.new'];
    for (const name of [...left, ...(this.hadPacked ? [EARLIER_PACKED] : [])])
      await this.fs.discardFile(join(this.gitdir, name)).catch(() => undefined);
    await this.giveBack();
  }
}

/** Removes a ref, loose and packed. Returns false, with nothing changed, when it has another value than `from`. */
export function deleteRef(folder: GitFolder, name: string, from: string): Promise<boolean> {
  return deleteRefs(folder, [{ name, oid: from }]);
}

/** Removes refs, loose and packed. Returns false, with nothing changed, when one of them has another value. */
export async function deleteRefs(folder: GitFolder, refs: readonly RefValue[]): Promise<boolean> {
  const { fs, gitdir } = folder;
  return withLocks(folder, refs, async () => {
    const expected = refs.map(({ name, oid: from }) => ({ name, from }));
    if (!(await allHold(folder, expected))) return false;
    // It is held until the loose files are gone too: a pack-refs in between would pack the refs again.
    await withLock(folder, join(gitdir, 'packed-refs'), async () => {
      await dropPacked(folder, refs);
      for (const { name } of refs) await fs.unlink(join(gitdir, name));
    });
    return true;
  });
}

async function allHold(
  { fs, gitdir }: GitFolder,
  refs: readonly Pick<RefMove, 'name' | 'from'>[],
): Promise<boolean> {
  const file = readPackedRefs(fs, gitdir);
  // To look for each of many would read the whole file for each.
  const packed = refs.length > FEW ? parsePackedRefs(file.toString('utf8')) : null;
  const find = (name: string) => (packed ? (packed.get(name) ?? null) : findPackedRef(file, name));
  for await (const { name, from } of paced(refs))
    if ((readLooseRef(fs, gitdir, name) ?? find(name)) !== from) return false;
  return true;
}

/**
 * Brings loose refs into `packed-refs`, as `git pack-refs` does. Thousands of small files slow down every program that
 * lists refs, and this one too. Refs that have moved meanwhile stay as they are.
 */
export async function packRefs(folder: GitFolder, refs: readonly PackedRef[]): Promise<void> {
  const { fs, gitdir } = folder;
  const packed = await withLock(folder, join(gitdir, 'packed-refs'), async () => {
    // Whoever removes a ref holds this lock until the loose file is gone, so nothing removed is packed.
    const unmoved = refs.filter(({ name, oid }) => readLooseRef(fs, gitdir, name) === oid);
    const text = withPackedRefs(readPackedRefs(fs, gitdir).toString('utf8'), unmoved);
    if (text === null) return [];
    await replacePacked(folder, text);
    return unmoved;
  });
  for (const ref of packed) await dropLoose(folder, ref);
}

/** Removes the loose file of a packed ref. It is not flushed: a file that a power cut brings back has the same value. */
async function dropLoose(folder: GitFolder, { name, oid }: PackedRef): Promise<void> {
  const path = join(folder.gitdir, name);
  try {
    await withLock(folder, path, async () => {
      if (readLooseRef(folder.fs, folder.gitdir, name) === oid) await folder.fs.discardFile(path);
    });
    await dropEmptyFolders(folder, name);
  } catch (error) {
    // Another program holds this ref, so it stays loose.
    if (!(error instanceof HawserError) || error.code !== 'repository_locked') throw error;
  }
}

/**
 * Removes the folders that have become empty above refs, as git does, so that there are not more folders to look at than
 * refs. A failure leaves an empty folder, which harms nothing.
 */
async function dropEmptyFolders({ fs, gitdir }: GitFolder, ...names: readonly string[]): Promise<void> {
  let paths = new Set(names.map((name) => dirname(name)));
  while (paths.size > 0) {
    const above = new Set<string>();
    await forEachOf(paths, CONCURRENT_LOCKS, async (path) => {
      if (LASTING.includes(path) || !path.includes('/')) return;
      if (await fs.discardEmptyFolder(join(gitdir, path)).catch(() => false)) above.add(dirname(path));
    });
    paths = above;
  }
}

/** Takes refs out of `packed-refs`. The caller holds packed-refs.lock. */
async function dropPacked(folder: GitFolder, refs: readonly RefValue[]): Promise<void> {
  const file = readPackedRefs(folder.fs, folder.gitdir);
  const packed = refs.filter(({ name }) => findPackedRef(file, name) !== null);
  if (packed.length === 0) return;
  const rest = packed.reduce((text, { name }) => withoutPackedRef(text, name) ?? text, file.toString('utf8'));
  await replacePacked(folder, rest);
}

/** Git writes the new text to `packed-refs.new` too, so that the lock outlives the rename. The caller holds the lock. */
async function replacePacked({ fs, gitdir }: GitFolder, text: string): Promise<void> {
  const path = join(gitdir, 'packed-refs');
  try {
    await fs.writePlain(`${path}.new`, text);
    await fs.rename(`${path}.new`, path);
  } catch (error) {
    // A file that is left behind would stop git, which makes it exclusively.
    await fs.discardFile(`${path}.new`).catch(() => undefined);
    throw error;
  }
}

/** The text of `packed-refs` without one ref and its `^` line; null when the ref is not in it. */
export function withoutPackedRef(text: string, name: string): string | null {
  const at = text.indexOf(` ${name}\n`);
  if (at < 40) return null;
  let end = at + name.length + 2;
  if (text[end] === '^') end = text.indexOf('\n', end) + 1;
  return text.slice(0, at - 40) + text.slice(end);
}

/**
 * The text of `packed-refs` with these refs added or replaced, and without those that are gone; null when the text has
 * another form than git gives it.
 */
export function withPackedRefs(
  text: string,
  added: readonly PackedRef[],
  gone: readonly string[] = [],
): string | null {
  const [header, ...lines] = text === '' ? [HEADER] : text.split('\n');
  if (header?.trimEnd() !== HEADER.trimEnd()) return null;
  const blocks = new Map<string, string>();
  let last = '';
  for (const line of lines) {
    const name = /^[0-9a-f]{40} (refs\/.+)$/.exec(line)?.[1];
    if (name !== undefined) blocks.set(name, `${line}\n`);
    else if (line.startsWith('^')) blocks.set(last, `${blocks.get(last)}${line}\n`);
    else if (line !== '') return null;
    last = name ?? last;
  }
  for (const { name, oid, peeled } of added) {
    blocks.set(name, `${oid} ${name}\n${peeled === null ? '' : `^${peeled}\n`}`);
  }
  for (const name of gone) blocks.delete(name);
  const sorted = sortByBytes([...blocks], ([name]) => name);
  return `${HEADER}\n${sorted.map(([, block]) => block).join('')}`;
}
