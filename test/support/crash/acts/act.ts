/** What the acts of the clients share. */

import { createHash } from 'node:crypto';
import { type Client, makeClient, type Reply, type Target } from '../../client.ts';
import type { Model, State } from '../model.ts';
import type { Random } from '../random.ts';

/** What an act works with. */
export interface Bench {
  /** A client with a token that has every scope. */
  client: Client;
  target: Target;
  model: Model;
  random: Random;
  registrationKey: string;
  /** Whether the database may be away, so that polls are answered from memory. */
  isAway?: () => boolean;
  /** Whether a poll may tell of an older state for a moment, because the change was made at another server. */
  isBehind?: boolean;
  /** Where to go on after the server has died; null for nowhere. */
  elsewhere?: () => Pick<Bench, 'client' | 'target'> | null;
}

/** Does one thing, if there is something to do it to. Resolves to false otherwise. */
export type Act = (bench: Bench) => Promise<boolean>;

/** The server has answered what it must not answer. */
export class UnexpectedAnswer extends Error {
  readonly status: number | null;

  /** @param status null if the answer was wrong in another way */
  constructor(message: string, status: number | null = null) {
    super(message);
    this.status = status;
  }
}

export interface Attempt {
  what: string;
  /** The states after the change, by key. */
  after: Record<string, State>;
  call(): Promise<Reply>;
  /** The statuses of a refusal that another client may have caused. */
  refusals?: readonly number[];
}

/**
 * @returns the answer; null for a refusal
 * @throws without recording a result if no answer comes, or another one, such as that the database is away
 */
export async function attempt(
  { model }: Bench,
  { what, after, call, refusals = [] }: Attempt,
): Promise<Reply | null> {
  const change = model.begin(what, after);
  const reply = await call();
  if (reply.status >= 200 && reply.status < 300) {
    model.acknowledge(change);
    return reply;
  }
  if (!refusals.includes(reply.status)) throw unexpected(what, reply);
  model.refuse(change);
  return null;
}

export function unexpected(what: string, { status, text }: Reply): UnexpectedAnswer {
  return new UnexpectedAnswer(`${what}: answered ${status} ${text.slice(0, 500)}`, status);
}

/** The parts of a key after its kind. */
export function partsOf(key: string): string[] {
  return key.split('/').slice(1);
}

export const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');

/** Runs a call of a node, over a connection of its own. */
export async function asNode<T>(
  { model, target }: Pick<Bench, 'model' | 'target'>,
  thumbprint: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = makeClient(target, model.identities.get(thumbprint));
  try {
    return await work(client);
  } finally {
    client.close();
  }
}
