/** A fixed number of places that several users share: nobody can take them all, and who holds the fewest comes next. */

import { clientGone } from './client-gone.ts';
import { Tally } from './tally.ts';

export interface SharedPlacesOptions {
  /** How many may be inside at once. */
  limit: number;
  /** How many of them one user may hold. */
  each: number;
}

interface Waiter {
  user: string;
  enter(): void;
}

export class SharedPlaces {
  private readonly options: SharedPlacesOptions;
  /** Those who wait, in the order in which they came. */
  private readonly waiting = new Set<Waiter>();
  /** How many places each user holds. */
  private readonly held = new Tally();
  private inside = 0;

  constructor(options: SharedPlacesOptions) {
    this.options = options;
  }

  /**
   * Waits for a place, however long that takes.
   * @param gone aborted when the one who waits has left
   * @returns gives the place back; more than one call does no harm
   * @throws HawserError `client_gone`
   */
  async take(user: string, gone: AbortSignal): Promise<() => void> {
    if (gone.aborted) throw clientGone();
    // Whoever may enter has been let in already, so nobody is overtaken.
    if (this.mayEnter(user)) this.enter(user);
    else await this.wait(user, gone);
    let isHeld = true;
    return () => {
      if (isHeld) this.leave(user);
      isHeld = false;
    };
  }

  private wait(user: string, gone: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onGone = (): void => {
        this.waiting.delete(waiter);
        reject(clientGone());
      };
      const waiter = {
        user,
        enter: (): void => {
          gone.removeEventListener('abort', onGone);
          this.waiting.delete(waiter);
          this.enter(user);
          resolve();
        },
      };
      gone.addEventListener('abort', onGone, { once: true });
      this.waiting.add(waiter);
    });
  }

  private mayEnter(user: string): boolean {
    return this.inside < this.options.limit && this.held.of(user) < this.options.each;
  }

  private enter(user: string): void {
    this.inside += 1;
    this.held.add(user, 1);
  }

  private leave(user: string): void {
    this.inside -= 1;
    this.held.add(user, -1);
    this.next()?.enter();
  }

  /** Of those who may enter the first one whose user holds the fewest places. */
  private next(): Waiter | null {
    let next: Waiter | null = null;
    for (const waiter of this.waiting) {
      const isBetter = next === null || this.held.of(waiter.user) < this.held.of(next.user);
      if (isBetter && this.mayEnter(waiter.user)) next = waiter;
    }
    return next;
  }
}
