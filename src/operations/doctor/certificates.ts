/** When certificates and revocation lists expire: the server's, its authority's, those of the settings, and the nodes'. */

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/database.ts';
import { readSecret } from '../../db/secrets.ts';
import { unlessAbsent } from '../../git/disk-errors.ts';
import { DAY, toTimestamp } from '../../lib/clock.ts';
import { createLog } from '../../lib/log.ts';
import { nextUpdateOf } from '../../security/certificate-authority.ts';
import { describeCertificate, splitCrls } from '../../security/certificates.ts';
import { faultOfAuthority } from '../../security/tls-files.ts';
import { loadGivenCertificate, loadNodeTrust } from '../../security/tls-settings.ts';
import { type Check, describeFailure, type Finding, faultOf, noteOf, warningOf } from './findings.ts';

const SOON = 30 * DAY;
const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @param db null when the database cannot be read */
export async function checkCertificates(config: Config, db: Db | null, now: number): Promise<Check> {
  const parts: [where: string, look: () => Promise<Finding[]>][] = [
    ['the built-in authority', () => checkAuthority(config, db, now)],
    ["the server's certificate", () => checkOwn(config, now)],
    ['HAWSER_NODE_CA', () => checkNodeTrust(config, now)],
    ['node certificates', async () => (db === null ? [] : checkNodes(db, now))],
  ];
  const findings: Finding[] = [];
  for (const [where, look] of parts) {
    const found = await look().catch((error: unknown) => [faultOf(where, describeFailure(error), null)]);
    findings.push(...found);
  }
  return { name: 'certificates', summary: "the server's, its authority's and the nodes'", findings };
}

async function checkAuthority(config: Config, db: Db | null, now: number): Promise<Finding[]> {
  if (config.databaseUrl !== null) return db === null ? [] : checkSharedAuthority(db, now);
  const { dataDir } = config;
  const path = join(dataDir, 'tls/ca.crt');
  const certificate = await readIfPresent(path);
  if (certificate === null) {
    const remedy =
      'restore data/tls from a backup: the next start makes a new authority, which no node knows';
    return [warningOf(path, 'there is none', remedy)];
  }
  const key = (await readIfPresent(join(dataDir, 'tls/ca.key'))) ?? '';
  const fault = faultOfAuthority({ certificate, key });
  if (fault !== null) return [faultOf(path, fault, 'restore data/tls from a backup')];
  const remedy = 'a new authority is needed: remove data/tls, start, and give the new ca.crt to all clients';
  return judgeTerm(path, certificate, now, remedy);
}

/** Looks at the authority that the servers on one database share. Before the first start there is none. */
async function checkSharedAuthority(db: Db, now: number): Promise<Finding[]> {
  const where = 'the authority in the table "secrets"';
  const [certificate, key] = await Promise.all([readSecret(db, 'ca.crt'), readSecret(db, 'ca.key')]);
  if (certificate === null) {
    const remedy = 'the next start makes a new one, or takes over that of data/tls if it has its key';
    return [warningOf(where, 'there is none', remedy)];
  }
  const authority = { certificate: certificate.toString(), key: key?.toString() ?? '' };
  const fault = faultOfAuthority(authority);
  if (fault !== null) return [faultOf(where, fault, 'restore the database from a backup')];
  const remedy =
    'a new authority is needed: delete ca.crt and ca.key from it, remove data/tls of each server, start, and give ' +
    'the new ca.crt to all clients';
  return judgeTerm(where, authority.certificate, now, remedy);
}

async function checkOwn({ dataDir, tls, nodeCaFile, nodeCrlFile }: Config, now: number): Promise<Finding[]> {
  if (!tls.isOn) return [];
  if (tls.certFile === null) {
    const path = join(dataDir, 'tls/server.crt');
    const certificate = await readIfPresent(path);
    const remedy = 'restart the server: it makes another when 30 days are left, and looks twice a day';
    return certificate === null ? [] : judgeTerm(path, certificate, now, remedy, SOON - DAY);
  }
  const settings = { certFile: tls.certFile, keyFile: tls.keyFile, nodeCaFile, nodeCrlFile };
  const { certificate } = await loadGivenCertificate({ ...settings, now, log: createLog('silent') });
  return judgeTerm(tls.certFile, certificate, now, 'put a new one in its place and send the server SIGHUP');
}

async function checkNodeTrust({ tls, nodeCaFile, nodeCrlFile }: Config, now: number): Promise<Finding[]> {
  const settings = { certFile: tls.certFile, keyFile: tls.keyFile, nodeCaFile, nodeCrlFile };
  const { nodeCa, nodeCrl } = await loadNodeTrust({ ...settings, now, log: createLog('silent') });
  const remedy = 'put a new one in its place and send the server SIGHUP: nodes under it are refused';
  const authorities = nodeCa?.match(CERTIFICATE_BLOCK) ?? [];
  const lists = nodeCrl === null ? [] : splitCrls(nodeCrl);
  return [
    ...authorities.flatMap((pem) => judgeTerm(nodeCaFile ?? '', pem, now, remedy)),
    ...lists
      .filter((list) => (nextUpdateOf(list) ?? Number.POSITIVE_INFINITY) < now)
      .map(() => faultOf(nodeCrlFile ?? '', 'a list is past its next update', remedy)),
  ];
}

function judgeTerm(path: string, pem: string, now: number, remedy: string, soon = SOON): Finding[] {
  const { subject, notBefore, notAfter } = describeCertificate(new X509Certificate(pem));
  if (notAfter < now) return [faultOf(path, `${subject} expired on ${toTimestamp(notAfter)}`, remedy)];
  if (notBefore > now)
    return [faultOf(path, `${subject} is not valid before ${toTimestamp(notBefore)}`, remedy)];
  if (notAfter >= now + soon) return [];
  return [warningOf(path, `${subject} expires on ${toTimestamp(notAfter)}`, remedy)];
}

async function checkNodes(db: Db, now: number): Promise<Finding[]> {
  const { expired, soon } = await db
    .selectFrom('node_certificates')
    .where('state', '=', 'current')
    .select((of) => [
      of.fn.countAll<number>().filterWhere('not_after', '<', now).as('expired'),
      of.fn
        .countAll<number>()
        .filterWhere('not_after', '>=', now)
        .filterWhere('not_after', '<', now + SOON)
        .as('soon'),
    ])
    .executeTakeFirstOrThrow();
  const where = 'node certificates';
  const remedy = 'these nodes can no longer get in: register each anew, or delete it';
  const renewal = 'nothing, if their agents renew them; GET /api/v1/nodes shows which';
  return [
    ...(expired > 0 ? [warningOf(where, `${expired} have expired`, remedy)] : []),
    ...(soon > 0 ? [noteOf(where, `${soon} expire within 30 days`, renewal)] : []),
  ];
}

function readIfPresent(path: string): Promise<string | null> {
  return unlessAbsent(readFile(path, 'utf8'), null);
}
