/** The store of versions: one bare repository for each configuration, composite and set of parameters. */

import { resolve } from 'node:path';
import type { Db } from '../db/database.ts';
import type { RefsChange } from '../db/git-tables.ts';
import { repositoryLock } from '../domain/lock-names.ts';
import { AtomicFs } from '../git/atomic-fs.ts';
import { readCommit } from '../git/commits.ts';
import { DISK, UNFLUSHED_DISK } from '../git/disk.ts';
import { damagedRepository, guardDisk } from '../git/disk-errors.ts';
import { History } from '../git/history.ts';
import type { UpperObjects } from '../git/layered-objects.ts';
import { BlobInfos, contentCache, PackCaches } from '../git/object-caches.ts';
import type { GivenObject, ObjectStore } from '../git/objects.ts';
import { timed } from '../git/operations.ts';
import { allRefs } from '../git/ref-list.ts';
import { gitdirOf } from '../git/repository-layout.ts';
import {
  type BlobInfo,
  type GitFolders,
  holdsVersions,
  type RepositoryRef,
  type RepositorySettings,
  type StoredFile,
  type StoredKind,
} from '../git/types.ts';
import { refuseGone } from '../lib/client-gone.ts';
import type { CacheFacts } from '../lib/counted-cache.ts';
import { LocalLocks } from '../lib/locks.ts';
import { Absences } from './absences.ts';
import { ChangeHistory } from './change-history.ts';
import { checkDraft, KINDS, refNameOf } from './kinds.ts';
import { PackWatch } from './pack-watch.ts';
import { ParameterFiles } from './parameter-files.ts';
import { type OpenPlace, openPlace } from './places.ts';
import { RefStep, type StepEffect, type StepRepository } from './ref-step.ts';
import { Repository, type RepositoryTools } from './repository.ts';
import { repositoryExists } from './repository-folders.ts';
import type { RepositoryIndex } from './repository-index.ts';
import type { FillRepository } from './repository-place.ts';
import { RepositoryPool } from './repository-pool.ts';
import { RepositoryWriter } from './repository-writer.ts';
import { readRolloutHistory } from './rollout-history.ts';
import type { SortedVersions } from './sorted-versions.ts';
import {
  type DraftInput,
  type GitStoreOptions,
  type LockedRepository,
  type NotingWrite,
  ONLY_SERIES,
  type RepositoryProblem,
  type RolloutEvent,
  type RolloutRef,
  type VersionDetails,
  type VersionIndex,
  type VersionRef,
} from './types.ts';
import { VersionObjects } from './version-objects.ts';
import { VersionWriter } from './version-writer.ts';
import { WithdrawnHistory } from './withdrawn-history.ts';

export type * from '../git/types.ts';
export type { ParameterContentType, ParameterDetails, ParameterScope } from './parameter-files.ts';
export type * from './types.ts';

/** The shares of the cache's bytes. Packs weigh far more than lists of files, and these more than facts of blobs. */
const SHARES = { packs: 0.65, versions: 0.2, contents: 0.1, blobs: 0.05 };

/** What a store and its steps share. */
type StoreParts = Pick<OpenPlace, 'place'> & {
  packs: PackCaches;
  blobInfos: BlobInfos;
  withdrawnHistory: WithdrawnHistory;
  tools: RepositoryTools & { trees: ReturnType<typeof contentCache> };
};

function openParts(options: GitStoreOptions): StoreParts {
  const { log, onRefsMoved, cacheBytes, onOperation = () => undefined } = options;
  const { beforeWrite = async () => undefined } = options;
  const { shared, fs = new AtomicFs(shared ? UNFLUSHED_DISK : DISK) } = options;
  const packs = new PackCaches(fs, Math.floor(cacheBytes * SHARES.packs));
  const trees = contentCache(cacheBytes * SHARES.contents);
  const { place, objects } = openPlace({ root: resolve(options.root), packs, shared, fs, log });
  const versions = new VersionObjects(objects, Math.floor(cacheBytes * SHARES.versions), onOperation);
  return {
    ...{ packs, place },
    blobInfos: new BlobInfos(cacheBytes * SHARES.blobs),
    withdrawnHistory: new WithdrawnHistory(objects, log),
    tools: { fs, log, objects, versions, trees, onRefsMoved, onOperation, beforeWrite, admit: options.admit },
  };
}

export class GitStore {
  /** The absolute path of the folder of all repositories. */
  readonly root: string;
  /** The parameter files and schemas of configurations. */
  readonly parameters: ParameterFiles;
  readonly packWatch: PackWatch;
  /** The story of the change sets. */
  readonly changes: ChangeHistory;
  private readonly parts: StoreParts;
  private readonly place: OpenPlace['place'];
  private readonly packs: PackCaches;
  private readonly tools: StoreParts['tools'];
  private readonly blobInfos: BlobInfos;
  private readonly withdrawnHistory: WithdrawnHistory;
  private readonly pool: RepositoryPool;
  private readonly absences = new Absences();

  /** @param below a store of which this one is a step: it shares the caches, and the repositories that it does not stage */
  constructor(options: GitStoreOptions, below: GitStore | null = null) {
    const { root, log, onRefsMoved, locks = new LocalLocks() } = options;
    this.root = resolve(root);
    const parts: StoreParts = below?.parts ?? openParts(options);
    this.parts = parts;
    this.packs = parts.packs;
    this.blobInfos = parts.blobInfos;
    this.place = parts.place;
    this.withdrawnHistory = parts.withdrawnHistory;
    this.tools = { ...parts.tools, onRefsMoved };
    const { fs, beforeWrite, trees } = this.tools;
    const poolTools = { root: this.root, fs, log, packs: this.packs, locks, beforeWrite };
    const make = (ref: RepositoryRef, gitdir: string) =>
      new Repository(this.tools, ref, { gitdir, refs: this.place.refsOf(ref, gitdir) });
    this.pool = new RepositoryPool(poolTools, make, below?.pool);
    const { place, packs } = parts;
    this.changes = below?.changes ?? new ChangeHistory({ ...poolTools, ...this.tools, place, packs, locks });
    this.packWatch = new PackWatch({ root: this.root, fs, log, list: (kind) => this.list(kind) });
    this.parameters = new ParameterFiles(this, this.blobInfos, trees);
  }

  /** Makes the folders, and removes what a crash left unfinished. To be called before the store is used. */
  prepare(): Promise<void> {
    return this.place.prepare();
  }

  /** Begins to watch the refs. */
  open(): void {
    this.pool.start();
  }

  /** Waits for the work that is under way. Further work is refused. */
  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.changes.close()]);
  }

  /** Makes the next readers look at the disk: of this repository, or of all if none is named. */
  invalidate(ref?: RepositoryRef): void {
    if (ref === undefined) this.changes.invalidate();
    this.pool.invalidate(ref);
  }

  /** Takes in what the feed tells of a repository in PostgreSQL. */
  learn(change: RefsChange): void {
    if (holdsVersions(change)) {
      this.absences.note(change, change.after !== null);
      this.pool.learn(change);
    } else this.changes.learn(change);
  }

  /** Removes a repository, or notes that it is to be removed, in the transaction that deletes its row. */
  noteRemoval(trx: Db, ref: RepositoryRef): Promise<void> {
    return this.place.noteRemoval(trx, ref);
  }

  /** The names of the repositories, sorted. */
  list(kind: StoredKind): Promise<string[]> {
    return this.place.list(kind);
  }

  has(ref: RepositoryRef): Promise<boolean> {
    return this.place.has(ref);
  }

  /** The settings as written at creation; null for a repository that Hawser did not make. */
  settings(ref: RepositoryRef): Promise<RepositorySettings | null> {
    return this.place.settings(ref);
  }

  /**
   * Makes a repository, with a first draft if there is one, whole or not at all. Conflict `name_taken`.
   * @param register makes the transaction that belongs to it, such as that of its row, given the commit of the draft
   * @returns the commit of the draft
   */
  async create(
    ref: RepositoryRef,
    settings: RepositorySettings,
    draft: DraftInput | null,
    register?: (commit: string | null) => NotingWrite,
  ): Promise<string | null> {
    const kind = KINDS[ref.kind];
    const named = draft && { series: ONLY_SERIES, version: draft.version, status: 'Draft' as const };
    if (draft && named) await checkDraft(kind, named, draft);
    return this.absences.tracking(ref, () =>
      this.pool.locked(ref, async (repository) => {
        // What is there may be the rest of a creation that failed.
        await this.tools.fs.discardAgain();
        if (await this.has(ref)) throw repositoryExists();
        await this.make(repository, settings, async (site) => {
          if (!draft || !named) return null;
          const shallow = async () => new Set<string>();
          const writer = new VersionWriter(this.tools, { ref, kind, gitdir: site, shallow });
          const oid = await writer.writeDraft({ ...named, parent: null }, draft);
          refuseGone(draft.gone);
          this.packs.drop(site);
          return { name: refNameOf(named), oid };
        });
        try {
          const index = await repository.reload();
          // A version that cannot be read back has not been made.
          const made = draft && index.of(ONLY_SERIES).get(draft.version);
          if (made === undefined) throw damagedRepository();
          const commit = made?.oid ?? null;
          await repository.commit(register?.(commit));
          return commit;
        } catch (error) {
          await this.place.unmake(repository).catch(() => undefined);
          await repository.forget().catch(() => undefined);
          throw error;
        }
      }),
    );
  }

  /** Removes a repository, at once for all who look. It need not exist. */
  async remove(ref: RepositoryRef): Promise<void> {
    await this.pool.locked(ref, (repository) =>
      timed(this.tools.onOperation, 'delete', () =>
        this.place.remove(repository, async () => {
          this.absences.note(ref, false);
          await repository.forget();
        }),
      ),
    );
  }

  /**
   * Runs `work` alone in the repository, on versions fresh from the disk. It must not be nested. A repository of
   * parameters is made with its first version, so there `work` has to see for itself that the configuration still
   * exists: its end removes the repository under the same lock.
   */
  async exclusive<T>(ref: RepositoryRef, work: (repository: LockedRepository) => Promise<T>): Promise<T> {
    return this.absences.tracking(ref, () =>
      this.pool.exclusive(ref, async (repository) => {
        const create = () => this.make(repository, null);
        const writer = new RepositoryWriter(repository, { ...this.tools, create });
        try {
          const result = await work(writer);
          await writer.noteRest();
          return result;
        } finally {
          writer.end();
        }
      }),
    );
  }

  /**
   * Holds the locks of repositories, whose moves `work` then makes in one step. They must exist.
   * @param step has the locks as who holds them sees them, and is told in which transaction refs have moved
   * @throws HawserError `repository_missing`; what `work` throws
   */
  async together<T>(
    refs: readonly RepositoryRef[],
    step: Pick<GitStoreOptions, 'onRefsMoved' | 'locks'>,
    work: (step: RefStep<GitStore>) => Promise<T>,
  ): Promise<T> {
    const { root, tools } = this;
    const store = new GitStore({ root, log: tools.log, cacheBytes: 0, ...step }, this);
    const sorted = [...new Map(refs.map((ref) => [repositoryLock(ref), ref]))].sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    const held: StepRepository[] = [];
    const hold = async (): Promise<T> => {
      const [, ref] = sorted[held.length] ?? [];
      if (ref === undefined) return work(new RefStep(store, held));
      return this.pool.exclusive(ref, async (base) => {
        const staged = base.stage(store.tools);
        store.pool.put(staged.repository);
        held.push({ base, ...staged });
        return hold();
      });
    };
    return hold();
  }

  /**
   * Ends the moves of a step that the end of the process cut off: makes those that were not made, or takes back those that were.
   * To be called before the store serves.
   */
  async endStep(effects: readonly StepEffect[], isMade: boolean): Promise<void> {
    for (const { repository: ref, moves } of effects)
      await this.pool.locked(ref, async ({ refs }) => {
        // The process that ended has left its locks, and to wait for each of them would take a second.
        await guardDisk(() => refs.sweep());
        for (const { name, from, to } of moves) {
          const move = isMade ? { name, from, to } : { name, from: to, to: from };
          await guardDisk(() => refs.moveForGood(move));
        }
        this.pool.invalidate(ref);
      });
  }

  /** All series of a repository, from memory after the first time. `repository_missing`. */
  async index(ref: RepositoryRef): Promise<RepositoryIndex> {
    const known = this.pool.peek(ref)?.current;
    if (known) return known;
    return this.reading(ref, async (repository) => {
      const index = await repository.load();
      await this.pool.tidyInTurn(repository);
      return repository.known ?? index;
    });
  }

  /** The versions of a configuration or composite, as `index`. */
  async versions(ref: RepositoryRef): Promise<SortedVersions> {
    return (await this.index(ref)).of(ONLY_SERIES);
  }

  /** `repository_damaged` when an object of the version other than a file's is missing or broken. */
  details(ref: RepositoryRef, version: VersionRef): Promise<VersionDetails> {
    return this.reading(ref, (repository) => guardDisk(() => repository.details(version)));
  }

  /** A file's bytes. `repository_damaged` when the object is missing, broken or no blob. */
  blob(ref: RepositoryRef, oid: string): Promise<Buffer> {
    return this.reading(ref, (repository) => guardDisk(() => repository.blob(oid)));
  }

  /** The bytes of an annotated tag, which are what is signed. `repository_damaged` when it is missing, broken or no tag. */
  tagObject(ref: RepositoryRef, oid: string): Promise<Buffer> {
    return this.reading(ref, ({ gitdir }) =>
      guardDisk(() => this.tools.objects.readBytes(gitdir, oid, 'tag')),
    );
  }

  /** The size and the hash of each file, in their order. They come from memory after the first time. */
  fileInfos(ref: RepositoryRef, files: readonly Pick<StoredFile, 'oid'>[]): Promise<BlobInfo[]> {
    return this.blobInfos.ofAll(files, (oid) => this.blob(ref, oid));
  }

  /** The names of who made a commit, and of who gave it its content. Of one that came by push both are a claim. */
  async peopleOf(ref: RepositoryRef, commit: string): Promise<{ author: string; committer: string }> {
    return this.reading(ref, ({ gitdir }) =>
      guardDisk(async () => {
        const { author, committer } = await readCommit(this.tools.objects, gitdir, commit);
        return { author: author.name, committer: committer.name };
      }),
    );
  }

  /**
   * A commit and those that it stands on, newest first, up to the first one of which `isEnd` says so.
   * @throws HawserError `repository_damaged`
   */
  lineage(ref: RepositoryRef, commit: string, isEnd: (commit: string) => boolean): Promise<string[]> {
    return this.reading(ref, async ({ gitdir, refs }) => {
      const history = new History(this.tools.objects, gitdir, await refs.shallow());
      const commits: string[] = [];
      await guardDisk(async () => {
        for await (const { oid } of history.firstParents(commit)) {
          commits.push(oid);
          if (isEnd(oid)) return;
        }
      });
      return commits;
    });
  }

  /** As `readRolloutHistory`. */
  rolloutHistory(ref: RepositoryRef, rollout: RolloutRef): Promise<RolloutEvent[]> {
    return this.reading(ref, async ({ gitdir, refs }) => {
      const site = { gitdir, shallow: await refs.shallow() };
      return guardDisk(() => readRolloutHistory(this.tools.objects, site, rollout));
    });
  }

  /**
   * The withdrawn versions in the history of a commit, highest first. Nothing is read where none is withdrawn. It throws
   * what `WithdrawnHistory` does.
   */
  async withdrawnIn(ref: RepositoryRef, { versions }: VersionIndex, commit: string): Promise<VersionRef[]> {
    const withdrawn = versions.filter((version) => version.withdrawn !== null);
    if (withdrawn.length === 0) return [];
    return this.reading(ref, async ({ gitdir, refs }) => {
      const site = { gitdir, shallow: await refs.shallow() };
      return guardDisk(() => this.withdrawnHistory.find(site, commit, withdrawn));
    });
  }

  /**
   * Makes a branch the one that a clone checks out. Where it is that already, nothing is written and no lock is taken.
   * @throws what the lock and the disk say
   */
  async pointHead(ref: RepositoryRef, branch: string): Promise<void> {
    if (this.place.headOf(ref) === branch) return;
    await this.exclusive(ref, () => guardDisk(() => this.place.pointHead(ref, branch)));
  }

  /** All refs, and the commits at which history ends; none of a repository that is made with its first version. */
  async advertised(ref: RepositoryRef): Promise<{ refs: Map<string, string>; shallow: ReadonlySet<string> }> {
    if (KINDS[ref.kind].isMadeOnDemand && !(await this.has(ref)))
      return { refs: new Map(), shallow: new Set() };
    return this.reading(ref, async ({ refs }) => {
      const all = allRefs(await guardDisk(() => refs.read(undefined)));
      return { refs: all, shallow: await refs.shallow() };
    });
  }

  /** The objects of a repository with others over them, to look at what is not in it yet. */
  under(ref: RepositoryRef, upper: UpperObjects): { gitdir: string; objects: ObjectStore } {
    return { gitdir: gitdirOf(this.root, ref), objects: this.tools.objects.under(upper) };
  }

  /**
   * Writes objects that a ref is to lead to soon. They need no lock: whatever no ref leads to stays for a day.
   * @throws what giving them throws; what the disk says
   */
  async writeObjects(ref: RepositoryRef, given: AsyncIterable<GivenObject>): Promise<void> {
    await this.tools.beforeWrite();
    await guardDisk(() => this.tools.objects.writeAll(gitdirOf(this.root, ref), given));
  }

  /** The folders in which stock git works. */
  get folders(): GitFolders {
    return this.place;
  }

  /** The code of what writes fail with at the moment, such as `insufficient_storage`; null while they succeed. */
  writeFault(): Promise<string | null> {
    return this.place.writeFault();
  }

  /** The known faults: of repositories in memory, of those that are absent when they are asked for, and of packs. */
  problems(): readonly RepositoryProblem[] {
    return [...this.pool.problems, ...this.absences.problems, ...this.packWatch.problems];
  }

  /** What is in memory, by name. */
  get caches(): Record<'packs' | 'versions' | 'parameter_files' | 'blob_facts', CacheFacts> {
    return {
      packs: this.packs.facts,
      versions: this.tools.versions.facts,
      parameter_files: this.parameters.facts,
      blob_facts: this.blobInfos.facts,
    };
  }

  private async make(
    repository: Repository,
    settings: RepositorySettings | null,
    fill: FillRepository = async () => null,
  ): Promise<void> {
    await timed(this.tools.onOperation, 'create', () =>
      guardDisk(() => this.place.make(repository, settings, fill)),
    );
    repository.swept = true;
    this.absences.note(repository.ref, true);
  }

  private reading<T>(ref: RepositoryRef, work: (repository: Repository) => Promise<T>): Promise<T> {
    return this.absences.tracking(ref, () => this.pool.reading(ref, work));
  }
}
