/** Settings of V8 and Node that are made before all else. */

import { executionAsyncResource } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';

/** How far garbage may grow, in percent of what is alive. */
const HEAP_GROWTH = 20;

const kept: object[] = [];

/**
 * Keeps the memory of the process near what it needs. By default V8 lets garbage grow to as much again as is alive, and
 * to more the faster it comes: a server whose 100,000 nodes had just polled took 430 MB. A garbage collection costs some
 * milliseconds on other threads, and a fleet at rest makes next to no garbage that lasts.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
}

/**
 * Keeps `process.nextTick` fast, which HTTP over TLS calls seven times per request. V8 holds the shape of Node's tick
 * objects weakly. A garbage collection that finds no such object alive, as happens while a server starts, drops the
 * shape, and from then on every tick object is made the slow way: some 6 µs of each poll
 * (`Runtime_DefineKeyedOwnPropertyInLiteral` in perf). One object that stays alive keeps the shape.
 */
export function keepTicksFast(): void {
  process.nextTick(() => kept.push(executionAsyncResource()));
}
