/** Hands bundles to callers, each of whom may be receiving a few at a time. */

import { type Answer, download, type PieceByPiece } from '../http/answer.ts';
import { overloaded } from '../http/load-shedder.ts';
import { WHOLE } from '../http/pieces.ts';
import type { RequestFacts } from '../http/route.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { Tally } from '../lib/tally.ts';
import type { Principal } from '../security/principal.ts';
import type { Bundle, BundleCache, BundleSource } from './bundle-cache.ts';

/** How many bundles a caller may be receiving at once. A large one that is not read holds a file and a connection. */
const MAX_OPEN = 2;

/** The headers of an answer that is a bundle, for the API description. */
export const ZIP_HEADERS = {
  'Content-Disposition': 'A file name of configuration and version',
  'Repr-Digest': 'SHA-256 of the bytes (RFC 9530)',
};

export class BundleDownloads {
  private readonly cache: BundleCache;
  private readonly open = new OpenBundles();

  constructor(cache: BundleCache) {
    this.cache = cache;
  }

  /**
   * The bundle of a source for one caller, who holds it until the exchange is over.
   * @throws HawserError unavailable `overloaded` while the caller is receiving as many as it may; `repository_damaged`;
   *   storage_full
   */
  get(source: BundleSource, principal: Principal, facts: Pick<RequestFacts, 'over'>): Awaitable<Bundle> {
    const known = this.cache.peek(source);
    // A small bundle is handed to the connection at once, so it keeps nothing open.
    if (known !== undefined && known.length <= WHOLE) return known;
    this.open.add(callerOf(principal), facts.over);
    return known ?? this.cache.get(source, facts.over);
  }
}

/**
 * The answer that is a bundle.
 * @param validator what its ETag says, without quotes
 */
export function zipDownload(
  { name, version, validator }: { name: string; version: string; validator: string },
  { body, digest }: { body: Buffer | PieceByPiece; digest: string },
): Answer {
  return download(body, 'application/zip', validator, {
    'Content-Disposition': `attachment; filename="${name}-v${version}.zip"`,
    'Repr-Digest': digest,
  });
}

function callerOf(principal: Principal): string {
  return principal.kind === 'node' ? `node ${principal.node.nodeId}` : `user ${principal.userId}`;
}

/** The bundles that each caller is receiving. */
export class OpenBundles {
  private readonly open = new Tally();

  /**
   * Counts a bundle until the signal is aborted.
   * @param caller is one node or one user
   * @param over is aborted when the answer has been handed over in full, or broken off
   * @throws HawserError unavailable `overloaded`
   */
  add(caller: string, over: AbortSignal): void {
    if (this.open.of(caller) >= MAX_OPEN)
      throw overloaded(`${MAX_OPEN} bundles are on their way to this caller already`);
    if (over.aborted) return;
    this.open.add(caller, 1);
    over.addEventListener('abort', () => this.open.add(caller, -1), { once: true });
  }
}
