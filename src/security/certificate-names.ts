/** The host names and addresses of the certificates that are made here. */

import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { invalid } from '../lib/errors.ts';

/** A first label may be a wildcard. */
const HOST_NAME = /^(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/** A wildcard then matches itself and nothing else, and the subject does not count as a name. */
const LITERALLY = { wildcards: false, subject: 'never' } as const;

/**
 * Whether a certificate that was made here has exactly these names, in any order. None of its names holds a comma. Each
 * start asks this, so it does without the library that makes certificates, which takes a tenth of a second to load.
 * @throws HawserError `invalid_tls_name`
 */
export function hasNames(certificate: X509Certificate, names: readonly string[]): boolean {
  const wanted = new Set(names.map(toAsciiName));
  const present = certificate.subjectAltName?.split(', ') ?? [];
  const has = (name: string) =>
    isIP(name) === 0 ? certificate.checkHost(name, LITERALLY) : certificate.checkIP(name);
  return present.length === wanted.size && [...wanted].every((name) => has(name) !== undefined);
}

/** @throws HawserError `invalid_tls_name` for what is neither a host name nor an address */
export function toAsciiName(name: string): string {
  const lower = name.toLowerCase();
  // An address with a zone (fe80::1%eth0) has a meaning on one machine only, and cannot be encoded here.
  if (isIP(lower) !== 0 && !lower.includes('%')) return lower;
  if (HOST_NAME.test(lower)) return lower;
  // Line breaks and tabs are refused here, because the conversion would remove them.
  const ascii = /[\s\p{Cc}]/u.test(lower) ? '' : domainToASCII(lower);
  if (!HOST_NAME.test(ascii)) {
    throw invalid('invalid_tls_name', `'${name}' is neither a host name nor an IP address.`);
  }
  return ascii;
}
