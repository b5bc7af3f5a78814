/** Maps an address to the source for which attempts are counted: a household or a machine, not one of its addresses. */

import { isIPv6 } from 'node:net';

/**
 * For IPv4 this is the address itself. For IPv6 it is the /64, which is the least that a subscriber is given (RFC 6177), and
 * of which a subscriber can use any address. An IPv4 address in the form of an IPv6 one (RFC 4291 2.5.5.2) counts as the
 * IPv4 address. A text that is no address counts as itself.
 */
export function sourceOf(address: string): string {
  // The zone of a link-local address names the link, which is not part of the source.
  const plain = address.replace(/%.*$/s, '');
  if (!isIPv6(plain)) return address;
  const groups = groupsOf(plain);
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.');
  }
  const network = groups.slice(0, 4).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** The eight groups of 16 bits of an IPv6 address. */
function groupsOf(address: string): number[] {
  // The URL parser turns every spelling into one, without a dotted end.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map(readGroups);
  const zeros = new Array<number>(8 - head.length - tail.length).fill(0);
  return [...head, ...zeros, ...tail];
}

function readGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}
