/**
 * Bounds how much is done at once, and lets those who ask for it have their turns one after the other: who asks for much
 * waits longer, and holds up nobody else for more than one piece of work.
 */

import { HawserError } from './errors.ts';

export interface FairQueueOptions {
  /** Pieces of work that are done at once. */
  slots: number;
  /** How many bounded ones may wait, over all sources. */
  waiting: number;
  /** How many bounded ones of one source may wait. Those at work do not count. */
  waitingOfSource: number;
}

/** Seconds. A few pieces of work of the source are done by then, or a good part of all. */
const RETRY_AFTER = { ofSource: 2, ofAll: 5 };

interface Waiter {
  isBounded: boolean;
  enter(): void;
  turnAway(error: HawserError): void;
}

export class FairQueue {
  private readonly options: FairQueueOptions;
  private running = 0;
  /** Nobody's list is empty. Whose turn is next stands first: a map keeps the order in which its keys came. */
  private readonly waiting = new Map<string, Waiter[]>();

  constructor(options: FairQueueOptions) {
    this.options = options;
  }

  /** @param source whoever asks; turns go round between sources */
  run<T>(source: string, work: () => Promise<T>): Promise<T> {
    return this.inTurn(source, false, work);
  }

  /**
   * The same for those of whom there may be any number. When as many wait as may, a newcomer takes the place of the one
   * who came last of the source that has most waiting, unless that has no more than the newcomer's would have.
   * @throws HawserError rate_limited where too many of the source wait; unavailable `overloaded` where too many of all
   *   do, perhaps only once it has waited. Either way the work was not begun.
   */
  runBounded<T>(source: string, work: () => Promise<T>): Promise<T> {
    return this.inTurn(source, true, work);
  }

  private async inTurn<T>(source: string, isBounded: boolean, work: () => Promise<T>): Promise<T> {
    if (this.running < this.options.slots) this.running += 1;
    else await this.wait(source, isBounded);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  private wait(source: string, isBounded: boolean): Promise<void> {
    if (isBounded) this.makeRoom(source);
    return new Promise((enter, turnAway) => {
      const waiter = { isBounded, enter, turnAway };
      const before = this.waiting.get(source);
      if (before) before.push(waiter);
      else this.waiting.set(source, [waiter]);
    });
  }

  private makeRoom(source: string): void {
    const { waiting, waitingOfSource } = this.options;
    const counts = [...this.waiting].map(([of, waiters]) => ({ of, count: countBounded(waiters) }));
    const own = counts.find(({ of }) => of === source)?.count ?? 0;
    if (own >= waitingOfSource) throw tooManyOfSource();
    if (counts.reduce((sum, { count }) => sum + count, 0) < waiting) return;
    const [busiest] = counts.sort((one, other) => other.count - one.count);
    if (busiest === undefined || busiest.count <= own + 1) throw tooMany();
    this.dropLastOf(busiest.of);
  }

  private dropLastOf(source: string): void {
    const waiters = this.waiting.get(source) ?? [];
    const index = waiters.findLastIndex((waiter) => waiter.isBounded);
    for (const waiter of waiters.splice(index, 1)) waiter.turnAway(tooMany());
  }

  /** The slot is handed on rather than freed, so that a newcomer cannot overtake those who wait. */
  private leave(): void {
    const [first] = this.waiting;
    if (first === undefined) {
      this.running -= 1;
      return;
    }
    const [source, waiters] = first;
    const next = waiters.shift();
    this.waiting.delete(source);
    if (waiters.length > 0) this.waiting.set(source, waiters);
    next?.enter();
  }
}

function countBounded(waiters: readonly Waiter[]): number {
  return waiters.filter((waiter) => waiter.isBounded).length;
}

function tooManyOfSource(): HawserError {
  const message = 'Too many of your requests wait already; come again when some are answered';
  return new HawserError('rate_limited', 'rate_limited', message, { retryAfter: RETRY_AFTER.ofSource });
}

function tooMany(): HawserError {
  const message = 'Too many others wait for the same; come again';
  return new HawserError('unavailable', 'overloaded', message, { retryAfter: RETRY_AFTER.ofAll });
}
