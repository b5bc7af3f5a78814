/** Repositories in PostgreSQL. Their folders are a cache, which may be deleted at any time. */

import { dirname } from 'node:path';
import type { Db } from '../db/database.ts';
import type { AtomicFs } from '../git/atomic-fs.ts';
import { CacheFolders } from '../git/cache-folders.ts';
import { makeCacheFolder, prepareCache } from '../git/cache-root.ts';
import { guardDisk } from '../git/disk-errors.ts';
import { scratchPath } from '../git/repository-layout.ts';
import type { SharedRepositories } from '../git/shared-repositories.ts';
import { TableRefs } from '../git/table-refs.ts';
import type { RepositorySettings, StoredKind, StoredRef } from '../git/types.ts';
import { internal } from '../lib/errors.ts';
import { repositoryExists } from './repository-folders.ts';
import type { FillRepository, PlacedRepository, RepositoryPlace } from './repository-place.ts';

export class RepositoryTables implements RepositoryPlace {
  private readonly shared: SharedRepositories;
  private readonly cache: AtomicFs;
  private readonly root: string;
  private readonly folders: CacheFolders;

  constructor(shared: SharedRepositories, { cache, root }: { cache: AtomicFs; root: string }) {
    this.shared = shared;
    this.cache = cache;
    this.root = root;
    this.folders = new CacheFolders(shared, { cache, root });
  }

  async prepare(): Promise<void> {
    const repositories = await this.shared.reader.list();
    await guardDisk(() => prepareCache(this.cache, this.root, repositories));
  }

  async list(kind: StoredKind): Promise<string[]> {
    const stored = await this.shared.reader.list();
    return stored.filter((one) => one.kind === kind).map(({ name }) => name);
  }

  async has(ref: StoredRef): Promise<boolean> {
    return (await this.shared.reader.find(ref)) !== undefined;
  }

  async settings(ref: StoredRef): Promise<RepositorySettings | null> {
    const stored = await this.shared.reader.find(ref);
    return (stored?.settings ?? null) as RepositorySettings | null;
  }

  refsOf(ref: StoredRef, gitdir: string): TableRefs {
    return new TableRefs(ref, gitdir, this.shared);
  }

  async make(
    { ref, gitdir, refs }: PlacedRepository,
    settings: RepositorySettings | null,
    fill: FillRepository,
  ): Promise<void> {
    if (!(refs instanceof TableRefs)) throw internal('internal_error', 'These refs are in a folder');
    if (await this.has(ref)) throw repositoryExists();
    refs.create(settings);
    const first = await fill(gitdir);
    if (first !== null) await refs.move({ name: first.name, from: null, to: first.oid });
  }

  unmake({ refs }: PlacedRepository): Promise<void> {
    return refs.rollBack();
  }

  async remove({ ref }: PlacedRepository, removed: () => Promise<void>): Promise<void> {
    await this.shared.tables.transaction((trx) => this.noteRemoval(trx, ref));
    await removed();
  }

  noteRemoval(trx: Db, ref: StoredRef): Promise<void> {
    return this.shared.tables.remove(trx, ref);
  }

  headOf(ref: StoredRef): string | null {
    return this.folders.headOf(ref);
  }

  async pointHead(ref: StoredRef, branch: string): Promise<void> {
    this.folders.pointHead(ref, branch);
  }

  materialise(ref: StoredRef): Promise<void> {
    return guardDisk(() => this.folders.materialise(ref));
  }

  distrust(ref: StoredRef): Promise<void> {
    return this.folders.distrust(ref);
  }

  async scratch(): Promise<string> {
    const path = scratchPath(this.root);
    await guardDisk(() => makeCacheFolder(this.cache, this.root, dirname(path)));
    return path;
  }

  /** Writes that matter fail as those of the database do. */
  async writeFault(): Promise<string | null> {
    return null;
  }
}
