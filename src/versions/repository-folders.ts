/**
 * The folders of repositories on the disk. A repository is built aside and moved into place, and it is moved away to be
 * removed, so a crash leaves it whole or not at all.
 */

import { randomUUID } from 'node:crypto';
import { join, parse } from 'node:path';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { errnoOf, guardDisk, unlessAbsent } from '../git/disk-errors.ts';
import { gitdirOf, makeSkeleton, nameOfFolder, readSettings } from '../git/repository-layout.ts';
import {
  REPOSITORY_KINDS,
  type RepositoryKind,
  type RepositoryRef,
  type RepositorySettings,
} from '../git/types.ts';
import { conflict } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

/** The folder in which repositories are built, and to which they are moved to be removed. Each start empties it. */
const TEMPORARY = '.tmp';

export class RepositoryFolders {
  readonly root: string;
  private readonly fs: AtomicFs;
  private readonly log: Log;

  constructor(root: string, fs: AtomicFs, log: Log) {
    this.root = root;
    this.fs = fs;
    this.log = log;
  }

  /** Makes the folders, and removes what a crash left unfinished. To be called before any process uses the store. */
  async prepare(): Promise<void> {
    await guardDisk(async () => {
      await this.fs.makeFoldersBelow(parse(this.root).root, this.root, 0o700);
      for (const folder of [...REPOSITORY_KINDS, TEMPORARY]) {
        await this.fs.makeFolder(join(this.root, folder), 0o700);
        await this.fs.flushIfRecent(join(this.root, folder));
      }
      await this.fs.flushIfRecent(this.root);
      for (const { name } of await this.fs.readdir(join(this.root, TEMPORARY))) {
        await this.fs.discard(join(this.root, TEMPORARY, name));
      }
    });
  }

  /** The names of the repositories on the disk, sorted. */
  async list(kind: RepositoryKind): Promise<string[]> {
    const entries = await guardDisk(() => this.fs.readdir(join(this.root, kind)));
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => nameOfFolder(entry.name));
    return names.filter((name) => name !== null).sort();
  }

  async has(ref: RepositoryRef): Promise<boolean> {
    const gitdir = gitdirOf(this.root, ref);
    const stats = await guardDisk(() => unlessAbsent(this.fs.lstat(gitdir), null));
    return stats?.isDirectory() ?? false;
  }

  /** The settings as written at creation; null for a repository that Hawser did not make. */
  settings(ref: RepositoryRef): Promise<RepositorySettings | null> {
    return guardDisk(() => readSettings(this.fs, gitdirOf(this.root, ref)));
  }

  /**
   * Makes a repository.
   * @param settings null for parameters, which have no row of their own
   * @param fill called with the folder in which the repository is built
   * @throws HawserError conflict `name_taken`
   */
  async make(
    gitdir: string,
    settings: RepositorySettings | null,
    fill: (site: string) => Promise<void> = async () => undefined,
  ): Promise<void> {
    const site = this.temporary();
    let place = site;
    try {
      await makeSkeleton(this.fs, site, settings);
      await fill(site);
      await this.fs.rename(site, gitdir, () => {
        place = gitdir;
      });
    } catch (error) {
      await this.fs.discard(place).catch(() => undefined);
      const errno = errnoOf(error);
      throw errno === 'ENOTEMPTY' || errno === 'EEXIST' ? repositoryExists() : error;
    }
  }

  /** Removes a repository, at once for all who look. It need not exist. */
  async remove(gitdir: string, removed: () => Promise<void>): Promise<void> {
    const site = this.temporary();
    try {
      await guardDisk(() => unlessAbsent(this.fs.rename(gitdir, site), undefined));
      await removed();
    } finally {
      // If this fails it is done later. The repository itself is gone either way.
      await this.fs
        .discard(site)
        .catch((error) => this.log.warn({ err: error }, 'could not empty a removed repository'));
    }
  }

  /** The code of what writes fail with at the moment, such as `insufficient_storage`; null while they succeed. */
  async writeFault(): Promise<string | null> {
    if (this.fs.writeFault === null) return null;
    const probe = this.temporary();
    await this.fs.writePlain(probe, 'x').catch(() => undefined);
    await this.fs.discard(probe).catch(() => undefined);
    return this.fs.writeFault;
  }

  private temporary(): string {
    return join(this.root, TEMPORARY, randomUUID());
  }
}

export function repositoryExists(): Error {
  return conflict('name_taken', 'There is a repository of that name already.');
}
