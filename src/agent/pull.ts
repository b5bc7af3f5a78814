/** Gets what the node should have: polls, downloads, verifies, unpacks, switches. */

import { rm } from 'node:fs/promises';
import type { Log } from '../lib/log.ts';
import type { BundleStore } from './bundles.ts';
import type { LcmStatus, NodeCalls, Polled } from './node-api.ts';

export interface PullOptions {
  calls: NodeCalls;
  bundles: BundleStore;
  /** Bytes of a bundle, packed and unpacked. */
  limit: number;
  tell: (status: LcmStatus) => Promise<void>;
  log: Log;
}

/** A publish between poll and download makes the two differ; that it always does is no coincidence any more. */
const ATTEMPTS = 3;
/** RFC 9530: a dictionary of digests, of which we understand one. */
const SHA256_MEMBER = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/]{43}=):/;

/**
 * @returns what is in use now; null where the server has nothing for this node, which then keeps what it has
 * @throws Refusal, the system's error, or an Error for a bundle that is not what it should be
 */
export async function pull(options: PullOptions): Promise<Polled | null> {
  const { calls, bundles, log } = options;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const current = await bundles.current();
    const polled = await calls.poll(current?.checksum ?? null);
    if (polled === 'same') return current;
    if (polled === 'nothing') {
      log.info({ keeps: current?.checksum ?? null }, 'nothing to pull');
      return null;
    }
    if (!(await bundles.has(polled)) && !(await fetchBundle(polled, options))) continue;
    await bundles.switchTo(polled);
    const { configurationName, version, checksum } = polled;
    log.info({ configurationName, version, checksum }, 'switched');
    return polled;
  }
  throw new Error('The configuration changes faster than it can be downloaded');
}

/** @returns false when it is another bundle than was polled */
async function fetchBundle(polled: Polled, { calls, bundles, limit, tell }: PullOptions): Promise<boolean> {
  await tell('Downloading');
  const archive = bundles.downloadPath();
  try {
    const { headers, digest } = await calls.bundle(archive, limit);
    if (digest === null || promisedDigest(headers['repr-digest']) !== digest) {
      throw new Error('The bundle is not what its Repr-Digest says');
    }
    if (headers.etag !== `"${polled.checksum}"`) return false;
    await bundles.install(polled, archive, limit);
    return true;
  } finally {
    await rm(archive, { force: true });
  }
}

function promisedDigest(header: string | string[] | undefined): string | null {
  return SHA256_MEMBER.exec(String(header ?? ''))?.[1] ?? null;
}
