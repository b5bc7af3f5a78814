/** The secrets of TLS that all servers on one PostgreSQL database share: the authority, and the keys of session tickets. */

import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { Database } from '../db/database.ts';
import { ensureSecret, keepsSecrets, readSecret, writeSecret } from '../db/secrets.ts';
import type { AuthorityStore, TlsMaterial } from './tls-files.ts';

/** The bytes of the keys of session tickets, as OpenSSL wants them. */
const TICKET_KEYS = 48;

/** Gives the table as the place of the authority; null where the data folder is the place. */
export function sharedAuthority({ write, writeNow }: Database): AuthorityStore | null {
  if (!keepsSecrets(write)) return null;
  return {
    name: 'the table "secrets" of the database',
    read: async (name) => (await readSecret(writeNow, name))?.toString('utf8') ?? null,
    write: (name, content) => writeSecret(writeNow, name, Buffer.from(content)),
  };
}

/**
 * Gives the ticket keys with which each server resumes the TLS sessions of the others; undefined where one server has the
 * database to itself. A session tells that a client's certificate was accepted, so the keys are others wherever other
 * authorities or revocation lists are trusted.
 */
export async function sharedTicketKeys(
  { write, writeNow }: Database,
  { nodeCa, nodeCrl }: Pick<TlsMaterial, 'nodeCa' | 'nodeCrl'>,
): Promise<Buffer | undefined> {
  if (!keepsSecrets(write)) return undefined;
  const secret = await ensureSecret(writeNow, 'ticket-keys', () => randomBytes(TICKET_KEYS));
  const trust = createHash('sha256')
    .update(JSON.stringify([nodeCa, nodeCrl]))
    .digest();
  return Buffer.from(hkdfSync('sha256', secret, trust, 'TLS session tickets', TICKET_KEYS));
}
