/**
 * Notes in memory what the calls of nodes tell of what they run, and writes it in batches where it changes anything. A
 * steady poll is one comparison: the node in memory says that all that the poll tells is noted already.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import {
  keepManifests,
  lackingManifests,
  type ManifestRecord,
  missingManifests,
  noteServed,
} from '../db/manifests.ts';
import { recordMoves, recordOffers } from '../db/node-events.ts';
import { type KnownNode, POLL_EVIDENCE, type PollEvidence } from '../db/node-lookup.ts';
import {
  joinNotes,
  type RunningNote,
  type ServedBundle,
  stepsOf,
  takeNotesTurn,
  writeProblems,
  writeRunning,
} from '../db/running.ts';
import type { Answer } from '../http/answer.ts';
import type { AnsweredCall } from '../http/route.ts';
import { type Clock, SECOND } from '../lib/clock.ts';
import { HawserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { Pace } from '../lib/pace.ts';
import { withinTime } from '../lib/within-time.ts';
import type { Manifest } from '../resolve/manifest.ts';
import { recordOf } from '../resolve/manifest-record.ts';
import type { GitStore } from '../versions/store.ts';
import { type NodeNote, NodeNotes } from './node-notes.ts';

/** Notes that could not be written are tried again after so many milliseconds. */
const RETRY_INTERVAL = SECOND;
/** Milliseconds for which declarations of polls gather, of which a steady fleet makes many after each publish. */
const GATHERING = 50;
/** Milliseconds between two writes, while many nodes are told or sent something new. */
const PAUSE = 20;
/** Milliseconds that a report waits at most for a bundle that is being sent to its node, and a reader for what is noted. */
const ARRIVAL = SECOND;
/** With this many rows a statement holds the event loop for a few milliseconds at most. */
const BATCH = 100;
/** Milliseconds between two batches. A wave of polls after a publish makes more than one, and goes first. */
const REST = 10;

/** A note, and the manifests of the checksums that it says to be running. */
interface Note extends RunningNote {
  manifests: readonly Manifest[];
}

export interface EvidenceTools {
  database: Pick<Database, 'read' | 'noteUnflushed' | 'writeUnflushed'>;
  store: GitStore;
  clock: Clock;
  log: Log;
}

export class EvidenceNotes {
  private readonly tools: EvidenceTools;
  private readonly notes: NodeNotes<Note>;
  /** By the ids of nodes: the ends of the bundles that are being sent to them. */
  private readonly underway = new Map<string, Promise<unknown>>();
  private readonly retry: NodeJS.Timeout;
  private gathering: NodeJS.Timeout | null = null;
  private isAtOnce = false;
  /** When notes were written at once last, as `performance.now()` counts. */
  private flushedAt = Number.NEGATIVE_INFINITY;

  constructor(tools: EvidenceTools) {
    this.tools = tools;
    this.notes = new NodeNotes(tools.log, {
      onFailure: 'what nodes run could not be written; it is kept until it can be',
      batch: BATCH,
      rest: REST,
      join: (before, then) => ({
        ...joinNotes(before, then),
        manifests: [...new Set([...before.manifests, ...then.manifests])],
      }),
      write: (notes, isLast) => this.write(notes, isLast),
    });
    this.retry = setInterval(() => this.notes.flush(), RETRY_INTERVAL);
    this.retry.unref();
  }

  /** Looks at an answered poll of the checksum or of the entry point. */
  polled(call: AnsweredCall, answer: Answer, manifestOf: (answer: Answer) => Manifest | undefined): void {
    const { principal } = call.state;
    if (principal?.kind !== 'node') return;
    const { node } = principal;
    const { etag = null } = answer;
    // The steady poll ends here.
    if (node.notedEtag === etag && node.notedAs === POLL_EVIDENCE.declared) return;
    const told = evidenceOf(call, etag);
    if (told === POLL_EVIDENCE.none || (node.notedEtag === etag && node.notedAs >= told)) return;
    const manifest = manifestOf(answer);
    if (manifest === undefined) return;
    this.notePoll(node, manifest, told, call.state.at);
    // A bundle that the node got before it was told of another one counts anew when it gets that once more.
    if (node.notedEtag !== etag) node.notedServed = null;
    node.notedEtag = etag;
    node.notedAs = told;
    node.notedProblem = null;
  }

  /** Notes that the poll of a node is answered with an error. One that passes by itself is not worth a word. */
  refused(node: KnownNode, error: unknown): void {
    if (!(error instanceof HawserError) || error.kind === 'unavailable') return;
    const { code, message: detail } = error;
    const at = this.tools.clock.now();
    const problem = { code, detail, at };
    // What cannot be merged is no reason to drop what the node has.
    const offered = error.kind === 'not_found' ? { at, what: null } : undefined;
    const key = `${code} ${detail}`;
    if (node.notedProblem === key) return;
    node.notedProblem = key;
    // The next poll that is answered well ends it.
    node.notedEtag = null;
    node.notedAs = POLL_EVIDENCE.none;
    const nothing = { manifests: [], running: null, answered: null, served: null };
    this.notes.add(node.nodeId, { ...nothing, problem, offered });
    this.flushSoon();
  }

  /** Waits for the last byte of a bundle, and notes that it went to its node whole. */
  sending(call: AnsweredCall, manifest: Manifest, digest: string | null): void {
    const { principal } = call.state;
    if (principal?.kind !== 'node' || call.method === 'HEAD' || call.res.statusCode !== 200) return;
    const { node } = principal;
    const { checksum } = manifest;
    if (node.notedServed === checksum) return;
    const { socket } = call.req;
    if (socket.destroyed) return;
    this.noteUnderway(node.nodeId, call.res);
    // The event comes as well when the client has broken off. This listener goes before Node's own, which may end the
    // connection after the answer.
    call.res.prependOnceListener('finish', () => {
      if (socket.destroyed) return;
      // The node has it from its call on: when the last byte went is known later than the node has it.
      const { at } = call.state;
      const running = { checksum, evidence: 'Served', since: at, last: this.tools.clock.now() } as const;
      const served = { checksum, digest, at };
      this.notes.add(node.nodeId, { manifests: [manifest], running, answered: null, served });
      node.notedServed = checksum;
      this.flushAtOnce();
    });
  }

  /**
   * Waits until a bundle that is on its way to the node is sent, or is broken off. The node may have read its end already,
   * because the event that tells of it comes a little later. A slow download is not waited for.
   */
  async arrived(nodeId: string): Promise<void> {
    const underway = this.underway.get(nodeId);
    if (underway === undefined) return;
    const over = new AbortController();
    await Promise.race([underway, sleep(ARRIVAL, undefined, { signal: over.signal }).catch(() => undefined)]);
    over.abort();
  }

  /** Writes what is noted of a node, so that what it says next comes after it; undefined where nothing is noted. */
  settle(nodeId: string): Promise<void> | undefined {
    return this.notes.settle(nodeId);
  }

  /**
   * The same, for whoever decides by it what the node gets.
   * @throws HawserError unavailable where it cannot be written now, so that the node keeps what it has
   */
  async written(nodeId: string): Promise<void> {
    await this.notes.settle(nodeId);
    if (this.notes.of(nodeId) !== undefined)
      throw new HawserError('unavailable', 'unavailable', 'What the node runs cannot be written now');
  }

  /** Waits until what was noted so far is written, a second at most, so that an answer holds what polls told before it. */
  async caughtUp(): Promise<void> {
    await withinTime(this.notes.flush(), ARRIVAL).catch(() => undefined);
  }

  /** The checksum of the last bundle that went to a node whole, where that is not written yet. */
  servedTo(nodeId: string): string | undefined {
    const note = this.notes.of(nodeId);
    return note && stepsOf(note).findLast(({ served }) => served !== null)?.served?.checksum;
  }

  async close(): Promise<void> {
    clearInterval(this.retry);
    if (this.gathering !== null) clearTimeout(this.gathering);
    await this.notes.flush(true);
  }

  private noteUnderway(nodeId: string, res: AnsweredCall['res']): void {
    const before = this.underway.get(nodeId);
    const closed = new Promise<void>((resolve) => res.once('close', resolve));
    const all = before === undefined ? closed : Promise.all([before, closed]);
    this.underway.set(nodeId, all);
    void all.then(() => this.underway.get(nodeId) === all && this.underway.delete(nodeId));
  }

  private notePoll({ nodeId }: KnownNode, manifest: Manifest, told: PollEvidence, since: number): void {
    const { checksum } = manifest;
    const at = this.tools.clock.now();
    const evidence = told === POLL_EVIDENCE.declared ? 'Declared' : 'Told';
    const running =
      told === POLL_EVIDENCE.answered ? null : ({ checksum, evidence, since, last: at } as const);
    const { configurationName, version } = manifest;
    const offered = { at, what: { checksum, configurationName, version } };
    const noted = { running, answered: checksum, served: null, problem: null, offered };
    this.notes.add(nodeId, { manifests: running === null ? [] : [manifest], ...noted });
    if (told === POLL_EVIDENCE.told) this.flushAtOnce();
    else this.flushSoon();
  }

  /** A report may follow at once, at another server too. All notes of this turn share the write. */
  private flushAtOnce(): void {
    if (this.isAtOnce) return;
    this.isAtOnce = true;
    const flush = () => {
      this.isAtOnce = false;
      this.flushedAt = performance.now();
      void this.notes.flush();
    };
    const since = performance.now() - this.flushedAt;
    if (since > PAUSE) setImmediate(flush);
    else setTimeout(flush, PAUSE - since).unref();
  }

  private flushSoon(): void {
    this.gathering ??= setTimeout(() => {
      this.gathering = null;
      void this.notes.flush();
    }, GATHERING).unref();
  }

  /**
   * The manifests come with the rows that name them. Git is read before the transaction. A manifest may have gone
   * meanwhile, with the last row of another server that named it, and is made then.
   */
  private async write(notes: readonly NodeNote<Note>[], isLast: boolean): Promise<void> {
    const { database } = this.tools;
    const manifests = new Map<string, Manifest>();
    const served = new Map<string, ServedBundle>();
    for (const [, note] of notes) {
      for (const manifest of note.manifests) manifests.set(manifest.checksum, manifest);
      for (const { served: bundle } of stepsOf(note))
        if (bundle !== null && !served.has(bundle.checksum)) served.set(bundle.checksum, bundle);
    }
    const db = isLast ? database.writeUnflushed : database.noteUnflushed;
    let missing = await missingManifests(database.read, [...manifests.keys()]);
    do {
      const records = await this.describe(missing, manifests);
      missing = await db.transaction().execute(async (trx) => {
        await takeNotesTurn(trx, () =>
          notes.flatMap(([nodeId, note]) =>
            stepsOf(note).map(
              ({ running, answered }) => [nodeId, running?.checksum ?? null, answered] as const,
            ),
          ),
        );
        const moved = await writeRunning(trx, notes);
        await writeProblems(trx, notes);
        await keepManifests(trx, records);
        await recordMoves(trx, moved);
        await recordOffers(trx, notes);
        await noteServed(trx, served.values());
        return lackingManifests(trx, [...manifests.keys()]);
      });
    } while (missing.length > 0);
  }

  /** One that cannot be described is left out from then on. Its repository is damaged, which is said elsewhere. */
  private async describe(
    checksums: readonly string[],
    manifests: Map<string, Manifest>,
  ): Promise<ManifestRecord[]> {
    const records: ManifestRecord[] = [];
    const pace = new Pace();
    for (const checksum of checksums) {
      const manifest = manifests.get(checksum);
      if (manifest === undefined) continue;
      try {
        records.push(await recordOf(this.tools.store, manifest));
      } catch (error) {
        this.tools.log.warn({ err: error, checksum }, 'the manifest of what a node runs could not be made');
        manifests.delete(checksum);
      }
      if (pace.isDue) await pace.rest();
    }
    return records;
  }
}

/** What a poll tells, once it is answered. */
function evidenceOf({ method, headers, req, res }: AnsweredCall, etag: string | null): PollEvidence {
  // Whoever broke off was told nothing.
  if (method === 'HEAD' || etag === null || req.socket.destroyed) return POLL_EVIDENCE.none;
  if (res.statusCode === 200) return POLL_EVIDENCE.told;
  if (res.statusCode !== 304) return POLL_EVIDENCE.none;
  const held = headers['if-none-match']?.trim().replace(/^W\//, '');
  return held === etag ? POLL_EVIDENCE.declared : POLL_EVIDENCE.answered;
}
