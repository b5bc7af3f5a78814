/**
 * The bundles on the disk. A folder `bundles/<checksum>` is whole from the moment it has that name, `current` is a
 * link to the one in use, and `bundles/<checksum>.json` says what it is.
 */

import { mkdir, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { flushFolder, makePrivateFolder } from '../lib/folders.ts';
import { newId } from '../lib/ids.ts';
import { writeSecretFile } from '../lib/secret-file.ts';
import { type Polled, parsePolled } from './node-api.ts';
import { readIfThere, removeUnfinished } from './state.ts';
import { unpackBundle } from './unpack.ts';

/** The one in use, and the one before it to look back at. */
const KEPT = 2;
const CHECKSUM = /^[0-9a-f]{64}$/;

export class BundleStore {
  private readonly link: string;
  private readonly stateDir: string;
  private readonly folder: string;

  private constructor(stateDir: string) {
    this.stateDir = stateDir;
    this.link = join(stateDir, 'current');
    this.folder = join(stateDir, 'bundles');
  }

  /** Clears away what a killed agent has left half-unpacked. */
  static async open(stateDir: string): Promise<BundleStore> {
    const store = new BundleStore(stateDir);
    await makePrivateFolder(store.folder);
    await removeUnfinished(store.folder);
    await store.prune();
    return store;
  }

  /** What is in use; null when nothing is, or it is not whole. */
  async current(): Promise<Polled | null> {
    const checksum = await this.linked();
    return checksum === null ? null : this.describe(checksum);
  }

  folderOf({ checksum }: Pick<Polled, 'checksum'>): string {
    return join(this.folder, checksum);
  }

  async has({ checksum }: Pick<Polled, 'checksum'>): Promise<boolean> {
    return (await this.describe(checksum)) !== null;
  }

  /** A path for a download, cleared away with everything unfinished. */
  downloadPath(): string {
    return join(this.folder, `download.${newId()}`);
  }

  /**
   * Unpacks a bundle under its final name.
   * @param limit bytes of all files together
   * @throws Error when it is unsafe, too large, or lacks a file that it is to be run with
   */
  async install(bundle: Polled, archive: string, limit: number): Promise<void> {
    const partial = join(this.folder, `unpacking.${newId()}`);
    try {
      await mkdir(partial, { mode: 0o700 });
      const paths = await unpackBundle(archive, partial, limit);
      for (const needed of [bundle.entryPoint, bundle.parametersFile]) {
        if (needed !== null && !paths.has(needed)) throw new Error(`The bundle lacks the file ${needed}`);
      }
      // Only there when its description was lost; it cannot be renamed over.
      await rm(this.folderOf(bundle), { recursive: true, force: true });
      await rename(partial, this.folderOf(bundle));
      await flushFolder(this.folder);
      await this.writeDescription(bundle);
    } catch (error) {
      await rm(partial, { recursive: true, force: true });
      throw error;
    }
  }

  /** Makes an installed bundle the one in use, in one step, and removes those of long ago. */
  async switchTo(bundle: Polled): Promise<void> {
    // Written anew, because its time tells when the bundle was last taken into use.
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

  private async describe(checksum: string): Promise<Polled | null> {
    const isThere = await stat(this.folderOf({ checksum })).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const text = isThere ? await readIfThere(this.descriptionOf(checksum)) : null;
    return text === null ? null : parsePolled(text);
  }

  private writeDescription(bundle: Polled): Promise<void> {
    return writeSecretFile(this.descriptionOf(bundle.checksum), `${JSON.stringify(bundle)}\n`);
  }

  private descriptionOf(checksum: string): string {
    return join(this.folder, `${checksum}.json`);
  }

  /** Keeps the one in use and those used last. */
  private async prune(): Promise<void> {
    const inUse = await this.linked();
    const names = (await readdir(this.folder)).map((name) => basename(name, '.json'));
    const checksums = new Set(names.filter((name) => CHECKSUM.test(name)));
    const ages = await Promise.all([...checksums].map((checksum) => this.lastUse(checksum, inUse)));
    ages.sort((one, other) => other.time - one.time);
    for (const { checksum } of ages.slice(KEPT)) {
      await rm(this.folderOf({ checksum }), { recursive: true, force: true });
      await rm(this.descriptionOf(checksum), { force: true });
    }
  }

  private async lastUse(checksum: string, inUse: string | null): Promise<{ checksum: string; time: number }> {
    if (checksum === inUse) return { checksum, time: Number.POSITIVE_INFINITY };
    const time = await stat(this.descriptionOf(checksum)).then(
      (found) => found.mtimeMs,
      () => 0,
    );
    return { checksum, time };
  }
}
