/** Repeats a write while something fails: first at its first step, then at its second, and so on until it succeeds. */

import { expect } from 'chai';
import type { Client, Reply } from './client.ts';
import { expectProblem } from './replies.ts';

/** A request that changes something. It can be sent any number of times, and always has something to do. */
export interface Write {
  what: string;
  /** The status of its success. */
  status: number;
  /** Runs once, before the first request. */
  setUp?(): Promise<unknown>;
  /** Makes what the request number `n` needs. */
  prepare?(n: number): Promise<unknown>;
  send(n: number): Promise<Reply>;
  /** The code by which an answer with the status of success refuses all the same; null if it does not. */
  refusal?(reply: Reply): string | null;
  /** Addresses that show everything that the request may change. */
  readonly shownAt: readonly string[];
}

/** A fault that lasts from a step on, or happens at that step alone. */
export interface Fault {
  name: string;
  status: number;
  code: string;
  /** If it is false, the fault ends at once, and the server must roll back at once what it had done. */
  isLasting: boolean;
  /** Lets this many steps succeed before the fault begins. */
  begin(after: number): void;
  /** @returns whether any step had the fault */
  end(): boolean;
}

export interface SweepOptions {
  admin: Client;
  fault: Fault;
  /** Tests only every step at this distance. */
  stride?: number;
  /** Is called now and then while the fault lasts. */
  meanwhile?(): Promise<void>;
  /** Other state that must be unchanged after a refusal. */
  state?(): unknown;
}

const MEANWHILE_EVERY = 10;
/** A change that was rolled back changes this time, because caches are notified of it. */
const LAST_CHANGE = /"updatedAt":"[^"]*"/g;

let serial = 0;

/** @returns how many steps the write took when nothing failed any more */
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
    if (isTaken(write, reply)) {
      if (!isMet) return after;
      // What failed was not part of the change: it was a cleanup, which the server repeats later.
      continue;
    }
    await expectRefused(write, reply, fault, where);
    if (!fault.isLasting) expect(await shown(), where).to.deep.equal(before);
    const again = await write.send(n);
    expect(isTaken(write, again), `${where}, again: ${again.status} ${again.text}`).to.equal(true);
  }
}

/** Whether the answer says that the write was made. */
export function isTaken({ status, refusal }: Write, reply: Reply): boolean {
  return reply.status === status && (refusal?.(reply) ?? null) === null;
}

/** As `expectRefusal`, also for a write that is refused with the status of success. */
export async function expectRefused(
  write: Write,
  reply: Reply,
  fault: Pick<Fault, 'status' | 'code'>,
  where = write.what,
): Promise<void> {
  if (reply.status === write.status) expect(write.refusal?.(reply), where).to.equal(fault.code);
  else await expectRefusal(reply, fault, where);
}

/** Checks that a problem shows nothing of the server's internals. */
export async function expectRefusal(
  reply: Reply,
  { status, code }: Pick<Fault, 'status' | 'code'>,
  where: string,
): Promise<void> {
  const problem = await expectProblem(reply, status, code, where);
  expect(problem.text, where).to.not.match(/refs\/|\.git|\.db|SQLITE|E[A-Z]{3,}/);
}
