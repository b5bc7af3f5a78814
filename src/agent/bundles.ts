/**
 * The bundles of the node: unpacked and kept on the disk. A folder `bundles/<checksum>` is
 * complete from the moment it has that name, `bundles/<checksum>.json` describes it, `bundles/<checksum>.signature` has its
 * tags where they were checked, and the link `current` leads to the one in use.
 */

import { mkdir, open, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { z } from 'zod';
import { checkPathSet, normalizePath, showText } from '../domain/safe-path.ts';
import { flushFolder, makePrivateFolder } from '../lib/folders.ts';
import { newId } from '../lib/ids.ts';
import { readIfPresent, writeSecretFile } from '../lib/secret-file.ts';
import { type Polled, parsePolled, SIGNATURE } from './node-api.ts';
import { removeUnfinished } from './state.ts';

/** The bundle in use, and the one before it for people who look for what has changed. */
const KEPT = 2;
const CHECKSUM = /^[0-9a-f]{64}$/;

/** The tags of a bundle, and the SHA-256 of the file of signers that they were checked by. */
export type KeptSignature = z.output<typeof KEPT_SIGNATURE>;

const KEPT_SIGNATURE = z.object({ signers: z.string(), answer: SIGNATURE });

/**
 * Looks at the files of a bundle before it gets its final name.
 * @param executables those of its files that are executable
 * @returns false where it is not to get it
 */
export type CheckFolder = (folder: string, executables: ReadonlySet<string>) => Promise<boolean>;

export class BundleStore {
  private readonly link: string;
  private readonly stateDir: string;
  private readonly folder: string;

  private constructor(stateDir: string) {
    this.stateDir = stateDir;
    this.link = join(stateDir, 'current');
    this.folder = join(stateDir, 'bundles');
  }

  /** Removes what a killed agent has left unfinished. */
  static async open(stateDir: string): Promise<BundleStore> {
    const store = new BundleStore(stateDir);
    await makePrivateFolder(store.folder);
    await removeUnfinished(store.folder);
    await store.prune();
    return store;
  }

  /** To read only, while an agent may work in the folder. */
  static at(stateDir: string): BundleStore {
    return new BundleStore(stateDir);
  }

  /** When the bundle was taken into use, in epoch milliseconds. */
  async usedSince({ checksum }: Pick<Polled, 'checksum'>): Promise<number> {
    return (await stat(this.descriptionOf(checksum))).mtimeMs;
  }

  /** The bundle in use; null when there is none, or it is not complete. */
  async current(): Promise<Polled | null> {
    const checksum = await this.linked();
    return checksum === null ? null : this.describe(checksum);
  }

  folderOf({ checksum }: Pick<Polled, 'checksum'>): string {
    return join(this.folder, checksum);
  }

  /** A path for a download. `open` removes what is left there. */
  downloadPath(): string {
    return join(this.folder, `download.${newId()}`);
  }

  /**
   * Unpacks a bundle under its final name.
   * @param limit the most bytes that all files together may have
   * @returns what `check` answers
   * @throws Error when the bundle is unsafe or too large, or has no entry point or parameters file; and what `check` throws
   */
  async install(
    bundle: Polled,
    archive: string,
    limit: number,
    check: CheckFolder = async () => true,
  ): Promise<boolean> {
    const partial = join(this.folder, `unpacking.${newId()}`);
    try {
      await mkdir(partial, { mode: 0o700 });
      const { paths, executables } = await unpackBundle(archive, partial, limit);
      for (const needed of [bundle.entryPoint, bundle.parametersFile]) {
        if (needed !== null && !paths.has(needed)) throw new Error(`The bundle lacks the file ${needed}`);
      }
      if (!(await check(partial, executables))) {
        await rm(partial, { recursive: true, force: true });
        return false;
      }
      // The folder exists if its description was lost. A rename cannot replace it.
      await rm(this.folderOf(bundle), { recursive: true, force: true });
      await rename(partial, this.folderOf(bundle));
      await flushFolder(this.folder);
      await this.writeDescription(bundle);
      return true;
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  }

  /** Makes an installed bundle the one in use, in one step, and removes old bundles. */
  async switchTo(bundle: Polled): Promise<void> {
    // The description is written again, because the time of its file tells when the bundle was last taken into use.
    await this.writeDescription(bundle);
    const link = `${this.link}.${newId()}`;
    await symlink(join('bundles', bundle.checksum), link, 'dir');
    await rename(link, this.link);
    await flushFolder(this.stateDir);
    await this.prune();
  }

  private async linked(): Promise<string | null> {
    try {
      const checksum = basename(await readlink(this.link));
      return CHECKSUM.test(checksum) ? checksum : null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  /** @returns null when the bundle is missing or not complete */
  async describe(checksum: string): Promise<Polled | null> {
    const folder = await stat(this.folderOf({ checksum })).catch(() => null);
    const text = folder?.isDirectory() ? await readIfPresent(this.descriptionOf(checksum)) : null;
    return text === null ? null : parsePolled(text);
  }

  /** The tags of a bundle; null where they were never checked, or cannot be read. */
  async signature({ checksum }: Pick<Polled, 'checksum'>): Promise<KeptSignature | null> {
    const text = await readIfPresent(this.signatureOf(checksum));
    try {
      return text === null ? null : (KEPT_SIGNATURE.safeParse(JSON.parse(text)).data ?? null);
    } catch {
      return null;
    }
  }

  /** Keeps the tags of a bundle that stood the check. */
  async saveSignature({ checksum }: Pick<Polled, 'checksum'>, kept: KeptSignature): Promise<void> {
    await writeSecretFile(this.signatureOf(checksum), `${JSON.stringify(kept)}\n`);
  }

  private signatureOf(checksum: string): string {
    return join(this.folder, `${checksum}.signature`);
  }

  private writeDescription(bundle: Polled): Promise<void> {
    return writeSecretFile(this.descriptionOf(bundle.checksum), `${JSON.stringify(bundle)}\n`);
  }

  private descriptionOf(checksum: string): string {
    return join(this.folder, `${checksum}.json`);
  }

  /** Keeps the bundle in use and the ones that were used last. */
  private async prune(): Promise<void> {
    const inUse = await this.linked();
    const names = (await readdir(this.folder)).map((name) => basename(name, '.json'));
    const checksums = new Set(names.filter((name) => CHECKSUM.test(name)));
    const ages = await Promise.all([...checksums].map((checksum) => this.lastUse(checksum, inUse)));
    ages.sort((one, other) => other.time - one.time);
    for (const { checksum } of ages.slice(KEPT)) {
      await rm(this.folderOf({ checksum }), { recursive: true, force: true });
      await rm(this.descriptionOf(checksum), { force: true });
      await rm(this.signatureOf(checksum), { force: true });
    }
  }

  private async lastUse(checksum: string, inUse: string | null): Promise<{ checksum: string; time: number }> {
    if (checksum === inUse) return { checksum, time: Number.POSITIVE_INFINITY };
    const found = await stat(this.descriptionOf(checksum)).catch(() => null);
    return { checksum, time: found?.mtimeMs ?? 0 };
  }
}

/** A composite may contain many configurations, each of which has at most some thousand files. */
const MAX_FILES = 100_000;
const TYPE_MASK = 0xf000;
const REGULAR = 0x8000;

interface Unpacked {
  paths: ReadonlySet<string>;
  executables: ReadonlySet<string>;
}

/**
 * Files get mode 0600, executable ones and folders 0700, because parameters may be secret. Everything is flushed to the disk.
 * @param folder an empty folder
 * @param limit the most bytes that all files together may have
 * @returns the paths of the files, and which of them are executable
 * @throws Error for an unsafe path, a link or another special file, too much content, or a damaged ZIP
 */
export async function unpackBundle(archive: string, folder: string, limit: number): Promise<Unpacked> {
  const zip = await openPromise(archive, { autoClose: false, strictFileNames: true });
  try {
    const entries = await planEntries(zip, limit);
    const paths = [...entries.keys()];
    checkPathSet(paths);
    for (const [path, entry] of entries) await writeEntry(zip, entry, join(folder, path));
    await flushFolders(folder);
    const executables = [...entries].filter(([, entry]) => isExecutable(entry)).map(([path]) => path);
    return { paths: new Set(paths), executables: new Set(executables) };
  } finally {
    zip.close();
  }
}

/** Checks all entries before the first one is written. */
async function planEntries(zip: ZipFile, limit: number): Promise<Map<string, Entry>> {
  const entries = new Map<string, Entry>();
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const path = checkedPath(entry);
    if (entries.has(path)) throw new Error(`The bundle has the file "${showText(path)}" twice`);
    entries.set(path, entry);
    bytes += entry.uncompressedSize;
    if (entries.size > MAX_FILES) throw new Error(`The bundle has more than ${MAX_FILES} files`);
    if (bytes > limit) throw new Error(`The files of the bundle exceed ${limit} bytes`);
  }
  return entries;
}

function checkedPath(entry: Entry): string {
  const path = normalizePath(entry.fileName);
  // The server writes normalized paths, so it has not made another spelling.
  if (path !== entry.fileName) throw new Error(`The bundle has the path "${showText(entry.fileName)}"`);
  const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
  if (type !== 0 && type !== REGULAR) throw new Error(`In the bundle "${showText(path)}" is no regular file`);
  return path;
}

function isExecutable({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o100) !== 0;
}

async function writeEntry(zip: ZipFile, entry: Entry, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'wx', isExecutable(entry) ? 0o700 : 0o600);
  try {
    // The stream is read at once, because an error event without a listener would end the agent.
    const content = await zip.openReadStreamPromise(entry);
    for await (const chunk of content as AsyncIterable<Buffer>) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function flushFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await flushFolders(join(folder, entry.name));
  }
  await flushFolder(folder);
}
