/** The texts of the commits and tags that this server makes, as Git hashes them. */

import { type CommitObject, type Signature, type TagObject, tidyMessage } from './parsed-objects.ts';

/** A commit that this server makes: it has no signature. */
export type NewCommit = Pick<CommitObject, 'tree' | 'parent' | 'author' | 'committer' | 'message'>;
/** A tag that this server makes: it has no signature. */
export type NewTag = Pick<TagObject, 'object' | 'type' | 'tag' | 'message'> & { tagger: Signature };

/** The text of a commit as Git hashes it, see gitformat-commit. It is UTF-8, so it names no encoding. */
export function printCommit({ tree, parent, author, committer, message }: NewCommit): string {
  const parents = parent.map((oid) => `parent ${oid}\n`).join('');
  const people = `author ${printPerson(author)}\ncommitter ${printPerson(committer)}\n`;
  return `tree ${tree}\n${parents}${people}\n${tidyMessage(message)}`;
}

/** The text of an annotated tag as Git hashes it, see git-mktag. */
export function printTag({ object, type, tag, tagger, message }: NewTag): string {
  const head = `object ${object}\ntype ${type}\ntag ${tag}\ntagger ${printPerson(tagger)}\n`;
  return `${head}\n${tidyMessage(message)}`;
}

function printPerson({ name, email, timestamp, timezoneOffset }: Signature): string {
  return `${name} <${email}> ${timestamp} ${printOffset(timezoneOffset)}`;
}

/** @param minutes from local time to UTC, so a zone east of Greenwich is negative and written with `+` */
function printOffset(minutes: number): string {
  // UTC is 0 and is written +0000. Git also has -0000, which is read as -0.
  const sign = minutes > 0 || Object.is(minutes, -0) ? '-' : '+';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${sign}${String(hours).padStart(2, '0')}${String(rest).padStart(2, '0')}`;
}
