/**
 * Which addresses webhooks may be at. Whoever may make webhooks must not be able to make the server call what only the
 * server can reach, so no address is called that is not public, by the special-purpose registries of IANA (RFC 6890).
 */

import { isIPv4, isIPv6 } from 'node:net';
import { AddressSet, plainAddress } from '../lib/address-set.ts';

const NOT_PUBLIC_4 = new AddressSet([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'],
  ...['192.168.0.0/16', '192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  // Multicast, and what is reserved behind it.
  '224.0.0.0/3',
]);

/** All other IPv6 addresses are private, local, multicast or mapped, or belong to nobody (RFC 4291 2.4). */
const GLOBAL_6 = new AddressSet(['2000::/3']);

/** Parts of it that are for protocols and documentation, or that hold an IPv4 address, as 6to4 does. */
const NOT_PUBLIC_6 = new AddressSet([
  ...['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'],
]);

/** Whether anybody could reach the address. False if the text is no address. */
export function isPublicAddress(address: string): boolean {
  const plain = plainAddress(address);
  if (isIPv4(plain)) return !NOT_PUBLIC_4.has(plain);
  return isIPv6(plain) && GLOBAL_6.has(plain) && !NOT_PUBLIC_6.has(plain);
}
