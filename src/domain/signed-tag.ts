/**
 * An annotated tag that an author may have signed by SSH, and whether it says what it is relied on for. Git's tag object is
 * read from its raw bytes, because these are what is signed.
 */

import { hash } from 'node:crypto';
import { compareBytes } from '../lib/byte-order.ts';
import { type AllowedSigner, servesFor } from './allowed-signers.ts';
import { fingerprintOf, SshFormatError } from './ssh-keys.ts';
import { isSignatureOf, readSshSignature } from './ssh-signature.ts';

/** The namespace in which git signs. */
export const GIT_NAMESPACE = 'git';

/** In the order in which they are looked for. */
export const SIGNATURE_FAULTS = [
  'bad_format',
  'bad_signature',
  'unknown_signer',
  'wrong_namespace',
  'not_yet_valid',
  'expired',
  'wrong_name',
  'wrong_entry_point',
  'wrong_files',
] as const;
export type SignatureFault = (typeof SIGNATURE_FAULTS)[number];

export const SIGNATURE_STATUSES = ['Valid', 'Invalid', 'Unsigned'] as const;
export type SignatureStatus = (typeof SIGNATURE_STATUSES)[number];

/** The verdict, as versions show it. */
export interface SignatureCheck {
  status: SignatureStatus;
  /** The first principal of the signer's line; null where no line has the key. */
  principal: string | null;
  /** Of the key that signed; null where the signature cannot be read. */
  fingerprint: string | null;
  /** Null unless it is Invalid. */
  reason: SignatureFault | null;
}

/** What a tag says, which counts only if its signature does. */
export interface TagClaims {
  /** The name of the tag in its own object, such as `v1.2.0`. */
  tagName: string;
  /** Null for a trailer that is not there exactly once, in the last paragraph. */
  configurationName: string | null;
  entryPoint: string | null;
  filesSha256: string | null;
}

/**
 * A tag as read, which depends on nothing but its bytes. So it may be kept, while the signers change.
 * `unsigned` has no line that begins a signature. `faulty` has a signature that cannot be read, or is not of these bytes.
 */
export type ReadTag =
  | { kind: 'unsigned' }
  | { kind: 'faulty'; reason: 'bad_format'; fingerprint: null }
  | { kind: 'faulty'; reason: 'bad_signature'; fingerprint: string }
  | {
      kind: 'signed';
      blob: Buffer;
      fingerprint: string;
      namespace: string;
      /** The time of the tag in epoch milliseconds. */
      time: number;
      claims: TagClaims;
    };

/** What the tag of a version should say. */
export interface ExpectedClaims {
  configurationName: string;
  version: string;
  entryPoint: string;
  filesSha256: string;
}

export interface HashedFile {
  /** As it is stored. */
  path: string;
  isExecutable: boolean;
  /** Of the file's bytes, 64 lower-case hex digits. */
  sha256: string;
}

/** Any line that begins so is one of a signature for git, or of something like it. */
const BEGIN = /(?:^|\n)-----BEGIN /g;
const BEGIN_SSH = '-----BEGIN SSH ';
/** Git's own tag objects have these lines, in this order. */
const HEADER =
  /^object (?:[0-9a-f]{40}|[0-9a-f]{64})\ntype [a-z]+\ntag ([^\n\0]+)\ntagger [^\n\0]*> (\d{1,12}) [+-]\d{4}\n\n/;
const TRAILERS = {
  configurationName: /^configuration:/i,
  entryPoint: /^entry-point:/i,
  filesSha256: /^files-sha256:/i,
};
const HASH = /^[0-9a-f]{64}$/;
const CONTROL = /\p{Cc}/u;

/** Reads a raw tag object, as `git cat-file tag` writes it, and looks whether its signature is of its own bytes. */
export function readSignedTag(raw: Uint8Array): ReadTag {
  // Each byte is one character, so that places in the text are those in the bytes.
  const text = Buffer.from(raw).toString('latin1');
  const begins = [...text.matchAll(BEGIN)];
  const [begin] = begins;
  if (begin === undefined) return { kind: 'unsigned' };
  if (begins.length > 1) return { kind: 'faulty', reason: 'bad_format', fingerprint: null };
  const start = begin.index + (begin[0].startsWith('\n') ? 1 : 0);
  // Signatures of other kinds are none here.
  if (!text.startsWith(BEGIN_SSH, start)) return { kind: 'unsigned' };
  const header = HEADER.exec(text.slice(0, start));
  if (header === null) return { kind: 'faulty', reason: 'bad_format', fingerprint: null };
  const signature = readOrNull(text.slice(start));
  const payload = Buffer.from(raw).subarray(0, start);
  const message = toUtf8(payload.subarray(header[0].length));
  const tagName = toUtf8(Buffer.from(header[1] ?? '', 'latin1'));
  if (signature === null || message === null || tagName === null)
    return { kind: 'faulty', reason: 'bad_format', fingerprint: null };
  const { blob } = signature.key;
  const fingerprint = fingerprintOf(signature.key);
  if (!isSignatureOf(signature, payload)) return { kind: 'faulty', reason: 'bad_signature', fingerprint };
  const { namespace } = signature;
  const time = Number(header[2]) * 1_000;
  return { kind: 'signed', blob, fingerprint, namespace, time, claims: { tagName, ...readClaims(message) } };
}

/** Who signed the tag, or why its signature does not count. */
export type Signing =
  | { status: 'Unsigned' }
  | { status: 'Invalid'; reason: SignatureFault; principal: string | null; fingerprint: string | null }
  | { status: 'Valid'; principal: string; fingerprint: string; claims: TagClaims };

/**
 * Looks for the first line that fits the signature: its key, its namespace, and the times, which are that of the tag and
 * those given, in epoch milliseconds. Where none fits, the first line with the key says why.
 */
export function judgeSigning(
  tag: ReadTag,
  signers: readonly AllowedSigner[],
  times: readonly number[] = [],
): Signing {
  if (tag.kind === 'unsigned') return { status: 'Unsigned' };
  const { fingerprint } = tag;
  if (tag.kind === 'faulty') return { status: 'Invalid', reason: tag.reason, principal: null, fingerprint };
  const lines = signers.filter((signer) => signer.blob.equals(tag.blob));
  const faultOf = (line: AllowedSigner) => faultOfLine(line, tag.namespace, [tag.time, ...times]);
  const fitting = lines.find((line) => faultOf(line) === null);
  if (fitting !== undefined)
    return {
      status: 'Valid',
      principal: fitting.principal,
      fingerprint: tag.fingerprint,
      claims: tag.claims,
    };
  const [first] = lines;
  const reason = (first && faultOf(first)) ?? 'unknown_signer';
  return { status: 'Invalid', reason, principal: first?.principal ?? null, fingerprint };
}

/** Why the tag serves for another version than this; null when it serves for this one. */
export function claimsFault(
  claims: TagClaims,
  expected: ExpectedClaims,
): 'wrong_name' | 'wrong_entry_point' | 'wrong_files' | null {
  const isNamed = claims.tagName === `v${expected.version}`;
  if (!isNamed || claims.configurationName !== expected.configurationName) return 'wrong_name';
  if (claims.entryPoint !== expected.entryPoint) return 'wrong_entry_point';
  return claims.filesSha256 === expected.filesSha256 ? null : 'wrong_files';
}

/**
 * The verdict about the tag of a version.
 * @param times beside the tag's own: when the version was published, or the present for one that is not published yet
 */
export function checkSignature(
  tag: ReadTag,
  expected: ExpectedClaims,
  signers: readonly AllowedSigner[],
  times: readonly number[],
): SignatureCheck {
  const signing = judgeSigning(tag, signers, times);
  if (signing.status === 'Unsigned')
    return { status: 'Unsigned', principal: null, fingerprint: null, reason: null };
  if (signing.status === 'Invalid') return signing;
  const { principal, fingerprint } = signing;
  const reason = claimsFault(signing.claims, expected);
  return { status: reason === null ? 'Valid' : 'Invalid', principal, fingerprint, reason };
}

/** The digest of a version's files, which stands in the trailer `Files-SHA256`. The order in which they are given is of no matter. */
export function filesSha256(files: readonly HashedFile[]): string {
  const sorted = files.toSorted((a, b) => compareBytes(a.path, b.path));
  const lines = sorted.map(
    ({ path, isExecutable, sha256 }) => `${sha256} ${isExecutable ? '100755' : '100644'} ${path}\n`,
  );
  return hash('sha256', lines.join(''), 'hex');
}

/** The trailers that a signed tag needs, for its last paragraph. */
export function signingTrailers(expected: Omit<ExpectedClaims, 'version'>): Record<string, string> {
  const { configurationName, entryPoint } = expected;
  return {
    Configuration: configurationName,
    'Entry-Point': entryPoint,
    'Files-SHA256': expected.filesSha256,
  };
}

function readOrNull(armor: string): ReturnType<typeof readSshSignature> | null {
  try {
    return readSshSignature(armor);
  } catch (error) {
    if (error instanceof SshFormatError) return null;
    throw error;
  }
}

/** Null for bytes that are no UTF-8, of which two could look the same. */
function toUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function readClaims(message: string): Omit<TagClaims, 'tagName'> {
  const text = message.replaceAll('\r\n', '\n').replace(/\n+$/, '');
  const lines = text.split('\n');
  // A subject alone is no paragraph of trailers.
  const last = text.includes('\n\n') ? text.slice(text.lastIndexOf('\n\n') + 2).split('\n') : [];
  const read = (key: RegExp): string | null => {
    const found = lines.filter((line) => key.test(line));
    const [only = ''] = found;
    const value = only.replace(key, '').replace(/^ /, '');
    if (found.length !== 1 || !last.includes(only) || value === '' || CONTROL.test(value)) return null;
    return value;
  };
  const filesSha256 = read(TRAILERS.filesSha256);
  return {
    configurationName: read(TRAILERS.configurationName),
    entryPoint: read(TRAILERS.entryPoint),
    filesSha256: filesSha256 !== null && HASH.test(filesSha256) ? filesSha256 : null,
  };
}

/** Why the line does not fit; null when it does. Of several reasons the first in `SIGNATURE_FAULTS`. */
function faultOfLine(
  line: AllowedSigner,
  namespace: string,
  times: readonly number[],
): SignatureFault | null {
  if (namespace !== GIT_NAMESPACE || !servesFor(line, namespace)) return 'wrong_namespace';
  // As OpenSSH, which knows whole seconds, the first and the last of which are within the time.
  const seconds = times.map((time) => Math.floor(time / 1_000) * 1_000);
  const { validAfter, validBefore } = line;
  if (validAfter !== null && seconds.some((time) => time < validAfter)) return 'not_yet_valid';
  return validBefore !== null && seconds.some((time) => time > validBefore) ? 'expired' : null;
}
