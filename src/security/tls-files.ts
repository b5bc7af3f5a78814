/**
 * The keys and certificates of TLS: the built-in authority and the server's certificate under `data/tls/`, or the files
 * that the settings name. They are made on the first start, checked on every start, and read again on a reload.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY } from '../lib/clock.ts';
import { type HawserError, internal } from '../lib/errors.ts';
import { flushFolder, tighten } from '../lib/folders.ts';
import type { Log } from '../lib/log.ts';
import { readIfPresent, writeSecretFile } from '../lib/secret-file.ts';
import type { KeyedCertificate } from './certificate-authority.ts';
import { hasNames } from './certificate-names.ts';
import { describeCertificate, isWithinTerm } from './certificates.ts';
import { loadGivenCertificate, loadNodeTrust, type NodeTrust, type TlsSettings } from './tls-settings.ts';

export interface TlsFiles extends TlsSettings {
  /** Without TLS the server has no certificate, but the authority exists all the same. */
  isOn: boolean;
  dataDir: string;
  /** Host names and addresses of the certificate that is made here. There is at least one. */
  names: readonly string[];
  /** Where the servers on one database keep their authority; null where it is in files of the data folder. */
  sharedAuthority: AuthorityStore | null;
}

/** Where the built-in authority is kept. Contents are PEM. */
export interface AuthorityStore {
  /** The name of the place in messages. */
  name: string;
  /** @returns null where there is none */
  read(part: 'ca.crt' | 'ca.key'): Promise<string | null>;
  write(part: 'ca.crt' | 'ca.key', content: string): Promise<void>;
}

/** All texts are PEM. */
export interface TlsMaterial extends NodeTrust {
  /** The server's certificate and its intermediates; null without TLS. */
  server: KeyedCertificate | null;
  /** The built-in authority, which always exists, because it issues the certificates of nodes. */
  ca: KeyedCertificate;
}

const RENEW_BEFORE = 30 * DAY;

/** Loads what makes certificates. Its library takes a tenth of a second, and most starts make no certificate. */
export const certificateMaker = () => import('./certificate-authority.ts');

/**
 * Loads everything, and makes or renews what the operator does not give.
 * @throws HawserError `invalid_tls_setting` (the message names the setting), `invalid_tls_name`,
 *   `tls_files_damaged` (the authority on the disk cannot be used), or the system's own error
 */
export async function loadTlsMaterial(files: TlsFiles): Promise<TlsMaterial> {
  const folder = await openFolder(files);
  const ca = await loadAuthority(await openAuthority(folder, files), files);
  await keepCopy(folder, ca, files);
  const isGiven = files.certFile !== null || files.keyFile !== null;
  const load = () => (isGiven ? loadGivenCertificate(files) : loadMadeCertificate(folder, ca, files));
  return { server: files.isOn ? await load() : null, ca, ...(await loadNodeTrust(files)) };
}

async function openFolder({ dataDir, log }: TlsFiles): Promise<string> {
  const folder = join(dataDir, 'tls');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await tighten(folder, 0o700, log);
  // A crash can leave temporary files of writes that were not finished.
  for (const name of await readdir(folder)) {
    if (name.endsWith('.tmp')) await unlink(join(folder, name));
  }
  // Even an old folder is flushed: an earlier start may have been killed after making it, and before flushing it.
  for (const made of [folder, dataDir]) await flushFolder(made);
  return folder;
}

function authorityInFolder(folder: string, log: Log): AuthorityStore {
  const pathOf = (part: string) => join(folder, part);
  return {
    name: 'data/tls',
    read: (part) => (part === 'ca.key' ? readKeyIfPresent(pathOf(part), log) : readIfPresent(pathOf(part))),
    write: (part, content) => writeSecretFile(pathOf(part), content),
  };
}

/**
 * Gives the place of the authority. If the place that servers share has none yet, it takes over that of this data folder,
 * which the nodes know: the server had its authority there before, or it was restored there.
 */
async function openAuthority(folder: string, { sharedAuthority, log }: TlsFiles): Promise<AuthorityStore> {
  const own = authorityInFolder(folder, log);
  if (sharedAuthority === null) return own;
  if ((await sharedAuthority.read('ca.crt')) !== null) return sharedAuthority;
  const [certificate, key] = [await own.read('ca.crt'), await own.read('ca.key')];
  if (certificate === null || key === null) return sharedAuthority;
  const fault = faultOfAuthority({ certificate, key });
  if (fault !== null) throw damaged(own, fault);
  await sharedAuthority.write('ca.key', key);
  await sharedAuthority.write('ca.crt', certificate);
  log.info({ from: folder, to: sharedAuthority.name }, 'took over the built-in certificate authority');
  return sharedAuthority;
}

/** Each server has the authority's certificate as a file for its clients. An authority that a folder has had stays. */
async function keepCopy(
  folder: string,
  ca: KeyedCertificate,
  { sharedAuthority, log }: TlsFiles,
): Promise<void> {
  if (sharedAuthority === null) return;
  const own = authorityInFolder(folder, log);
  if ((await own.read('ca.key')) !== null || (await own.read('ca.crt')) === ca.certificate) return;
  await own.write('ca.crt', ca.certificate);
}

async function loadAuthority(store: AuthorityStore, { now, log }: TlsFiles): Promise<KeyedCertificate> {
  const certificate = await store.read('ca.crt');
  const key = await store.read('ca.key');
  if (certificate === null) {
    // A key without a certificate is left by a first start that was killed. This start completes it.
    const ca = await makeAuthority(store, now, key);
    if (key === null) await store.write('ca.key', ca.key);
    await store.write('ca.crt', ca.certificate);
    log.info({ in: store.name }, 'made the built-in certificate authority');
    return ca;
  }
  const ca = { certificate, key: key ?? '' };
  const fault = faultOfAuthority(ca);
  if (fault !== null) throw damaged(store, fault);
  const { notAfter } = describeCertificate(new X509Certificate(certificate));
  if (notAfter < now + RENEW_BEFORE) log.error({ notAfter }, 'the built-in certificate authority expires');
  return ca;
}

async function makeAuthority(
  store: AuthorityStore,
  now: number,
  key: string | null,
): Promise<KeyedCertificate> {
  try {
    const { createAuthority } = await certificateMaker();
    return await createAuthority(now, key ?? undefined);
  } catch (error) {
    throw damaged(store, 'ca.key is not a P-256 private key', error);
  }
}

/** Why the pair cannot be the built-in authority; null when it can. */
export function faultOfAuthority({ certificate, key }: KeyedCertificate): string | null {
  if (key === '') return 'the key is missing';
  try {
    const parsed = new X509Certificate(certificate);
    const privateKey = createPrivateKey(key);
    if (!parsed.checkPrivateKey(privateKey)) return 'the key belongs to another certificate';
    if (privateKey.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return 'the key is not a P-256 key';
    return parsed.ca ? null : 'the certificate is not one of an authority';
  } catch {
    return 'one of them cannot be read';
  }
}

function damaged({ name }: AuthorityStore, fault: string, cause?: unknown): HawserError {
  const advice = 'restore them from a backup, or remove both to begin with a new authority';
  return internal('tls_files_damaged', `ca.crt and ca.key in ${name}: ${fault}; ${advice}`, cause);
}

async function loadMadeCertificate(
  folder: string,
  ca: KeyedCertificate,
  { names, now, log }: TlsFiles,
): Promise<KeyedCertificate> {
  const paths = { certificate: join(folder, 'server.crt'), key: join(folder, 'server.key') };
  const certificate = (await readIfPresent(paths.certificate)) ?? '';
  const key = (await readKeyIfPresent(paths.key, log)) ?? '';
  const reason = reasonToRenew({ certificate, key }, ca, names, now);
  if (reason === null) return { certificate, key };
  const { issueServerCertificate } = await certificateMaker();
  const made = await issueServerCertificate(ca, names, now);
  // The key is written first. After a crash in between the two do not match, and the next start makes both again.
  await writeSecretFile(paths.key, made.key);
  await writeSecretFile(paths.certificate, made.certificate);
  log.info({ path: paths.certificate, names, reason }, 'made a server certificate');
  return made;
}

function reasonToRenew(
  { certificate, key }: KeyedCertificate,
  ca: KeyedCertificate,
  names: readonly string[],
  now: number,
): string | null {
  if (certificate === '' || key === '') return 'there is none';
  try {
    const parsed = new X509Certificate(certificate);
    const issuer = new X509Certificate(ca.certificate);
    if (!parsed.checkPrivateKey(createPrivateKey(key))) return 'its key is another one';
    if (!parsed.checkIssued(issuer) || !parsed.verify(issuer.publicKey)) return 'another authority signed it';
    const term = describeCertificate(parsed);
    if (!isWithinTerm({ ...term, notAfter: term.notAfter - RENEW_BEFORE }, now)) return 'its term ends';
    return hasNames(parsed, names) ? null : 'the names have changed';
  } catch {
    return 'it cannot be read';
  }
}

async function readKeyIfPresent(path: string, log: Log): Promise<string | null> {
  const content = await readIfPresent(path);
  if (content !== null) await tighten(path, 0o600, log);
  return content;
}
