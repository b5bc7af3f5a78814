/**
 * Takes commits and tags apart as git does, also those with faults that git itself reads past: dates in no year, zones
 * that are none, no space before a date.
 */

import { SECOND } from '../lib/clock.ts';
import type { ObjectContent } from './loose-objects.ts';

/** Who made a commit or a tag, and when. */
export interface Signature {
  name: string;
  email: string;
  /** Seconds since the epoch; 0 where a date cannot hold the moment, as git itself shows it. */
  timestamp: number;
  /** Minutes from local time to UTC; 0 where the zone is none. */
  timezoneOffset: number;
}

export interface ParsedCommit {
  tree: string;
  parent: string[];
  /** Null where the commit does not say who and when, as for the committer. */
  author: Signature | null;
  committer: Signature | null;
  message: string;
  gpgsig?: string | undefined;
}

/** A commit as all of git's own are. */
export interface CommitObject extends ParsedCommit {
  author: Signature;
  committer: Signature;
}

export interface TagObject {
  object: string;
  type: 'blob' | 'tree' | 'commit' | 'tag';
  tag: string;
  /** Null in tags of the first years of Git. */
  tagger: Signature | null;
  /** With the signature, if there is one. */
  message: string;
}

export interface ParsedTypes {
  commit: ParsedCommit;
  tag: TagObject;
}

/** As git reads it: what is between the name and the last `>` is passed over, and so is what follows the zone. */
const PERSON = /^([^<]*)<([^>]*)>(?:.*>)?\s*(\d+)(?:\s+([+-])(\d\d)([0-5]\d))?(?!\d)/;
/** What people write for encodings of Windows and of git's own list, and TextDecoder does not know. */
const ENCODINGS: Record<string, string> = {
  'latin-1': 'latin1',
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
};
/** The signs of windows-1252 from 0x80 on, which Node 20 takes for those of ISO-8859-1: control characters. */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** @returns null for an object of another type, and for one that is malformed */
export function parseObject<T extends keyof ParsedTypes>(
  { type, content }: ObjectContent,
  wanted: T,
): ParsedTypes[T] | null {
  if (type !== wanted) return null;
  return (wanted === 'commit' ? parseCommit(content) : parseTag(content)) as ParsedTypes[T] | null;
}

/** Tells whether a commit says who made it, and when. */
export function isSigned(commit: ParsedCommit): commit is CommitObject {
  return commit.author !== null && commit.committer !== null;
}

/** A message as stock git writes it: without carriage returns, and with one line feed at the end. */
export function tidyMessage(message: string): string {
  return `${message.replaceAll('\r', '').replace(/^\n+|\n+$/g, '')}\n`;
}

/** Git reads the tree and the parents by their place, and the first of each other header. */
function parseCommit(content: Buffer): ParsedCommit | null {
  const { headers, message } = takeApart(decodeCommit(content));
  const [first, ...others] = headers;
  if (first?.[0] !== 'tree' || !isOid(first[1])) return null;
  const rest = others.findIndex(([key]) => key !== 'parent');
  const parents = others.slice(0, rest < 0 ? others.length : rest).map(([, oid]) => oid);
  if (!parents.every(isOid)) return null;
  const named = firstOfEach(others);
  return {
    tree: first[1],
    parent: parents,
    author: parsePerson(named.get('author')),
    committer: parsePerson(named.get('committer')),
    message,
    gpgsig: named.get('gpgsig'),
  };
}

function parseTag(content: Buffer): TagObject | null {
  const { headers, message } = takeApart(content.toString('utf8'));
  const named = firstOfEach(headers);
  const [object = '', type = '', tag] = ['object', 'type', 'tag'].map((key) => named.get(key));
  if (!isOid(object) || !isObjectType(type) || tag === undefined) return null;
  return { object, type, tag, tagger: parsePerson(named.get('tagger')), message };
}

function takeApart(text: string): { headers: [key: string, value: string][]; message: string } {
  const end = text.indexOf('\n\n');
  const lines = (end < 0 ? text : text.slice(0, end)).split('\n');
  const headers: [string, string][] = [];
  for (const line of lines) {
    const last = headers.at(-1);
    if (last && line.startsWith(' ')) last[1] += `\n${line.slice(1)}`;
    else headers.push([line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
  }
  return { headers, message: end < 0 ? '' : tidyMessage(text.slice(end + 2)) };
}

function firstOfEach(headers: readonly [key: string, value: string][]): Map<string, string> {
  return new Map(headers.toReversed());
}

/** As git does, the whole commit is decoded before it is taken apart: names in ISO-2022-JP have bytes that look like `<`. */
function decodeCommit(content: Buffer): string {
  const end = content.indexOf('\n\n');
  const header = content.toString('latin1', 0, end < 0 ? content.length : end);
  const [, label] = /\nencoding ([^\n]+)/.exec(header) ?? [];
  const decoder = label === undefined ? null : decoderOf(label);
  if (decoder === null) return content.toString('utf8');
  const text = decoder.decode(content);
  if (decoder.encoding !== 'windows-1252') return text;
  return text.replace(/[\x80-\x9f]/g, (sign) => WINDOWS_1252[sign.charCodeAt(0) - 0x80] ?? sign);
}

/** Null for UTF-8, for what nobody knows, and for UTF-16, in which the headers would be none. */
function decoderOf(label: string) {
  const name = label.trim().toLowerCase();
  try {
    const decoder = new TextDecoder(ENCODINGS[name] ?? name);
    return decoder.encoding.startsWith('utf-') ? null : decoder;
  } catch {
    return null;
  }
}

/** Null without a name, an address in `<>` or a date. */
function parsePerson(text: string | undefined): Signature | null {
  const [whole, name = '', email = '', seconds, sign, hours, minutes] = PERSON.exec(text ?? '') ?? [];
  if (whole === undefined) return null;
  const offset = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return {
    name: name.trim(),
    email,
    timestamp: timeOf(Number(seconds)),
    // Git has -0000 beside +0000, which is kept as -0.
    timezoneOffset: sign === '-' ? offset || -0 : 0 - offset,
  };
}

function timeOf(seconds: number): number {
  return Number.isFinite(new Date(seconds * SECOND).getTime()) ? seconds : 0;
}

function isOid(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

function isObjectType(text: string): text is TagObject['type'] {
  return /^(?:blob|tree|commit|tag)$/.test(text);
}
