/**
 * Where the time of a request goes. What waits or works for a request counts here, without being told for which one:
 * Node carries that along. Node does so for the whole process, at some 1 µs of each poll, so it is turned off while no
 * request is measured. Polls and reports are not measured.
 */

import { AsyncLocalStorage } from 'node:async_hooks';

/** Milliseconds. `queue` is waiting for a turn, and `disk` is flushing files of repositories. */
export interface RequestParts {
  queue: number;
  database: number;
  git: number;
  disk: number;
}

const current = new AsyncLocalStorage<RequestParts>();
let underWay = 0;

/** Begins to measure. The returned function must be called once, at the end of the request. */
export function beginParts(): { parts: RequestParts; end: () => void } {
  underWay += 1;
  const end = () => {
    underWay -= 1;
    if (underWay === 0) current.disable();
  };
  return { parts: { queue: 0, database: 0, git: 0, disk: 0 }, end };
}

/** Does `work`, which counts for these parts. */
export function withParts<T>(parts: RequestParts, work: () => T): T {
  return current.run(parts, work);
}

/** Counts time for the request that is being carried out, if it is measured. */
export function addPart(part: keyof RequestParts, milliseconds: number): void {
  if (underWay === 0) return;
  const parts = current.getStore();
  if (parts !== undefined) parts[part] += milliseconds;
}

/** What has counted for the request so far, in milliseconds, so that what contains other parts can leave them out. */
export function countedParts(): number {
  const parts = underWay === 0 ? undefined : current.getStore();
  return parts === undefined ? 0 : parts.queue + parts.database + parts.git + parts.disk;
}

/** Counts the time until `work` begins as waiting. @param take runs it in its turn */
export function inTurn<T>(take: (work: () => Promise<T>) => Promise<T>, work: () => Promise<T>): Promise<T> {
  const asked = performance.now();
  return take(() => {
    addPart('queue', performance.now() - asked);
    return work();
  });
}

/** For reads of the database. */
export const READ_WATCH = {
  onWriteWaited: (milliseconds: number): void => addPart('queue', milliseconds),
  onWritten: (milliseconds: number): void => addPart('database', milliseconds),
};
