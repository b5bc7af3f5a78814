/** How much memory the bodies that are being read may hold, and how much of it one caller may hold. */

import { HawserError } from '../lib/errors.ts';

const MIB = 1024 * 1024;

/** All bodies together may hold so many bytes. */
const ALL = 64 * MIB;
/** One caller may hold so many bytes, so that the others have room. */
const OF_ONE_CALLER = ALL / 2;
/** All callers that are not known yet may hold so many bytes together, so that known callers have room. */
const OF_STRANGERS = ALL / 4;
/** Callers that are not known yet may send so many bodies at once from one address. */
const STRANGERS_AT_ONCE = 8;
/** The wait in seconds. */
const RETRY_AFTER = 5;

/** The caller whose body is read. */
export interface BodySender {
  /** The id of a user or node. For a caller that is not known yet: the source of the request, as `sourceOf` gives it. */
  key: string;
  isKnown: boolean;
}

/** The part of the budget that one body holds. */
export interface BodyShare {
  /** @throws HawserError `unavailable` when the budget has not that much left */
  reserve(bytes: number): void;
  /** Gives back the whole share. */
  close(): void;
}

interface Held {
  bodies: number;
  bytes: number;
}

export class BodyBudget {
  private readonly senders = new Map<string, Held>();
  private readonly all: number;
  private readonly ofOne: number;
  private bytes = 0;
  private strangersBytes = 0;

  /** @param largest bytes of the largest body that a route takes, which must fit even where it is set very high */
  constructor(largest: number) {
    this.all = Math.max(ALL, 2 * largest);
    this.ofOne = Math.max(OF_ONE_CALLER, 2 * largest);
  }

  /** @throws HawserError `unavailable` for the ninth body at once from an address of callers that are not known yet */
  open({ key, isKnown }: BodySender): BodyShare {
    const held = this.senders.get(key) ?? { bodies: 0, bytes: 0 };
    if (!isKnown && held.bodies >= STRANGERS_AT_ONCE)
      throw unavailable('Too many requests from this address are sending a body');
    held.bodies += 1;
    this.senders.set(key, held);
    let own = 0;
    const count = (bytes: number) => {
      own += bytes;
      held.bytes += bytes;
      this.bytes += bytes;
      if (!isKnown) this.strangersBytes += bytes;
    };
    return {
      reserve: (bytes) => {
        const strangers = isKnown ? 0 : this.strangersBytes;
        const fits =
          this.bytes + bytes <= this.all &&
          held.bytes + bytes <= this.ofOne &&
          strangers + bytes <= OF_STRANGERS;
        if (!fits) throw unavailable('The server is reading as many bodies as it has memory for');
        count(bytes);
      },
      close: () => {
        count(-own);
        held.bodies -= 1;
        if (held.bodies === 0) this.senders.delete(key);
      },
    };
  }
}

function unavailable(message: string): HawserError {
  return new HawserError('unavailable', 'unavailable', message, { retryAfter: RETRY_AFTER });
}
