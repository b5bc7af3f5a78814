/**
 * Which nodes came from another server and have not called here yet. Such a node has a row in the place of its current
 * certificate, whose thumbprint is the SHA-1, because nothing else is known there. The look-up of polls is by SHA-256, so it
 * neither finds these rows nor has to leave them out. All that asks for a node's current certificate goes on as it is: its
 * end in lists and metrics, its deletion with the node, and its replacement by a registration. A table of its own would
 * need each of them twice.
 */

import { type Awaitable, andThen } from '../lib/awaitable.ts';
import type { ChangeFeed } from './change-feed.ts';
import type { NodeReader } from './node-reader.ts';

/** Hexadecimal digits of a SHA-1. */
const SHA1_DIGITS = 40;

/** After so many changes of certificates with a SHA-1 the set is read anew, so that it goes when no node is left. */
const MOST_CHANGES = 1_000;

/**
 * The SHA-1 thumbprints that nodes may await. The set has all that are awaited, and a few more: the feed says that something
 * has changed, and not what. So a certificate that is in the set is looked for in the database, and any other is not.
 */
export class AwaitingCertificates {
  private readonly reader: NodeReader;
  /** Null until somebody asks. Each process has its own, and an empty one costs nothing. */
  private possible: Set<string> | null = null;
  /** The reading that is under way, which all share that ask meanwhile. */
  private reading: Promise<Set<string>> | null = null;
  /** Rises with each change. What was read while it rose may be older than what the feed told of. */
  private ends = 0;
  private changes = 0;

  constructor(reader: NodeReader, feed: ChangeFeed) {
    this.reader = reader;
    feed.subscribe({
      onChange: (kind, key) => {
        if (kind === 'certificates' && key.length === SHA1_DIGITS) this.note(key);
      },
      onLost: () => this.forget(),
    });
  }

  /**
   * Whether a node may await the certificate. It is as current as the feed.
   * @param sha1Thumbprint in 40 upper-case hexadecimal digits
   */
  has(sha1Thumbprint: string): Awaitable<boolean> {
    if (this.possible !== null) return this.possible.has(sha1Thumbprint);
    return andThen(this.read(), (possible) => possible.has(sha1Thumbprint));
  }

  private read(): Awaitable<Set<string>> {
    if (this.reading !== null) return this.reading;
    const thumbprints = this.reader.awaiting();
    if (!(thumbprints instanceof Promise)) return this.keep(new Set(thumbprints));
    this.reading = this.keepLater(thumbprints);
    return this.reading;
  }

  private async keepLater(thumbprints: Promise<readonly string[]>): Promise<Set<string>> {
    const { ends } = this;
    try {
      const possible = new Set(await thumbprints);
      return ends === this.ends ? this.keep(possible) : possible;
    } finally {
      if (ends === this.ends) this.reading = null;
    }
  }

  private keep(possible: Set<string>): Set<string> {
    this.possible = possible;
    this.changes = 0;
    return possible;
  }

  private note(sha1Thumbprint: string): void {
    this.changes += 1;
    if (this.possible === null || this.changes > MOST_CHANGES) this.forget();
    else this.possible.add(sha1Thumbprint);
  }

  private forget(): void {
    this.ends += 1;
    this.reading = null;
    this.possible = null;
  }
}
