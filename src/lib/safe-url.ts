/** Which addresses secrets and identities may be asked from. */

import { isLoopback } from './address-set.ts';

/**
 * Whether this is an `https` URL without a user, query or fragment.
 * @param isDevelopment whether `http` may be used on this machine
 */
export function isSafeUrl(text: string, isDevelopment: boolean): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (`${username}${password}${search}${hash}` !== '' || /[?#]/.test(text)) return false;
  if (protocol === 'https:') return true;
  const host = hostname.replace(/^\[|\]$/g, '');
  return isDevelopment && protocol === 'http:' && isLoopback(host);
}
