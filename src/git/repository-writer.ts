/** The writes of whoever holds a repository's lock: draft, publish, delete. */

import { isVersion } from '../domain/version-order.ts';
import { conflict, internal, invalid, notFound } from '../lib/errors.ts';
import { guardDisk, missingRepository } from './disk-errors.ts';
import { deleteRef, readRef, updateRef } from './refs.ts';
import type { Repository } from './repository.ts';
import type { DraftInput, LockedRepository, Person, VersionDetails, VersionRef } from './types.ts';
import { draftRefName, type SortedVersions, tagRefName } from './version-index.ts';
import type { VersionObjects } from './version-objects.ts';

export class RepositoryWriter implements LockedRepository {
  private readonly repository: Repository;
  private readonly versions: VersionObjects;
  private held = true;

  constructor(repository: Repository, versions: VersionObjects) {
    this.repository = repository;
    this.versions = versions;
  }

  get index(): SortedVersions {
    if (!this.held) throw internal('lock_returned', 'The lock of the repository was given back already.');
    if (!this.repository.known) throw missingRepository();
    return this.repository.known;
  }

  /** Called when the lock is given back. */
  end(): void {
    this.held = false;
  }

  async writeDraft(draft: DraftInput): Promise<VersionDetails> {
    checkVersion(draft.version);
    if (this.index.findSame(draft.version)) throw versionExists(draft.version);
    const made = await guardDisk(() => this.makeDraft(draft));
    await this.repository.wrote({ made });
    await this.repository.tell();
    return this.repository.details(made);
  }

  /** The version is published once its tag ref exists; what follows only tidies up and tells. */
  async publish(version: string, tagger: Person, at: number): Promise<VersionDetails> {
    const draft = this.draftNamed(version, 'already_published');
    const { made, commit } = await guardDisk(() => this.makeTag(draft, tagger, at));
    await this.repository.wrote({ made, commit });
    await this.repository.tidy();
    await this.repository.tell();
    return this.repository.details(made);
  }

  async deleteDraft(version: string): Promise<void> {
    const gone = this.draftNamed(version, 'published_version');
    await guardDisk(async () => {
      if (!(await deleteRef(this.repository.folder, draftRefName(version), gone.oid))) throw draftMoved();
    });
    await this.repository.wrote({ gone });
    await this.repository.tell();
  }

  private async makeDraft(draft: DraftInput): Promise<VersionRef> {
    const { version } = draft;
    const commit = await this.versions.writeDraft(this.gitdir, draft, await this.parentOf(version));
    const made = await updateRef(this.repository.folder, draftRefName(version), null, commit);
    if (!made) throw versionExists(version);
    return { version, status: 'Draft', oid: commit };
  }

  private async makeTag(
    draft: VersionRef,
    tagger: Person,
    at: number,
  ): Promise<{ made: VersionRef; commit: string }> {
    const { version } = draft;
    const { folder } = this.repository;
    const { entryPoint } = await this.repository.details(draft);
    const commit = await this.versions.rebase(this.gitdir, draft.oid, await this.parentOf(version));
    const oid = await this.versions.writeTag(this.gitdir, { version, commit, entryPoint }, tagger, at);
    // The caller may have taken its time to look at the draft, and stock git does not know our lock.
    if ((await readRef(folder.fs, folder.gitdir, draftRefName(version))) !== draft.oid) throw draftMoved();
    if (!(await updateRef(folder, tagRefName(version), null, oid))) throw published('already_published');
    return { made: { version, status: 'Published', oid }, commit };
  }

  private get gitdir(): string {
    return this.repository.folder.gitdir;
  }

  private async parentOf(version: string): Promise<string | null> {
    const below = this.index.highestPublishedBelow(version);
    return below ? (await this.versions.read(this.gitdir, below)).commit : null;
  }

  private draftNamed(
    version: string,
    codeIfPublished: 'already_published' | 'published_version',
  ): VersionRef {
    const ref = this.index.get(version);
    if (!ref) throw notFound('There is no such version.');
    if (ref.status === 'Published') throw published(codeIfPublished);
    return ref;
  }
}

/** Refuses what is no SemVer or no legal part of a ref's name; callers have said so more kindly before. */
export function checkVersion(version: string): void {
  if (!isVersion(version)) throw invalid('validation_failed', 'The version is not a SemVer 2.0 version.');
}

function versionExists(version: string): Error {
  return conflict('version_exists', `Version ${version} exists already.`);
}

function published(code: 'already_published' | 'published_version'): Error {
  return conflict(code, 'The version is published.');
}

function draftMoved(): Error {
  return conflict('draft_changed', 'The draft was changed by another program meanwhile; try again.');
}
