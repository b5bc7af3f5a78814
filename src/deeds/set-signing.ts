/** Sets who may sign the versions of a configuration, and whether they must be signed. */

import type { Db } from '../db/database.ts';
import { findSigning, saveSigning } from '../db/signing.ts';
import { readAllowedSigners } from '../domain/allowed-signers.ts';
import type { ChangedMembers } from '../domain/changed-members.ts';
import { isSameSigning, type Signing } from '../domain/signing.ts';
import { invalid, invalidField } from '../lib/errors.ts';
import type { ChangeOf } from './changes.ts';

/**
 * Saves it as a whole. Runs under the lock of the repository where versions must be signed from then on.
 * @param admitted as `saveSigning`. Who changes what is protected asks `requireDoneAlone` before.
 * @returns what the entry of the audit trail says of it; null where it is the same already
 * @throws HawserError as `requireSigners`
 */
export async function changeSigning(
  trx: Db,
  id: string,
  { signing, admitted }: { signing: Signing; admitted: readonly string[] },
): Promise<ChangedMembers | null> {
  requireSigners(signing);
  const before = await findSigning(trx, id);
  if (isSameSigning(before, signing)) return null;
  await saveSigning(trx, id, signing, admitted);
  return { signing: { from: before, to: signing } };
}

const PATH = '/signing/allowedSigners';

/** @throws HawserError invalid `validation_failed` with `invalid_signers`, and the line at fault where one is */
export function requireSigners({ require, allowedSigners }: Signing): void {
  const count = requireReadableSigners(PATH, allowedSigners);
  if (require === 'Version' && count === 0)
    throw invalidField(
      PATH,
      'Where versions must be signed, somebody must be allowed to sign',
      'invalid_signers',
    );
}

/**
 * @param path of the member that holds the text
 * @returns how many lines name a key
 * @throws HawserError invalid `validation_failed` with `invalid_signers` for each line at fault
 */
export function requireReadableSigners(path: string, text: string): number {
  const { signers, faults } = readAllowedSigners(text);
  const [first] = faults;
  if (first === undefined) return signers.length;
  const errors = faults.map((fault) => ({ path, code: 'invalid_signers', ...fault }));
  throw invalid('validation_failed', `Line ${first.line}: ${first.message}`, errors);
}

/** What a deed of a change set sets. */
type SettingsDeed = Omit<ChangeOf<'SetSettings'>, 'kind'>;

/** @throws HawserError as `requireSigners` */
export async function requireSettable({ signing }: SettingsDeed): Promise<void> {
  if (signing) requireSigners(signing);
}
