/**
 * Has previews made, at most two at a time by all servers of a database, and keeps what they found. Further ones wait,
 * as Running ones. A server says by a lock that it lives; the previews of one that is dead are ended by whoever notices.
 */

import type { Database, Db } from '../db/database.ts';
import { PREVIEW_PLACES, PREVIEW_TURN, previewMaker } from '../domain/lock-names.ts';
import { type Clock, HOUR } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';
import { newId } from '../lib/ids.ts';
import type { Locks, Release } from '../lib/locks.ts';
import type { Log } from '../lib/log.ts';
import type { PreviewInput } from '../resolve/preview-types.ts';
import { type Change, toShownChange } from './changes.ts';
import { findGone, type Named } from './named-changes.ts';
import type { PreviewEngine } from './preview-engine.ts';
import {
  countNodes,
  countRunning,
  endPreview,
  endPreviewsOf,
  INTERRUPTED,
  insertPreview,
  insertResult,
  listMakers,
  toColumns,
  updateCounts,
} from './preview-rows.ts';
import type { FoundInVersion, PreviewWarning } from './propose-changes.ts';

/** How many previews may wait for their turn. */
const MAX_WAITING = 20;
/** After so many seconds a caller who was refused may try again. */
const RETRY_AFTER = 5;
/** For so long a preview can be read. */
const LIFETIME = HOUR;

const UNKNOWN = 'The preview could not be made by a fault of the server; the log has the cause.';

export interface RunTools {
  database: Database;
  locks: Locks;
  clock: Clock;
  log: Log;
  engine: PreviewEngine;
  /** Is told how each preview ended, and after how many milliseconds, waiting included. */
  onMade(state: 'Done' | 'Failed', milliseconds: number): void;
}

export interface PreviewRequest {
  userId: string;
  changes: readonly Change[];
  named: readonly Named[];
  found: { findings: readonly FoundInVersion[]; warnings: readonly PreviewWarning[] };
  input: PreviewInput;
}

/** How a preview ends. */
type End = Parameters<typeof endPreview>[2];

export class PreviewRuns {
  private readonly tools: RunTools;
  private readonly maker = newId();
  private readonly running = new Set<Promise<void>>();
  /** Ends that could not be written, by the ids of their previews. */
  private readonly unwritten = new Map<string, End>();
  private readonly ending = new AbortController();
  private readonly ended = new Promise<null>((resolve) => {
    this.ending.signal.addEventListener('abort', () => resolve(null), { once: true });
  });
  private ownLock: Release | null = null;
  private making = 0;

  constructor(tools: RunTools) {
    this.tools = tools;
  }

  /** How many previews of this process are made at the moment, and how many wait for that. */
  get load(): { making: number; waiting: number } {
    return { making: this.making, waiting: this.running.size - this.making };
  }

  /** Ends the previews of processes that have ended. */
  async open(): Promise<void> {
    this.ownLock = await this.tools.locks.acquire(previewMaker(this.maker), 'alone');
    await this.endOrphans();
  }

  /** Ends the previews that are under way, which fail. To be called before the threads are closed. */
  async close(): Promise<void> {
    this.ending.abort(new HawserError('unavailable', 'shutting_down', INTERRUPTED));
    while (this.running.size > 0) await Promise.all(this.running);
    this.ownLock?.();
  }

  /**
   * Notes a preview, and has it made when it is its turn.
   * @returns its id, and a promise that resolves when it is Done or Failed
   * @throws HawserError rate_limited while too many wait
   */
  async begin(request: PreviewRequest): Promise<{ id: string; made: Promise<void> }> {
    const id = newId();
    const begun = performance.now();
    await this.endOrphans();
    await this.tools.database.write.transaction().execute((trx) => this.insert(trx, id, request));
    const made = this.carryOut(id, request, begun).finally(() => this.running.delete(made));
    this.running.add(made);
    return { id, made };
  }

  /**
   * Ends what goes on nowhere any more. A steady server reads one row for this, and writes nothing. Nobody who only reads
   * fails because it cannot be written.
   */
  async endOrphans(): Promise<void> {
    try {
      await this.writeEnds();
    } catch (error) {
      this.tools.log.warn({ err: error }, 'the end of a preview cannot be written yet');
    }
  }

  private async writeEnds(): Promise<void> {
    const { database, locks, clock } = this.tools;
    for (const [id, end] of this.unwritten) {
      await endPreview(database.writeNow, id, end);
      this.unwritten.delete(id);
    }
    for (const maker of await listMakers(database.read)) {
      if (maker === this.maker) continue;
      await locks.runIfFree(previewMaker(maker), () => endPreviewsOf(database.writeNow, maker, clock.now()));
    }
  }

  private async insert(
    trx: Db,
    id: string,
    { userId, changes, named, found, input }: PreviewRequest,
  ): Promise<void> {
    if ((await countRunning(trx)) >= PREVIEW_PLACES.length + MAX_WAITING)
      throw new HawserError('rate_limited', 'rate_limited', 'Too many previews wait; try again soon', {
        retryAfter: RETRY_AFTER,
      });
    const now = this.tools.clock.now();
    await insertPreview(trx, {
      id,
      user_id: userId,
      maker: this.maker,
      state: 'Running',
      created_at: now,
      completed_at: null,
      expires_at: now + LIFETIME,
      changes: JSON.stringify(changes.map(toShownChange)),
      named: JSON.stringify(named),
      findings: JSON.stringify(found.findings),
      warnings: JSON.stringify(found.warnings),
      is_narrowed: Number(input.nodeIds !== null),
      nodes: input.nodeIds?.length ?? (await countNodes(trx)),
      changed: 0,
      unchanged: 0,
      unresolvable: 0,
      not_visible: 0,
      group_count: null,
      error: null,
    });
  }

  /** The promise never rejects. */
  private async carryOut(id: string, request: PreviewRequest, begun: number): Promise<void> {
    const { log, onMade } = this.tools;
    const place = this.takePlace();
    const end = await this.inPlace(place, () => this.make(id, request));
    try {
      await endPreview(this.tools.database.write, id, end);
    } catch (error) {
      this.unwritten.set(id, end);
      log.error({ err: error, previewId: id }, 'the end of a preview could not be written');
    }
    const milliseconds = performance.now() - begun;
    onMade(end.state === 'Done' ? 'Done' : 'Failed', milliseconds);
    log.info(
      { previewId: id, state: end.state, milliseconds: Math.round(milliseconds) },
      'a preview has ended',
    );
  }

  /** Waits for the place, unless the server ends first. */
  private async inPlace(place: Promise<Release>, work: () => Promise<End>): Promise<End> {
    const release = await Promise.race([place, this.ended]);
    if (release === null || this.ending.signal.aborted) {
      void place.then((late) => late());
      return this.failure(INTERRUPTED);
    }
    this.making += 1;
    try {
      return await work();
    } finally {
      this.making -= 1;
      release();
    }
  }

  /** Whoever is first in the queue waits for both places, and gives back the one that it gets last. */
  private async takePlace(): Promise<Release> {
    const { locks } = this.tools;
    // It is no section: on PostgreSQL the few sections are for those who write, and this may take long.
    const endTurn = await locks.acquire(PREVIEW_TURN, 'alone');
    try {
      return await firstOf(PREVIEW_PLACES.map((place) => locks.acquire(place, 'alone')));
    } finally {
      endTurn();
    }
  }

  private async make(id: string, { named, input }: PreviewRequest): Promise<End> {
    const { engine, database, log, clock } = this.tools;
    const db = database.writeUnflushed;
    try {
      const result = await engine.make(id, input, (counts) => updateCounts(db, id, toColumns(counts)));
      const gone = await findGone(database.read, named);
      if (gone !== undefined) return this.failure(goneMeanwhile(gone));
      await insertResult(db, id, result);
      const columns = { ...toColumns(result.counts), group_count: result.groupCount };
      return { state: 'Done', completed_at: clock.now(), error: null, ...columns };
    } catch (error) {
      if (this.ending.signal.aborted) return this.failure(INTERRUPTED);
      log.warn({ err: error, previewId: id }, 'a preview could not be made');
      return this.failure(await this.reasonOf(error, named));
    }
  }

  private async reasonOf(error: unknown, named: readonly Named[]): Promise<string> {
    const gone = await findGone(this.tools.database.read, named).catch(() => undefined);
    if (gone !== undefined) return goneMeanwhile(gone);
    return error instanceof HawserError && error.code !== 'internal_error' ? error.message : UNKNOWN;
  }

  private failure(message: string): End {
    const error = /[.!?]$/.test(message) ? message : `${message}.`;
    return { state: 'Failed', completed_at: this.tools.clock.now(), error };
  }
}

function goneMeanwhile({ on, name }: Named): string {
  const what = on === 'composite' ? 'composite configuration' : 'configuration';
  return `The ${what} ${name} was deleted while the preview was made.`;
}

/** The first of these that is granted. The others are given back as soon as they are. */
function firstOf(requests: readonly Promise<Release>[]): Promise<Release> {
  return new Promise((resolve, reject) => {
    let isTaken = false;
    const take = (release: Release) => {
      if (isTaken) return release();
      isTaken = true;
      resolve(release);
    };
    for (const request of requests) request.then(take, reject);
  });
}
