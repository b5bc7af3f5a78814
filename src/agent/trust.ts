/** How the agent recognises the server: by the authorities of the system, by `caFile`, by `fingerprint`, or by both. */

import { X509Certificate } from 'node:crypto';
import { type ConnectionOptions, checkServerIdentity } from 'node:tls';
import { readFingerprint, tlsOptions, trustByFingerprint, VERIFIED } from '../client/trust.ts';
import type { AgentSettings } from './settings.ts';

/** The address of the server, and how the agent recognises it. */
export type Destination = Pick<AgentSettings, 'server' | 'ca' | 'fingerprint'>;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/**
 * Finds out what the connections to the server must check. If the fingerprint is all that is known, the server is asked
 * for the certificate that it means; nothing else is sent for that.
 * @throws Unreachable when the server is away, or has no certificate with this fingerprint
 */
export async function tlsFor({ server, ca, fingerprint }: Destination): Promise<ConnectionOptions> {
  if (fingerprint === null) return ca === null ? VERIFIED : { ...VERIFIED, ca };
  if (ca === null) return tlsOptions(await trustByFingerprint(server, fingerprint));
  // Of several authorities in the file only the one with the fingerprint is trusted.
  const authority = (ca.match(CERTIFICATE) ?? []).find((pem) =>
    isPinned(new X509Certificate(pem), fingerprint),
  );
  if (authority !== undefined) return tlsOptions({ kind: 'authority', pem: authority });
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
