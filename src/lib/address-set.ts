/** Sets of IP addresses in the form of the settings: single addresses and ranges in CIDR form. */

import { BlockList, isIP } from 'node:net';

/** The prefix of an IPv4 address on a socket that listens on IPv6 (RFC 4291 2.5.5.2). */
const MAPPED = /^::ffff:(?=\d+\.)/i;

/** The address as people write it. An IPv4 address in the form of an IPv6 one loses its prefix. */
export function plainAddress(address: string): string {
  return address.replace(MAPPED, '');
}

/** Whether the text is an address or a range. `/0` is refused, because it would be everybody. */
export function isAddressRange(text: string): boolean {
  return parseRange(text) !== null;
}

/** Whether only this machine can reach a server on this host. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || LOOPBACK.has(host);
}

export class AddressSet {
  readonly isEmpty: boolean;
  private readonly list = new BlockList();

  /** @param ranges must be accepted by `isAddressRange` */
  constructor(ranges: readonly string[]) {
    this.isEmpty = ranges.length === 0;
    for (const text of ranges) {
      const range = parseRange(text);
      if (range !== null) this.list.addSubnet(range.address, range.prefix, range.family);
    }
  }

  /** False if the text is no address. */
  has(address: string): boolean {
    if (this.isEmpty) return false;
    const plain = plainAddress(address);
    const version = isIP(plain);
    return version !== 0 && this.list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  }
}

interface Range {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

function parseRange(text: string): Range | null {
  const [whole = '', digits, ...more] = text.split('/');
  const address = plainAddress(whole);
  const version = isIP(address);
  // A zone (fe80::1%eth0) names the link of an address. A range has no link.
  if (version === 0 || address.includes('%') || more.length > 0) return null;
  const longest = version === 4 ? 32 : 128;
  const prefix = digits === undefined ? longest : /^\d{1,3}$/.test(digits) ? Number(digits) : 0;
  if (prefix < 1 || prefix > longest) return null;
  return { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' };
}

const LOOPBACK = new AddressSet(['127.0.0.0/8', '::1']);
