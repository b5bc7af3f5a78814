/**
 * Who set each value of a parameter file: the commit that last changed the value, which may be far older than the file. It is
 * found by comparing what the commits of a version's history hold, and remembered by the commit.
 */

import { singleFlight } from '../lib/awaitable.ts';
import { toTimestamp } from '../lib/clock.ts';
import { CountedCache } from '../lib/counted-cache.ts';
import { HawserError } from '../lib/errors.ts';
import type { GitStore, VersionIndex, VersionRef } from '../versions/store.ts';
import type { DocumentSource } from './document-source.ts';
import type { DocumentRunner } from './documents.ts';
import type { ParameterReader } from './parameters.ts';
import type { ShownChange } from './provenance-text.ts';

/** The changes that gave the leaves of a file their values. */
export interface FileOrigins {
  changes: readonly ShownChange[];
  /** The index of the change of each leaf, by its JSON Pointer. */
  leaves: ReadonlyMap<string, number>;
}

interface Readers {
  parameters: ParameterReader;
  documents: DocumentRunner;
}

/** Where a history is read from: that of a version, of which everything but the commit holds for the others too. */
interface Place {
  configuration: string;
  ref: VersionRef;
  caller: string;
}

/** A commit of a history, and the lowest version that has it. */
interface Step {
  commit: string;
  version: string;
}

/** The memory for what is remembered, in bytes. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Documents that are compared at once. */
const STEPS_AT_ONCE = 16;

const NOTHING: FileOrigins = { changes: [], leaves: new Map() };

export class ValueOrigins {
  private readonly store: Pick<GitStore, 'lineage' | 'parameters'>;
  private readonly readers: Readers;
  private readonly known = new CountedCache<FileOrigins>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ changes, leaves }) => {
      let bytes = 500 * (changes.length + 1);
      for (const pointer of leaves.keys()) bytes += 2 * pointer.length + 60;
      return bytes;
    },
  });
  private readonly finding = new Map<string, Promise<FileOrigins>>();

  constructor(store: Pick<GitStore, 'lineage' | 'parameters'>, readers: Readers) {
    this.store = store;
    this.readers = readers;
  }

  /**
   * @param series the versions of the file's scope
   * @param ref a published version of them, which has content
   * @param caller the one in whose turn documents are read
   * @throws HawserError `repository_damaged`
   */
  async of(
    configuration: string,
    series: VersionIndex,
    ref: VersionRef,
    caller: string,
  ): Promise<FileOrigins> {
    const { commit, version } = ref;
    if (commit === null) return NOTHING;
    const known = this.known.get(commit);
    if (known) return known;
    return singleFlight(this.finding, `${configuration} ${commit}`, async () => {
      const repository = { kind: 'parameters', name: configuration } as const;
      const commits = await this.store.lineage(repository, commit, (each) => this.known.has(each));
      const steps = stepsOf(commits, series, version);
      return this.follow({ configuration, ref, caller }, steps);
    });
  }

  /** @param steps the oldest comes first; what it says may be known */
  private async follow(place: Place, steps: readonly Step[]): Promise<FileOrigins> {
    let origins = this.known.get(steps[0]?.commit ?? '') ?? null;
    for (let at = origins === null ? 0 : 1; at < steps.length; at += STEPS_AT_ONCE) {
      const base = origins === null ? [] : steps.slice(at - 1, at);
      const next = steps.slice(at, at + STEPS_AT_ONCE);
      origins = await this.compare(place, origins ?? NOTHING, [...base, ...next], base.length);
      this.known.set(next.at(-1)?.commit ?? '', origins);
    }
    return origins ?? NOTHING;
  }

  /** @param bases how many of the steps, 0 or 1, `before` tells of */
  private async compare(
    place: Place,
    before: FileOrigins,
    steps: readonly Step[],
    bases: number,
  ): Promise<FileOrigins> {
    const sources = await Promise.all(steps.map((step) => this.sourceAt(place, step)));
    const traced = await this.readers.documents.run(place.caller, 'traceLeaves', { documents: sources });
    const changes: ShownChange[] = [];
    const indexes = new Map<string, number>();
    const leaves = new Map<string, number>();
    for (const [pointer, since] of traced) {
      const old = since < bases ? before.changes[before.leaves.get(pointer) ?? 0] : undefined;
      const change = old ?? (await this.changeBy(place, steps[since] as Step));
      const index = indexes.get(change.commit) ?? changes.push(change) - 1;
      indexes.set(change.commit, index);
      leaves.set(pointer, index);
    }
    return { changes, leaves };
  }

  private async changeBy({ configuration, ref }: Place, { commit, version }: Step): Promise<ShownChange> {
    const details = await this.store.parameters.details(configuration, at(ref, commit));
    return { version, commit, author: details.createdBy, committedAt: toTimestamp(details.createdAt) };
  }

  /** Null for a commit without content, also for one of stock git that holds no parameter file. */
  private async sourceAt({ configuration, ref }: Place, { commit }: Step): Promise<DocumentSource | null> {
    try {
      return await this.readers.parameters.source(configuration, at(ref, commit));
    } catch (error) {
      if (error instanceof HawserError && error.kind === 'not_found') return null;
      throw error;
    }
  }
}

/**
 * The steps of a history, oldest first. A commit that is no version, as stock git may make, came with the next one that is.
 * @param commits the newest, which is that of `version`, comes first
 */
function stepsOf(commits: readonly string[], { versions }: VersionIndex, version: string): Step[] {
  // The highest version comes first, so the lowest one of a commit stays.
  const byCommit = new Map(
    versions.flatMap((ref) => (ref.status === 'Published' && ref.commit ? [[ref.commit, ref.version]] : [])),
  );
  let last = version;
  return commits
    .map((commit) => {
      last = byCommit.get(commit) ?? last;
      return { commit, version: last };
    })
    .reverse();
}

/** Any commit of a version's history is read as that of a draft is. */
const at = (ref: VersionRef, commit: string): VersionRef => ({
  ...ref,
  status: 'Draft',
  oid: commit,
  commit,
});
