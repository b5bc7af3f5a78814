/** How many bundles a caller may have on their way at once: a large one that is not read holds a file and a connection. */

import { overloaded } from '../http/node-calls.ts';

const MAX_OPEN = 2;

export class BundlePlaces {
  private readonly open = new Map<string, number>();

  /**
   * @param caller one node, or one user
   * @param over aborted when the answer has been handed over in full, or broken off
   * @throws HawserError unavailable `overloaded`
   */
  take(caller: string, over: AbortSignal): void {
    const count = this.open.get(caller) ?? 0;
    if (count >= MAX_OPEN) throw overloaded(`${MAX_OPEN} bundles are on their way to this caller already`);
    if (over.aborted) return;
    this.open.set(caller, count + 1);
    over.addEventListener('abort', () => this.leave(caller), { once: true });
  }

  private leave(caller: string): void {
    const left = (this.open.get(caller) ?? 1) - 1;
    if (left === 0) this.open.delete(caller);
    else this.open.set(caller, left);
  }
}
