/** The signatures that git puts on commits and tags. They are recognised here, and verified by nobody. */

import type { CommitObject, TagObject } from 'isomorphic-git';

export const SIGNATURE_KINDS = ['OpenPgp', 'Ssh', 'X509'] as const;
export type SignatureKind = (typeof SIGNATURE_KINDS)[number];

/** The lines with which git's own signatures begin. */
const KINDS: Record<string, SignatureKind> = {
  'PGP SIGNATURE': 'OpenPgp',
  'PGP MESSAGE': 'OpenPgp',
  'SSH SIGNATURE': 'Ssh',
  'SIGNED MESSAGE': 'X509',
};
/** It has no flag `m`, because U+2028 ends a line for JavaScript and not for Git. */
const FIRST_LINE = new RegExp(`(?:^|\\n)-----BEGIN (${Object.keys(KINDS).join('|')})-----`, 'g');

/** The signature in the header of a commit. */
export function signatureOfCommit({ gpgsig = '' }: Pick<CommitObject, 'gpgsig'>): SignatureKind | null {
  const [first] = gpgsig.matchAll(FIRST_LINE);
  return first?.index === 0 ? kindOf(first) : null;
}

/**
 * The signature at the end of a tag. isomorphic-git takes OpenPGP's most common form apart, and leaves the others in the
 * message.
 */
export function signatureOfTag({
  gpgsig,
  message,
}: Pick<TagObject, 'gpgsig' | 'message'>): SignatureKind | null {
  if (gpgsig !== undefined) return 'OpenPgp';
  // What looks like several is signed by the last one.
  const last = [...message.matchAll(FIRST_LINE)].at(-1);
  return last ? kindOf(last) : null;
}

function kindOf([, name = '']: RegExpExecArray): SignatureKind | null {
  return KINDS[name] ?? null;
}
