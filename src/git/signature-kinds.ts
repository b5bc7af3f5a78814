/** The signatures that git puts on commits and tags. They are recognised here, and verified by nobody. */

import type { ParsedCommit, TagObject } from './parsed-objects.ts';

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
export function signatureOfCommit({ gpgsig = '' }: Pick<ParsedCommit, 'gpgsig'>): SignatureKind | null {
  const [first] = gpgsig.matchAll(FIRST_LINE);
  return first?.index === 0 ? kindOf(first) : null;
}

/** The signature at the end of a tag. What looks like several is signed by the last one. */
export function signatureOfTag({ message }: Pick<TagObject, 'message'>): SignatureKind | null {
  const last = [...message.matchAll(FIRST_LINE)].at(-1);
  return last ? kindOf(last) : null;
}

function kindOf([, name = '']: RegExpExecArray): SignatureKind | null {
  return KINDS[name] ?? null;
}
