/** Notes of nodes in memory, at most one of each node, that are written in batches. After a failure they are kept. */

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../lib/log.ts';

/** A note with the id of its node. */
export type NodeNote<N> = readonly [nodeId: string, note: N];

export interface NodeNotesOptions<N> {
  /** What the log says once they cannot be written. */
  onFailure: string;
  /** How many are written at once, so that a batch holds the event loop for a few milliseconds at most. */
  batch: number;
  /** Milliseconds between two batches, so that a wave of calls goes before its notes. By default other work goes first once. */
  rest?: number;
  /** What a note and a later one of the same node are together. */
  join(before: N, then: N): N;
  /** Writes some of them. It fails without having written any. */
  write(notes: readonly NodeNote<N>[], isLast: boolean): Promise<void>;
}

export class NodeNotes<N> {
  private readonly options: NodeNotesOptions<N>;
  private readonly log: Log;
  private readonly noted = new Map<string, N>();
  /** Those that are being written. */
  private taken: readonly NodeNote<N>[] = [];
  private writing: Promise<boolean> = Promise.resolve(true);
  private flushing: Promise<void> = Promise.resolve();
  /** This is true once the log says that they cannot be written. */
  private isFailing = false;

  constructor(log: Log, options: NodeNotesOptions<N>) {
    this.log = log;
    this.options = options;
  }

  /** Puts a note in the place of the one that is there. */
  set(nodeId: string, note: N): void {
    this.noted.set(nodeId, note);
  }

  /** Joins a note to the one that is there. */
  add(nodeId: string, note: N): void {
    const before = this.noted.get(nodeId);
    this.noted.set(nodeId, before === undefined ? note : this.options.join(before, note));
  }

  /** The notes of a node that are not written yet, joined; undefined if there are none. */
  of(nodeId: string): N | undefined {
    const taken = this.taken.find(([id]) => id === nodeId)?.[1];
    const noted = this.noted.get(nodeId);
    return taken === undefined || noted === undefined ? (noted ?? taken) : this.options.join(taken, noted);
  }

  /** Writes what is noted now. @param isLast tells that nothing can be written later */
  flush(isLast = false): Promise<void> {
    this.flushing = this.flushing.then(() => this.write(isLast));
    return this.flushing;
  }

  /** Writes what is noted of a node before the rest; undefined where nothing is. */
  settle(nodeId: string): Promise<void> | undefined {
    return this.of(nodeId) === undefined ? undefined : this.writeOne(nodeId);
  }

  private async writeOne(nodeId: string): Promise<void> {
    if (this.taken.some(([id]) => id === nodeId)) await this.writing;
    const note = this.noted.get(nodeId);
    if (note === undefined) return;
    this.noted.delete(nodeId);
    await this.tryWrite([[nodeId, note]], false);
  }

  private async write(isLast: boolean): Promise<void> {
    const { batch, rest = 0 } = this.options;
    for (let left = this.noted.size; left > 0; left -= batch) {
      this.taken = this.take();
      this.writing = this.tryWrite(this.taken, isLast);
      const isWritten = await this.writing;
      this.taken = [];
      if (!isWritten) return;
      // Lets requests through between two batches.
      if (rest === 0 || isLast) await nextTurn();
      else if (this.noted.size > 0) await sleep(rest);
    }
  }

  private async tryWrite(notes: readonly NodeNote<N>[], isLast: boolean): Promise<boolean> {
    try {
      await this.options.write(notes, isLast);
      this.isFailing = false;
      return true;
    } catch (error) {
      this.putBack(notes);
      if (!this.isFailing) this.log.warn({ err: error }, this.options.onFailure);
      this.isFailing = true;
      return false;
    }
  }

  /** Takes the first notes out of the map. */
  private take(): NodeNote<N>[] {
    const notes: NodeNote<N>[] = [];
    for (const note of this.noted) {
      if (notes.length === this.options.batch) break;
      notes.push(note);
      this.noted.delete(note[0]);
    }
    return notes;
  }

  private putBack(notes: readonly NodeNote<N>[]): void {
    for (const [nodeId, note] of notes) {
      const later = this.noted.get(nodeId);
      this.noted.set(nodeId, later === undefined ? note : this.options.join(note, later));
    }
  }
}
