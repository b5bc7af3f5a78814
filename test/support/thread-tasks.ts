/** The tasks that the threads of a test can run. */

import { workerData } from 'node:worker_threads';
import { conflict, HawserError } from '../../src/lib/errors.ts';
import { type Send, serveTasks } from '../../src/lib/threads.ts';

export const tasks = {
  double: (number: number) => number * 2,
  async later(text: string) {
    await new Promise((resolve) => setImmediate(resolve));
    return text;
  },
  async count(to: number, send: Send) {
    for (let piece = 1; piece <= to; piece += 1) await send(piece);
    return `counted ${to}`;
  },
  told: (_nothing: null) => workerData as unknown,
  copy: (value: unknown) => value,
  sizeOf: (bytes: Uint8Array) => bytes.byteLength,
  bytes: (length: number) => new Uint8Array(length).fill(7),
  refuse(): never {
    const cause = new TypeError('the inner one');
    const data = { errors: [{ path: '/a', message: 'no', code: 'type' }] };
    throw new HawserError('rate_limited', 'rate_limited', 'come again', { data, retryAfter: 7, cause });
  },
  conflict(): never {
    throw conflict('in_use', 'is used');
  },
  fail(): never {
    throw new RangeError('a defect');
  },
  /** Waits until somebody opens the gate. */
  wait(gate: Int32Array): void {
    Atomics.wait(gate, 0, 0);
  },
  die: () => process.exit(3),
  giveFunction: () => () => undefined,
  exhaustMemory() {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(10_000).fill(kept.length));
  },
};

export type TestTasks = typeof tasks;

serveTasks(tasks);
