/**
 * Bounds how much is done at once, and gives the callers their turns one after the other. A caller that asks for much
 * waits longer, and holds up each other caller for one piece of work at most.
 */

import { clientGone, refuseGone } from './client-gone.ts';
import { SECOND } from './clock.ts';
import { HawserError } from './errors.ts';

export interface FairQueueOptions {
  /** How many pieces of work are done at once. */
  slots: number;
  /** How many of the slots one caller may hold. The default is all of them. */
  slotsPerCaller?: number;
  /** How many bounded pieces of work may wait, over all callers. */
  waiting?: number;
  /** How many bounded pieces of work of one caller may wait. Those that hold a slot do not count. */
  waitingPerCaller?: number;
  /** Milliseconds after which `takeBounded` gives up waiting. The default is never. */
  patience?: number;
}

/** Seconds after which a caller may try again. Some work of the caller, or a good part of all work, is done by then. */
const RETRY_AFTER = { ofCaller: 2, ofAll: 5 };

interface Waiter {
  isBounded: boolean;
  enter(): void;
  refuse(error: HawserError): void;
}

interface Caller {
  name: string;
  /** How many slots the caller holds. */
  held: number;
  waiters: Waiter[];
}

export class FairQueue {
  private readonly options: Required<FairQueueOptions>;
  private held = 0;
  /** Callers that hold a slot or wait for one. The map keeps the order of insertion, which is the order of turns. */
  private readonly callers = new Map<string, Caller>();

  constructor(options: FairQueueOptions) {
    const unbounded = {
      slotsPerCaller: Infinity,
      waiting: Infinity,
      waitingPerCaller: Infinity,
      patience: Infinity,
    };
    this.options = { ...unbounded, ...options };
  }

  /** Carries out `work` in the caller's turn. */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    return holding(await this.take(caller), work);
  }

  /**
   * Carries out `work` in the caller's turn, for callers of whom there may be any number. If the queue is full, a
   * newcomer takes the place of the last waiter of the caller that has most of them waiting, unless that caller has no
   * more of them than the newcomer would have.
   * @throws HawserError rate_limited if too many of the caller wait; unavailable `overloaded` if too many of all
   *   callers wait, perhaps only after a while. In either case the work was not begun.
   */
  async runBounded<T>(caller: string, work: () => Promise<T>): Promise<T> {
    return holding(await this.takeSlot(caller, { isBounded: true }), work);
  }

  /**
   * Waits for a slot, however long that takes.
   * @param gone is aborted when the one who waits has left
   * @returns a function that gives the slot back; to call it again does no harm
   * @throws HawserError `client_gone`
   */
  take(caller: string, gone?: AbortSignal): Promise<() => void> {
    return this.takeSlot(caller, { isBounded: false, gone });
  }

  /**
   * As `take`, for callers of whom there may be any number, and whose waiting is bounded as that of `runBounded`.
   * @throws HawserError `client_gone`; rate_limited if the caller has its share, or if nothing became free in time;
   *   unavailable `overloaded`
   */
  async takeBounded(caller: string, gone: AbortSignal): Promise<() => void> {
    const { patience } = this.options;
    const late = Number.isFinite(patience) ? AbortSignal.timeout(patience) : null;
    try {
      const signal = late === null ? gone : AbortSignal.any([gone, late]);
      return await this.takeSlot(caller, { isBounded: true, gone: signal });
    } catch (error) {
      throw late?.aborted && !gone.aborted ? tooLate(patience) : error;
    }
  }

  /** Turns away everybody who waits. */
  refuseWaiting(error: HawserError): void {
    for (const caller of [...this.callers.values()]) {
      for (const waiter of caller.waiters.splice(0)) waiter.refuse(error);
      this.forgetIdle(caller);
    }
  }

  private async takeSlot(
    name: string,
    { isBounded, gone }: { isBounded: boolean; gone?: AbortSignal | undefined },
  ): Promise<() => void> {
    refuseGone(gone);
    const caller = this.callers.get(name) ?? { name, held: 0, waiters: [] };
    // Every waiter that may have a slot has been given one already, so nobody is overtaken.
    if (this.mayEnter(caller)) this.enter(caller);
    else {
      if (isBounded) this.makeRoom(caller);
      await this.wait(caller, isBounded, gone);
    }
    let isHeld = true;
    return () => {
      if (isHeld) this.leave(caller);
      isHeld = false;
    };
  }

  private wait(caller: Caller, isBounded: boolean, gone: AbortSignal | undefined): Promise<void> {
    this.callers.set(caller.name, caller);
    return new Promise((resolve, reject) => {
      const stopListening = () => gone?.removeEventListener('abort', onGone);
      const waiter = {
        isBounded,
        enter: () => {
          stopListening();
          this.enter(caller);
          resolve();
        },
        refuse: (error: HawserError) => {
          stopListening();
          reject(error);
        },
      };
      const onGone = () => {
        caller.waiters.splice(caller.waiters.indexOf(waiter), 1);
        this.forgetIdle(caller);
        reject(clientGone());
      };
      gone?.addEventListener('abort', onGone, { once: true });
      caller.waiters.push(waiter);
    });
  }

  private makeRoom(caller: Caller): void {
    const { waiting, waitingPerCaller } = this.options;
    const own = countBounded(caller);
    if (own >= waitingPerCaller) throw tooManyOfCaller();
    const counts = [...this.callers.values()].map((each) => ({ each, count: countBounded(each) }));
    if (counts.reduce((sum, { count }) => sum + count, 0) < waiting) return;
    const [busiest] = counts.sort((one, other) => other.count - one.count);
    if (busiest === undefined || busiest.count <= own + 1) throw tooMany();
    const { waiters } = busiest.each;
    const last = waiters.findLastIndex((waiter) => waiter.isBounded);
    for (const waiter of waiters.splice(last, 1)) waiter.refuse(tooMany());
  }

  private mayEnter(caller: Caller): boolean {
    return this.held < this.options.slots && caller.held < this.options.slotsPerCaller;
  }

  private enter(caller: Caller): void {
    this.held += 1;
    caller.held += 1;
    this.moveToEnd(caller);
  }

  private leave(caller: Caller): void {
    this.held -= 1;
    caller.held -= 1;
    this.moveToEnd(caller);
    this.forgetIdle(caller);
    this.nextCaller()?.waiters.shift()?.enter();
  }

  /** The caller whose turn is next: it waits, may have a slot, and holds the fewest of all such callers. */
  private nextCaller(): Caller | null {
    let next: Caller | null = null;
    for (const caller of this.callers.values()) {
      const isBetter = next === null || caller.held < next.held;
      if (isBetter && caller.waiters.length > 0 && this.mayEnter(caller)) next = caller;
    }
    return next;
  }

  private moveToEnd(caller: Caller): void {
    this.callers.delete(caller.name);
    this.callers.set(caller.name, caller);
  }

  private forgetIdle({ name, held, waiters }: Caller): void {
    if (held === 0 && waiters.length === 0) this.callers.delete(name);
  }
}

async function holding<T>(leave: () => void, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    leave();
  }
}

function countBounded({ waiters }: Caller): number {
  return waiters.filter((waiter) => waiter.isBounded).length;
}

function tooManyOfCaller(): HawserError {
  const message = 'Too many of your requests wait already; come again when some are answered';
  return new HawserError('rate_limited', 'rate_limited', message, { retryAfter: RETRY_AFTER.ofCaller });
}

function tooLate(patience: number): HawserError {
  const retryAfter = Math.max(1, Math.ceil(patience / SECOND));
  return new HawserError('rate_limited', 'rate_limited', 'Too many at once; try again soon', { retryAfter });
}

function tooMany(): HawserError {
  const message = 'Too many others wait for the same; come again';
  return new HawserError('unavailable', 'overloaded', message, { retryAfter: RETRY_AFTER.ofAll });
}
