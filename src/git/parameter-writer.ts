/** The writes of whoever holds the lock of a configuration's parameters: draft, publish, delete, schema. */

import { conflict, internal, notFound } from '../lib/errors.ts';
import { damagedRepository, guardDisk, missingRepository } from './disk-errors.ts';
import type { ObjectStore } from './objects.ts';
import { type GitOperation, type OnOperation, timed } from './operations.ts';
import type { ParameterVersions } from './parameter-index.ts';
import { ParameterObjects } from './parameter-objects.ts';
import { checkScope, parameterDraftName, parameterTagName } from './parameter-refs.ts';
import type { ParameterRepository } from './parameter-repository.ts';
import type {
  LockedParameters,
  ParameterDetails,
  ParameterDraft,
  ParameterScope,
  ParameterVersionRef,
  ParameterWrite,
  SchemaUpload,
} from './parameter-types.ts';
import { readRef } from './ref-reader.ts';
import { checkVersion } from './repository-writer.ts';
import type { Person } from './types.ts';
import type { Placed } from './version-index.ts';

export interface WriterTools {
  objects: ObjectStore;
  onOperation: OnOperation;
  /** Makes the repository on the disk. */
  create(): Promise<void>;
  details(ref: ParameterVersionRef): Promise<ParameterDetails>;
}

export class ParameterWriter implements LockedParameters {
  private readonly repository: ParameterRepository;
  private readonly tools: WriterTools;
  private readonly objects: ParameterObjects;
  private held = true;

  constructor(repository: ParameterRepository, tools: WriterTools) {
    this.repository = repository;
    this.tools = tools;
    this.objects = new ParameterObjects(tools.objects, repository.folder.gitdir);
  }

  get index(): ParameterVersions {
    if (!this.held) throw internal('lock_returned', 'The lock of the repository was given back already.');
    if (!this.repository.known) throw missingRepository();
    return this.repository.known;
  }

  /** Called when the lock is given back. */
  end(): void {
    this.held = false;
  }

  async writeDraft(scope: ParameterScope, draft: ParameterDraft): Promise<ParameterWrite> {
    const { version } = draft;
    checkScope(scope);
    checkVersion(version);
    const same = this.index.sorted(scope).findSame(version);
    if (same && same.version !== version) {
      throw conflict('version_exists', `Version ${same.version} exists already.`);
    }
    if (same?.status === 'Published') throw published('published_version');
    const details = await this.write('draft', scope, version, () => this.moveDraft(scope, draft, same));
    return { isNew: !same, details };
  }

  /** The version is published once its tag ref exists and the lock's holder has not failed after it. */
  async publish(
    scope: ParameterScope,
    version: string,
    tagger: Person,
    at: number,
  ): Promise<ParameterDetails> {
    const draft = this.draftNamed(scope, version, 'already_published');
    return this.write('publish', scope, version, () => this.makeTag(scope, draft, tagger, at));
  }

  async deleteDraft(scope: ParameterScope, version: string): Promise<void> {
    const { name, oid } = this.draftNamed(scope, version, 'published_version');
    await timed(this.tools.onOperation, 'delete', async () => {
      await guardDisk(async () => {
        if (!(await this.repository.move(name, oid, null))) throw draftMoved();
      });
      await this.repository.wrote();
      await this.repository.tell();
    });
  }

  async deleteVersions(refs: readonly ParameterVersionRef[]): Promise<void> {
    if (refs.length === 0) return;
    await this.repository.beforeWrite();
    try {
      await timed(this.tools.onOperation, 'delete', () =>
        guardDisk(() => this.repository.remove(this.index, refs)),
      );
    } finally {
      // Of many some may be gone though others are not.
      await this.repository.wrote();
      await this.repository.tell();
    }
  }

  async putSchema(schema: SchemaUpload): Promise<ParameterDetails> {
    const { version } = schema;
    checkVersion(version);
    const before = this.index.sorted(null).get(version)?.oid;
    return this.write('publish', null, version, async () => {
      await this.ensureRepository();
      const parent = this.parentOf(null, { version, createdAt: schema.at });
      const { folder } = this.repository;
      const name = parameterTagName(null, version);
      // A tag that is no schema is replaced too: nobody else could have meant the name.
      const from = before ?? readRef(folder.fs, folder.gitdir, name);
      const tag = await this.objects.writeSchema(schema, parent);
      if (!(await this.repository.move(name, from, tag))) {
        throw conflict('schema_changed', 'The schema was changed by another program meanwhile; try again.');
      }
    });
  }

  private async moveDraft(
    scope: ParameterScope,
    draft: ParameterDraft,
    replaced: ParameterVersionRef | undefined,
  ): Promise<void> {
    await this.ensureRepository();
    const { version, at } = draft;
    const parent = this.parentOf(scope, replaced ?? { version, createdAt: at });
    const oid = replaced
      ? await this.objects.amendDraft(scope, draft, replaced.oid, parent)
      : await this.objects.writeDraft(scope, draft, parent);
    const name = parameterDraftName(scope, version);
    if (!(await this.repository.move(name, replaced?.oid ?? null, oid))) throw draftMoved();
  }

  private async makeTag(
    scope: ParameterScope,
    draft: ParameterVersionRef,
    tagger: Person,
    at: number,
  ): Promise<void> {
    const { version, oid } = draft;
    const { folder } = this.repository;
    const { passthrough } = await this.repository.content(draft);
    const content = { version, oid, isPassthrough: passthrough };
    const tag = await this.objects.writeTag(scope, content, this.parentOf(scope, draft), tagger, at);
    // The caller may have taken its time to look at the draft, and stock git does not know our lock.
    if (readRef(folder.fs, folder.gitdir, draft.name) !== oid) throw draftMoved();
    await this.repository.announce(scope, tag);
    if (!(await this.repository.move(parameterTagName(scope, version), null, tag)))
      throw published('already_published');
  }

  /** After the write what is known follows, others are told, and the caller gets what there is now. */
  private write(
    operation: GitOperation,
    scope: ParameterScope | null,
    version: string,
    make: () => Promise<void>,
  ): Promise<ParameterDetails> {
    return timed(this.tools.onOperation, operation, async () => {
      await guardDisk(make);
      return this.shown(scope, version);
    });
  }

  private async shown(scope: ParameterScope | null, version: string): Promise<ParameterDetails> {
    await this.repository.wrote();
    await this.repository.tell();
    const made = this.index.sorted(scope).get(version);
    if (!made) throw notFound('There is no such version.');
    return this.tools.details(made);
  }

  private async ensureRepository(): Promise<void> {
    if (this.repository.absent) await this.tools.create();
  }

  private parentOf(scope: ParameterScope | null, placed: Placed): string | null {
    const below = this.index.sorted(scope).highestPublishedBelow(placed);
    if (below?.commit === null) throw damagedRepository();
    return below?.commit ?? null;
  }

  private draftNamed(
    scope: ParameterScope,
    version: string,
    codeIfPublished: 'already_published' | 'published_version',
  ): ParameterVersionRef {
    const ref = this.index.get(scope, version);
    if (!ref) throw notFound('There is no such version.');
    if (ref.status === 'Published') throw published(codeIfPublished);
    return ref;
  }
}

function published(code: 'already_published' | 'published_version'): Error {
  return conflict(code, 'The version is published.');
}

function draftMoved(): Error {
  return conflict('draft_changed', 'The draft was changed by another program meanwhile; try again.');
}
