/** Finds the client's address in `X-Forwarded-For`, where proxies stand between. */

import { isIP } from 'node:net';
import { type AddressSet, plainAddress } from '../lib/address-set.ts';

/**
 * The right-most entry that is not a trusted proxy itself: each proxy adds on the right whom it was called by, and what
 * is further left may be the caller's own invention.
 * @param peer who the connection is from, a trusted proxy
 * @param header the values of `X-Forwarded-For`, joined by commas; empty for none
 */
export function clientAddress(peer: string, header: string, proxies: AddressSet): string {
  let client = plainAddress(peer);
  for (const entry of header.split(',').reverse()) {
    const address = readEntry(entry.trim());
    // Whoever has written that is the last one who is known.
    if (address === null) break;
    client = address;
    if (!proxies.has(address)) break;
  }
  return client;
}

/** An address, perhaps with a port: `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1`, `[2001:db8::1]:4711`. */
function readEntry(entry: string): string | null {
  const address = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(entry)?.[1] ?? entry.replace(/^([\d.]+):\d{1,5}$/, '$1');
  return isIP(address) === 0 ? null : plainAddress(address);
}
