/** The repositories in PostgreSQL that a store works on, each named by the folder in which a server caches it. */

import { relative } from 'node:path';
import type { GitReader, GitTables, RepositoryName } from '../db/git-tables.ts';
import { internal } from '../lib/errors.ts';
import { missingRepository } from './disk-errors.ts';
import { nameOfFolder } from './repository-layout.ts';
import { isStoredKind } from './types.ts';

export interface SharedOptions {
  /** The folder of all caches. */
  root: string;
  reader: GitReader;
  /** Null in a process or thread that only reads. */
  tables: GitTables | null;
}

export class SharedRepositories {
  readonly reader: GitReader;
  private readonly root: string;
  private readonly writer: GitTables | null;
  /** The ids of repositories by their folders. Another repository may have the name by now. */
  private readonly ids = new Map<string, string>();

  constructor({ root, reader, tables }: SharedOptions) {
    this.root = root;
    this.reader = reader;
    this.writer = tables;
  }

  get tables(): GitTables {
    if (this.writer === null) throw internal('internal_error', 'Nothing is written here');
    return this.writer;
  }

  /** @throws HawserError `repository_missing` */
  async idOf(gitdir: string): Promise<string> {
    return this.ids.get(gitdir) ?? this.readIdOf(gitdir);
  }

  /** Asks PostgreSQL, because what is known may be the id of an earlier repository. @throws as `idOf` */
  async readIdOf(gitdir: string): Promise<string> {
    const stored = await this.reader.find(this.nameOf(gitdir));
    if (stored === undefined) throw missingRepository();
    this.ids.set(gitdir, stored.id);
    return stored.id;
  }

  /** Tells the id of a repository, or that there is none. */
  noteId(gitdir: string, id: string | null): void {
    if (id === null) this.ids.delete(gitdir);
    else this.ids.set(gitdir, id);
  }

  private nameOf(gitdir: string): RepositoryName {
    const [kind = '', folder = ''] = relative(this.root, gitdir).split('/');
    const name = nameOfFolder(folder);
    if (!isStoredKind(kind) || name === null) throw missingRepository();
    return { kind, name };
  }
}
