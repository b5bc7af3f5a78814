/**
 * Where a configuration requires that versions are signed: why one cannot be offered. Whatever makes a version come to be offered asks
 * here (docs/decisions/0090). What is published stays offered, whoever may sign since.
 */

import type { Db } from '../db/database.ts';
import { findSigning } from '../db/signing.ts';
import type { Signing } from '../domain/signing.ts';
import { conflict, type HawserError } from '../lib/errors.ts';
import type { GrantedResource } from '../security/access.ts';
import { checkVersion, type SignatureCheck } from '../versions/signature-checks.ts';
import type { GitStore } from '../versions/store.ts';
import type { VersionRef } from '../versions/types.ts';

export interface SignatureTools {
  database: { read: Db };
  store: Pick<GitStore, 'details' | 'fileInfos' | 'tagObject'>;
  /** What deeds before this one say of who may sign, by the ids of the configurations, where they are one step with it. */
  signing?: ReadonlyMap<string, Signing> | undefined;
}

/** A version that is about to be offered. */
interface Offered {
  resource: Pick<GrantedResource, 'id' | 'name'>;
  ref: VersionRef;
  now: number;
}

/** @returns conflict `signature_required` or `signature_invalid`; null where nothing is required, and for a valid one */
export async function signatureBlocker(
  { database, store, signing: changed }: SignatureTools,
  { resource: { id, name }, ref, now }: Offered,
): Promise<HawserError | null> {
  const signing = changed?.get(id) ?? (await findSigning(database.read, id));
  if (signing.require === 'Off') return null;
  const details = await store.details({ kind: 'configurations', name }, ref);
  return blockerOf(signing, await checkVersion(store, { name, ref, details }, signing, now));
}

/** @throws HawserError as `signatureBlocker` gives */
export async function requireSigned(tools: SignatureTools, offered: Offered): Promise<void> {
  const blocker = await signatureBlocker(tools, offered);
  if (blocker) throw blocker;
}

/** Why a verdict is not enough. @param check null for a version without any tag of an author */
export function blockerOf({ require }: Signing, check: SignatureCheck | null): HawserError | null {
  if (require === 'Off' || check?.status === 'Valid') return null;
  if (check === null || check.status === 'Unsigned')
    return conflict(
      'signature_required',
      'Versions of this configuration must be signed: sign the draft by hawserctl config sign, or push a tag of git tag -s with -o keep',
    );
  const { reason, fingerprint } = check;
  const code = reason ?? 'bad_signature';
  const message = `The signature of the tag does not count (${code}): ${WORDS[code]}`;
  const by = fingerprint === null ? '' : ` (${fingerprint})`;
  const errors = [{ path: '/signature', message: message + by, code }];
  return conflict('signature_invalid', message + by, { errors });
}

const WORDS: Record<NonNullable<SignatureCheck['reason']>, string> = {
  bad_format: 'it cannot be read',
  bad_signature: 'it is not of this tag',
  unknown_signer: 'nobody who may sign has this key',
  wrong_namespace: 'it, or the line of its key, is for another purpose than git',
  not_yet_valid: 'the line of its key begins to be valid later',
  expired: 'the line of its key is no longer valid',
  wrong_name: 'the tag names another configuration or version; it needs one trailer "Configuration: <name>"',
  wrong_entry_point: 'the tag names another entry point; it needs one trailer "Entry-Point: <path>"',
  wrong_files: 'the tag names other files; it needs one trailer "Files-SHA256: <digest>"',
};
