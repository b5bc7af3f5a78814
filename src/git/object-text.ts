/** Commits and tags as the text that Git hashes (gitformat-commit and git-mktag, in the form that stock git writes). */

import type { CommitObject, TagObject } from 'isomorphic-git';

/** Without a signature: what is written here is nobody's but the server's. */
export type NewCommit = Pick<CommitObject, 'tree' | 'parent' | 'author' | 'committer' | 'message'>;
export type NewTag = Pick<TagObject, 'object' | 'type' | 'tag' | 'tagger' | 'message'>;

type Person = CommitObject['author'];

export function printCommit({ tree, parent, author, committer, message }: NewCommit): string {
  const parents = parent.map((oid) => `parent ${oid}\n`).join('');
  const people = `author ${printPerson(author)}\ncommitter ${printPerson(committer)}\n`;
  return `tree ${tree}\n${parents}${people}\n${printMessage(message)}`;
}

export function printTag({ object, type, tag, tagger, message }: NewTag): string {
  const head = `object ${object}\ntype ${type}\ntag ${tag}\ntagger ${printPerson(tagger as Person)}\n`;
  return `${head}\n${printMessage(message)}`;
}

/** Lines end with LF alone, and the last one does. */
function printMessage(message: string): string {
  return `${message.replaceAll('\r', '').replace(/^\n+|\n+$/g, '')}\n`;
}

function printPerson({ name, email, timestamp, timezoneOffset }: Person): string {
  return `${name} <${email}> ${timestamp} ${printOffset(timezoneOffset)}`;
}

/** @param minutes from local time to UTC, so that those east of Greenwich are below zero, and written `+` */
function printOffset(minutes: number): string {
  // UTC itself is 0 and +0000; -0 is what git's -0000 becomes when it is read.
  const sign = minutes > 0 || Object.is(minutes, -0) ? '-' : '+';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${sign}${String(hours).padStart(2, '0')}${String(rest).padStart(2, '0')}`;
}
