/** What threads know of the whole fleet. They read the database and the repositories beside the server, and write nothing. */

import type { DatabasePlace } from '../db/database.ts';
import type { FleetSnapshot, SnapshotPosition } from '../db/fleet-snapshot.ts';
import { openForReading } from '../db/open-reading.ts';
import { readingFleet } from '../db/read-fleet.ts';
import type { ReadingDatabase } from '../db/reading.ts';
import { HawserError } from '../lib/errors.ts';
import { followFeed } from '../versions/follow-feed.ts';
import { readOnlyStore } from '../versions/inspection.ts';
import { admissionRead } from '../versions/outside-tags.ts';
import type { GitStore } from '../versions/store.ts';
import type { VersionSource } from '../versions/version-source.ts';
import { DocumentsInThread } from './documents.ts';
import { EntryPoints } from './entry-points.ts';
import { FrozenVersions } from './frozen-versions.ts';
import type { KeyRing } from './secret-leaves.ts';
import { placesRead, type SeriesPlaces } from './series-places.ts';

/** Where the fleet is, as a thread is told. */
export interface FleetPlace extends DatabasePlace {
  reposDir: string;
  /** Bytes of memory for what is read of the repositories. */
  cacheBytes: number;
}

/** The state of one moment. */
export interface Moment {
  snapshot: FleetSnapshot;
  /** The versions of that moment, for whatever is looked at before the moment ends. */
  source: VersionSource;
}

/** A state that moves on faster than it can be read is read so often. */
const ATTEMPTS = 20;

export class Fleet {
  readonly database: ReadingDatabase;
  readonly store: GitStore;
  readonly documents: DocumentsInThread;
  readonly places: SeriesPlaces;
  /** What is known of entry points, whatever is asked of the fleet. */
  readonly entryPoints: EntryPoints;
  /** The repositories that have moved since the last snapshot, as `<kind>/<name>`; null stands for all. */
  private moved: Set<string> | null = new Set();

  /** @throws the driver's error if the file of SQLite cannot be opened */
  constructor({ reposDir, cacheBytes, ...place }: FleetPlace, keys: KeyRing) {
    this.documents = new DocumentsInThread(keys);
    this.entryPoints = new EntryPoints(this.documents);
    this.database = openForReading(place);
    this.places = placesRead(this.database);
    const admit = admissionRead(this.database, () => Date.now());
    this.store = readOnlyStore(reposDir, this.database.repositories, { cacheBytes, admit });
    followFeed(this.store, this.database, (ref) => {
      if (ref === null) this.moved = null;
      else this.moved?.add(`${ref.kind}/${ref.name}`);
    });
  }

  /**
   * Does work on one state of nodes and versions. If a repository moves that the work has looked at, the work is done
   * anew on the state after that. What it has not looked at before it ends belongs to no moment.
   * @throws HawserError what the work throws; unavailable if the state never rests
   */
  async atOneMoment<T>(work: (moment: Moment) => Promise<T>): Promise<T> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      await this.database.changes.catchUp('now');
      this.moved = new Set();
      const snapshot = await this.database.read(readingFleet());
      const source = new FrozenVersions(this.store);
      const outcome = await settled(work({ snapshot, source }));
      await this.database.changes.catchUp('now');
      const { moved } = this;
      if (moved !== null && !source.looks.some((key) => moved.has(key))) return outcome();
    }
    throw new HawserError('unavailable', 'unavailable', 'The repositories change too often to be read');
  }

  /** The state of the database now, to tell whether a snapshot is still true. */
  async position(): Promise<SnapshotPosition> {
    await this.database.changes.catchUp('now');
    const { generation, lastChange } = this.database.changes;
    return { generation, lastChange };
  }

  async close(): Promise<void> {
    await this.store.close();
    await this.database.close();
  }
}

/** A function that gives what the promise gives, or throws what it throws. */
async function settled<T>(promise: Promise<T>): Promise<() => T> {
  try {
    const value = await promise;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}
