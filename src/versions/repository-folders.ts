/**
 * The folders of repositories on the disk. A repository is built aside and moved into place, and it is moved away to be
 * removed, so a crash leaves it whole or not at all.
 */

import { join, parse } from 'node:path';
import type { Db } from '../db/database.ts';
import { notePendingDeletion } from '../db/repository-rows.ts';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { errnoOf, guardDisk, unlessAbsent } from '../git/disk-errors.ts';
import { FolderRefs } from '../git/folder-refs.ts';
import {
  gitdirOf,
  makeSkeleton,
  nameOfFolder,
  readHead,
  readSettings,
  scratchPath,
  TEMPORARY,
  writeHead,
} from '../git/repository-layout.ts';
import {
  type RepositoryRef,
  type RepositorySettings,
  STORED_KINDS,
  type StoredKind,
  type StoredRef,
} from '../git/types.ts';
import { conflict } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { FillRepository, PlacedRepository, RepositoryPlace } from './repository-place.ts';

export interface FolderTools {
  fs: AtomicFs;
  log: Log;
}

export class RepositoryFolders implements RepositoryPlace {
  private readonly root: string;
  private readonly tools: FolderTools;
  private readonly fs: AtomicFs;

  constructor(root: string, tools: FolderTools) {
    this.root = root;
    this.tools = tools;
    this.fs = tools.fs;
  }

  async prepare(): Promise<void> {
    await guardDisk(async () => {
      await this.fs.makeFoldersBelow(parse(this.root).root, this.root, 0o700);
      for (const folder of [...STORED_KINDS, TEMPORARY]) {
        await this.fs.makeFolder(join(this.root, folder), 0o700);
        await this.fs.flushIfRecent(join(this.root, folder));
      }
      await this.fs.flushIfRecent(this.root);
      for (const { name } of await this.fs.readdir(join(this.root, TEMPORARY))) {
        await this.fs.discard(join(this.root, TEMPORARY, name));
      }
    });
  }

  async list(kind: StoredKind): Promise<string[]> {
    const entries = await guardDisk(() => this.fs.readdir(join(this.root, kind)));
    const names = entries.filter((entry) => entry.isDirectory()).map((entry) => nameOfFolder(entry.name));
    return names.filter((name) => name !== null).sort();
  }

  async has(ref: StoredRef): Promise<boolean> {
    const gitdir = gitdirOf(this.root, ref);
    const stats = await guardDisk(() => unlessAbsent(this.fs.lstat(gitdir), null));
    return stats?.isDirectory() ?? false;
  }

  settings(ref: StoredRef): Promise<RepositorySettings | null> {
    return guardDisk(() => readSettings(this.fs, gitdirOf(this.root, ref)));
  }

  refsOf(_ref: StoredRef, gitdir: string): FolderRefs {
    return new FolderRefs({ ...this.tools, gitdir });
  }

  async make(
    { gitdir }: PlacedRepository,
    settings: RepositorySettings | null,
    fill: FillRepository,
  ): Promise<void> {
    const site = this.temporary();
    let place = site;
    try {
      await makeSkeleton(this.fs, site, settings);
      const first = await fill(site);
      if (first !== null) await this.fs.writeFile(join(site, first.name), `${first.oid}\n`);
      await this.fs.rename(site, gitdir, () => {
        place = gitdir;
      });
    } catch (error) {
      await this.fs.discard(place).catch(() => undefined);
      const errno = errnoOf(error);
      throw errno === 'ENOTEMPTY' || errno === 'EEXIST' ? repositoryExists() : error;
    }
  }

  unmake(repository: PlacedRepository): Promise<void> {
    return this.fs.discard(repository.gitdir);
  }

  async remove({ gitdir }: PlacedRepository, removed: () => Promise<void>): Promise<void> {
    const site = this.temporary();
    try {
      await guardDisk(() => unlessAbsent(this.fs.rename(gitdir, site), undefined));
      await removed();
    } finally {
      // If this fails it is done later. The repository itself is gone either way.
      await this.fs
        .discard(site)
        .catch((error) => this.tools.log.warn({ err: error }, 'could not empty a removed repository'));
    }
  }

  /** The folder is moved away once the row is gone. */
  noteRemoval(trx: Db, ref: RepositoryRef): Promise<void> {
    return notePendingDeletion(trx, ref);
  }

  headOf(ref: StoredRef): string | null {
    return readHead(this.fs, gitdirOf(this.root, ref));
  }

  pointHead(ref: StoredRef, branch: string): Promise<void> {
    return writeHead(this.fs, gitdirOf(this.root, ref), branch);
  }

  async materialise(): Promise<void> {
    // The folder is the repository.
  }

  async distrust(): Promise<void> {
    // Nobody else has what it holds.
  }

  async scratch(): Promise<string> {
    return this.temporary();
  }

  async writeFault(): Promise<string | null> {
    if (this.fs.writeFault === null) return null;
    const probe = this.temporary();
    await this.fs.writePlain(probe, 'x').catch(() => undefined);
    await this.fs.discard(probe).catch(() => undefined);
    return this.fs.writeFault;
  }

  private temporary(): string {
    return scratchPath(this.root);
  }
}

export function repositoryExists(): Error {
  return conflict('name_taken', 'There is a repository of that name already.');
}
