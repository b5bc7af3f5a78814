/** How the agent recognises the server: by the authorities of the system, by `caFile`, by `fingerprint`, or by both. */

import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import {
  readFingerprint,
  splitCertificates,
  tlsOptions,
  trustByFingerprint,
  VERIFIED,
} from '../client/trust.ts';
import type { AgentSettings } from './settings.ts';

/** The address of the server, and how the agent recognises it. */
export type Destination = Pick<AgentSettings, 'server' | 'ca' | 'fingerprint'>;

/**
 * Finds out what the connections to the server must check. If the fingerprint is all that is known, the server is asked
 * for the certificate that it means; nothing else is sent for that.
 * @throws Unreachable when the server is away, or has no certificate with this fingerprint
 */
export async function tlsFor({ server, ca, fingerprint }: Destination): Promise<ConnectionOptions> {
  if (fingerprint === null) return ca === null ? VERIFIED : { ...VERIFIED, ca };
  if (ca === null) return tlsOptions(await trustByFingerprint(server, fingerprint));
  // Of several authorities in the file only the one with the fingerprint is trusted.
  const authority = splitCertificates(ca).find((each) => isPinned(each, fingerprint));
  if (authority !== undefined) return tlsOptions({ kind: 'authority', pem: authority.toString() });
  return {
    ...VERIFIED,
    ca,
    checkServerIdentity: (host, presented) =>
      checkServerIdentity(host, presented) ??
      (isPinned(presented, fingerprint) ? undefined : new Error('it is not the pinned one (fingerprint)')),
  };
}

function isPinned({ fingerprint256 }: { fingerprint256: string }, fingerprint: string): boolean {
  return readFingerprint(fingerprint256) === fingerprint;
}
