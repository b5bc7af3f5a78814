/**
 * Nodes that came from another server, of whose certificate only its SHA-1, its subject and its end are known. The first call
 * of a certificate that has all three is the proof, because TLS has shown that the caller has its key. From then on the node
 * is known by its SHA-256, like any other.
 */

import { type Selectable, sql } from 'kysely';
import type { Database, Db } from '../db/database.ts';
import { engineOf } from '../db/engine-of.ts';
import { IS_AWAITING, type NodeCertificatesTable } from '../db/node-tables.ts';
import { dotNetSubject } from '../domain/dotnet-name.ts';
import { SECOND } from '../lib/clock.ts';
import { unauthenticated } from '../lib/errors.ts';
import { recordAudit } from './audit.ts';
import type { CertificateDescription, PresentedCertificate } from './certificates.ts';
import { insertCertificate, isInUse, pinCertificate } from './pending-certificates.ts';

type CertificateRow = Selectable<NodeCertificatesTable>;

/** A certificate as the connection shows it. */
export type ShownCertificate = CertificateDescription & Pick<PresentedCertificate, 'der'>;

interface Circumstances {
  requestId: string | null;
  address: string | null;
  now: number;
}

/** What another server has stored of a node's certificate. */
export interface AwaitedCertificate {
  /** It is in hexadecimal digits of any case. */
  sha1Thumbprint: string;
  /** As .NET writes it. */
  subject: string;
  /** In epoch milliseconds. */
  notAfter: number;
}

/** Whether the row is of a node that has not shown its certificate yet. */
export function isAwaiting(row: Pick<CertificateRow, 'state' | 'thumbprint' | 'sha1_thumbprint'>): boolean {
  return row.state === 'current' && row.thumbprint === row.sha1_thumbprint;
}

/** Stores what is known of the certificate of a node that has none yet. No two nodes may await the same one. */
export async function awaitCertificate(
  trx: Db,
  nodeId: string,
  { sha1Thumbprint, subject, notAfter }: AwaitedCertificate,
  now: number,
): Promise<void> {
  const thumbprint = sha1Thumbprint.toUpperCase();
  const certificate = { thumbprint, sha1Thumbprint: thumbprint, subject, notBefore: 0, notAfter };
  await insertCertificate(trx, { nodeId, state: 'current', now }, certificate);
}

/**
 * Awaits another certificate of a node, which has replaced the one that was awaited at the server that it comes from.
 * @returns false where the node has shown its certificate meanwhile, which stays
 */
export async function awaitAnother(
  trx: Db,
  nodeId: string,
  certificate: AwaitedCertificate,
  now: number,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('node_certificates')
    .where('node_id', '=', nodeId)
    .where(sql<boolean>`${sql.raw(IS_AWAITING)}`)
    .executeTakeFirst();
  if (numDeletedRows !== 1n) return false;
  await awaitCertificate(trx, nodeId, certificate, now);
  return true;
}

/** Whether the node is expected: it awaits a certificate of which nothing is known, so that any will do. */
export async function isExpected(db: Db, nodeId: string): Promise<boolean> {
  return (await expectedAmong(db, [nodeId])).length > 0;
}

/** Those of these nodes whose machines have not come yet. */
export async function expectedAmong(db: Db, nodeIds: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('node_certificates')
    .select('node_id')
    .where(engineOf(db).isOneOf('node_id', nodeIds))
    .where('state', '=', 'current')
    .execute();
  const come = new Set(rows.map(({ node_id }) => node_id));
  return nodeIds.filter((nodeId) => !come.has(nodeId));
}

/** How many nodes have not shown a certificate yet. */
export async function countAwaiting(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('nodes')
    // It is written out, because an index for a part of the rows is not found by parameters.
    .where(sql<boolean>`is_awaiting = 1`)
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Binds the certificate to the node that awaits it. Does nothing where none does, or where the row says something else.
 * @param presented by the connection, and trusted if a node CA is configured
 * @throws HawserError unauthenticated when it has expired
 */
export async function bindAwaited(
  database: Database,
  presented: PresentedCertificate,
  circumstances: Circumstances,
): Promise<void> {
  const certificate = { ...presented.describe(), der: () => presented.der() };
  // A certificate that does not fit may come again and again, and must not hold up those who write.
  const awaiting = await findAwaiting(database.read, certificate);
  if (awaiting === undefined) return;
  if (certificate.notAfter <= circumstances.now) throw unauthenticated('The certificate has expired');
  await database.write
    .transaction()
    .execute((trx) => bindWithin(trx, awaiting.node_id, certificate, circumstances));
}

/**
 * Binds the certificate if this node awaits it.
 * @returns whether it did
 */
export async function bindWithin(
  trx: Db,
  nodeId: string,
  certificate: ShownCertificate,
  { requestId, address, now }: Circumstances,
): Promise<boolean> {
  const awaiting = await findAwaiting(trx, certificate);
  if (awaiting?.node_id !== nodeId || (await isInUse(trx, certificate))) return false;
  // Of two first calls at once, only one finds the row to delete.
  const { numDeletedRows } = await trx
    .deleteFrom('node_certificates')
    .where('node_id', '=', nodeId)
    .where('state', '=', 'current')
    .where('thumbprint', '=', awaiting.thumbprint)
    .executeTakeFirst();
  if (numDeletedRows !== 1n) return false;
  await pinCertificate(trx, nodeId, certificate, now);
  const actor = { type: 'Node', id: nodeId, name: null, tokenId: null, address, requestId, at: now } as const;
  const { thumbprint, sha1Thumbprint } = certificate;
  const details = { thumbprint, sha1Thumbprint };
  await recordAudit(trx, actor, { action: 'node.certificate_bound', resourceId: nodeId, details });
  return true;
}

/** The row that this certificate fits in all that is known. */
async function findAwaiting(db: Db, certificate: ShownCertificate): Promise<CertificateRow | undefined> {
  const row = await awaitingRows(db)
    .selectAll()
    .where('thumbprint', '=', certificate.sha1Thumbprint)
    .executeTakeFirst();
  return row !== undefined && fits(row, certificate) ? row : undefined;
}

/** The condition is written out, because an index for a part of the rows is not found by parameters. */
function awaitingRows(db: Db) {
  return db.selectFrom('node_certificates').where(sql<boolean>`${sql.raw(IS_AWAITING)}`);
}

/** SHA-1 alone is not enough, because somebody can make two certificates with the same SHA-1. */
function fits(row: CertificateRow, { notAfter, der }: ShownCertificate): boolean {
  if (Math.floor(row.not_after / SECOND) !== Math.floor(notAfter / SECOND)) return false;
  const bytes = der();
  return (['windows', 'linux'] as const).some((system) => row.subject === dotNetSubject(bytes, system));
}
