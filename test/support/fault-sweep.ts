/** Sends a write again and again while something fails at its first step, its second, and so on until it gets through. */

import { expect } from 'chai';
import type { Client, Reply } from './client.ts';
import { expectProblem } from './configurations.ts';

/** A request that changes something, to be sent as often as is wanted: each time it has something to do. */
export interface Write {
  what: string;
  /** Of its success. */
  status: number;
  /** Once, before the first. */
  setUp?(): Promise<unknown>;
  /** Makes what the request number `n` is about. */
  prepare?(n: number): Promise<unknown>;
  send(n: number): Promise<Reply>;
  /** Addresses that show all that it may change. */
  readonly shownAt: readonly string[];
}

/** What fails, from a step on or at that step alone. */
export interface Fault {
  name: string;
  status: number;
  code: string;
  /** Of a fault that is over at once, what had been done is taken back at once. */
  isLasting: boolean;
  /** Lets so many steps through before it fails. */
  begin(after: number): void;
  /** @returns whether anything has met the fault */
  end(): boolean;
}

export interface SweepOptions {
  admin: Client;
  fault: Fault;
  /** Tries this step and every one after so many more. */
  stride?: number;
  /** Called now and then while the fault lasts. */
  meanwhile?(): Promise<void>;
  /** What else must be as before after a refusal. */
  state?(): unknown;
}

const MEANWHILE_EVERY = 10;
/** A change that was taken back has been one, for caches to hear of. */
const LAST_CHANGE = /"updatedAt":"[^"]*"/g;

let serial = 0;

/** @returns how many steps the write has taken when nothing failed any more */
export async function sweep(write: Write, options: SweepOptions): Promise<number> {
  const { admin, fault, stride = 1, meanwhile, state } = options;
  const shown = async () => {
    const replies = await Promise.all(write.shownAt.map((path) => admin.get(path)));
    const texts = replies.map(({ status, text }) => `${status} ${text.replace(LAST_CHANGE, '')}`);
    return [texts, state?.()];
  };
  for (let after = 0; ; after += stride) {
    serial += 1;
    const n = serial;
    const where = `${write.what}, ${fault.name} after ${after} steps`;
    await write.prepare?.(n);
    const before = await shown();
    fault.begin(after);
    const reply = await write.send(n);
    if (meanwhile && n % MEANWHILE_EVERY === 0) await meanwhile();
    const isMet = fault.end();
    if (reply.status === write.status) {
      if (!isMet) return after;
      // What failed was no part of the change: tidying up, which is made up for.
      continue;
    }
    await expectRefusal(reply, fault, where);
    if (!fault.isLasting) expect(await shown(), where).to.deep.equal(before);
    const again = await write.send(n);
    expect(again.status, `${where}, again: ${again.text}`).to.equal(write.status);
  }
}

/** A problem that names nothing of the server's insides. */
export async function expectRefusal(
  reply: Reply,
  { status, code }: Pick<Fault, 'status' | 'code'>,
  where: string,
): Promise<void> {
  const problem = await expectProblem(reply, status, code, where);
  expect(problem.text, where).to.not.match(/refs\/|\.git|\.db|SQLITE|E[A-Z]{3,}/);
}
