/** The writes of whoever holds a repository's lock: draft, replace, publish, delete. */

import { isVersion, isVersionName } from '../domain/version-order.ts';
import { refuseGone } from '../lib/client-gone.ts';
import { conflict, internal, invalid, notFound } from '../lib/errors.ts';
import { damagedRepository, guardDisk, missingRepository } from './disk-errors.ts';
import { type GitOperation, type OnOperation, timed } from './operations.ts';
import { readRef } from './ref-reader.ts';
import type { Repository } from './repository.ts';
import type {
  DraftChange,
  DraftInput,
  LockedRepository,
  Person,
  VersionDetails,
  VersionRef,
} from './types.ts';
import { draftRefName, type Placed, type SortedVersions, tagRefName } from './version-index.ts';
import type { VersionObjects } from './version-objects.ts';
import { checkContent } from './version-rules.ts';

interface WriterTools {
  versions: VersionObjects;
  onOperation: OnOperation;
}

export class RepositoryWriter implements LockedRepository {
  private readonly repository: Repository;
  private readonly versions: VersionObjects;
  private readonly onOperation: OnOperation;
  private held = true;

  constructor(repository: Repository, { versions, onOperation }: WriterTools) {
    this.repository = repository;
    this.versions = versions;
    this.onOperation = onOperation;
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
    await checkContent(this.repository.ref.kind, draft);
    if (this.index.findSame(draft.version)) throw versionExists(draft.version);
    return this.write('draft', () => this.makeDraft(draft));
  }

  async replaceDraft(version: string, change: DraftChange): Promise<VersionDetails> {
    const draft = this.draftNamed(version, 'published_version');
    await checkContent(this.repository.ref.kind, change);
    return this.write('draft', async () => {
      const oid = await this.versions.amendDraft(this.gitdir, draft, change, this.parentOf(draft));
      refuseGone(change.gone);
      if (!(await this.repository.move(draftRefName(version), draft.oid, oid))) throw draftMoved();
      return { ...draft, oid };
    });
  }

  /** The version is published once its tag ref exists and the lock's holder has not failed after it. */
  async publish(version: string, tagger: Person, at: number): Promise<VersionDetails> {
    const draft = this.draftNamed(version, 'already_published');
    return this.write('publish', () => this.makeTag(draft, tagger, at));
  }

  async deleteDraft(version: string): Promise<void> {
    const gone = this.draftNamed(version, 'published_version');
    await timed(this.onOperation, 'delete', async () => {
      await guardDisk(async () => {
        if (!(await this.repository.move(draftRefName(version), gone.oid, null))) throw draftMoved();
      });
      await this.repository.wrote();
      await this.repository.tell();
    });
  }

  async deletePublished(versions: readonly string[]): Promise<void> {
    if (versions.length === 0) return;
    const gone = versions.map((version) => this.publishedNamed(version));
    await this.repository.beforeWrite();
    try {
      await timed(this.onOperation, 'delete', () => guardDisk(() => this.repository.removePublished(gone)));
    } finally {
      // Of many some may be gone though others are not.
      await this.repository.wrote();
      await this.repository.tell();
    }
  }

  /** After the write what is known follows, others are told, and the caller gets what there is now. */
  private write(operation: GitOperation, make: () => Promise<VersionRef>): Promise<VersionDetails> {
    return timed(this.onOperation, operation, async () => {
      const made = await guardDisk(make);
      await this.repository.wrote();
      // What cannot be read back has not been made.
      if (this.repository.known?.get(made.version) === undefined) throw damagedRepository();
      await this.repository.tell();
      return this.repository.details(made);
    });
  }

  private async makeDraft(draft: DraftInput): Promise<VersionRef> {
    const { version } = draft;
    const parent = this.parentOf({ version, createdAt: draft.at });
    const oid = await this.versions.writeDraft(this.gitdir, draft, parent);
    refuseGone(draft.gone);
    if (!(await this.repository.move(draftRefName(version), null, oid))) throw versionExists(version);
    return { version, status: 'Draft', oid };
  }

  private async makeTag(draft: VersionRef, tagger: Person, at: number): Promise<VersionRef> {
    const { version } = draft;
    const { folder } = this.repository;
    const { entryPoint } = await this.repository.details(draft);
    const commit = await this.versions.rebase(this.gitdir, draft.oid, this.parentOf(draft));
    const named = { version, commit, entryPoint, draft: draft.oid };
    const oid = await this.versions.writeTag(this.gitdir, named, tagger, at);
    // The caller may have taken its time to look at the draft, and stock git does not know our lock.
    if (readRef(folder.fs, folder.gitdir, draftRefName(version)) !== draft.oid) throw draftMoved();
    if (!(await this.repository.move(tagRefName(version), null, oid))) throw published('already_published');
    return { version, status: 'Published', oid };
  }

  private get gitdir(): string {
    return this.repository.folder.gitdir;
  }

  private parentOf(placed: Placed): string | null {
    const below = this.index.highestPublishedBelow(placed);
    return below ? this.repository.commitOf(below) : null;
  }

  /** Without the highest stable one `main` would have nowhere to go. */
  private publishedNamed(version: string): VersionRef {
    const ref = this.index.get(version);
    if (ref?.status !== 'Published') throw notFound('There is no such published version.');
    if (ref === this.index.highestStable) throw conflict('in_use', 'The branch main stands at this version.');
    return ref;
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

/** Whether a version must be SemVer is for the callers to say, and they have said all of this more kindly. */
export function checkVersion(version: string): void {
  if (isVersion(version) || isVersionName(version)) return;
  throw invalid('validation_failed', 'The text cannot name a version.');
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
