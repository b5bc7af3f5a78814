/**
 * Messages of commits and tags: a subject, perhaps a text, and what a version carries besides files, which are trailers,
 * `Key: value` lines in the last paragraph.
 */

import { invalid } from '../lib/errors.ts';

/** With `s`, as a path may hold U+2028, which ends a line for JavaScript and not for Git. */
const LINE = /^([A-Za-z][A-Za-z0-9-]*): ?(.*)$/s;
/** Git takes what follows such a line for a signature. */
const SIGNATURE = /^-----BEGIN /m;
const CONTROL = /\p{Cc}/u;

/** The keys of trailers that only we write, in lower case. Stock git keeps them when it rewrites a commit. */
const OUR_TIMES = ['created-at', 'published-at'];
/** The keys of trailers that tell of a version, whoever writes them. */
const OUR_KEYS = [...OUR_TIMES, 'entry-point', 'parameter-scope'];

/**
 * `subject`, the text if there is any, and the trailers in the order given, with blank lines between them.
 * @throws HawserError invalid for a value that would break its line, and for a text that git would take for a signature
 */
export function writeMessage(
  subject: string,
  trailers: Readonly<Record<string, string>>,
  text: string | null = null,
): string {
  const lines = Object.entries(trailers).map(([key, value]) => {
    if (value === '' || CONTROL.test(value)) {
      throw invalid('validation_failed', `The value for ${key} is empty or holds a control character.`);
    }
    return `${key}: ${value}`;
  });
  if (text !== null && hasSignatureLine(text))
    throw invalid('validation_failed', 'A line of the text begins as a signature does.');
  const body = text === null ? [] : [text, ''];
  return [subject, '', ...body, ...lines].join('\n');
}

/** Whether git would take a part of the text for a signature, and what follows it as well. */
export function hasSignatureLine(text: string): boolean {
  return SIGNATURE.test(text);
}

/** The text without CRs and without blank lines before and after it; null when nothing is left. */
export function tidyText(text: string): string | null {
  return text.replaceAll('\r', '').replace(/^(?:[^\S\n]*\n)+|\s+$/g, '') || null;
}

/** The trailers of a message by lower-case key, the last of equal ones; none when it is a subject alone. */
export function readTrailers(message: string): Map<string, string> {
  const paragraphs = withoutSignature(message).split(/\n{2,}/);
  const trailers = new Map<string, string>();
  if (paragraphs.length < 2) return trailers;
  for (const line of paragraphs.at(-1)?.split('\n') ?? []) {
    const [, key, value] = LINE.exec(line) ?? [];
    if (key && value && !CONTROL.test(value)) trailers.set(key.toLowerCase(), value);
  }
  return trailers;
}

/**
 * What the author of a message says, without signature and without our trailers; null when that is nothing. A message
 * that we wrote says the text below its subject. One of stock git says all of it.
 */
export function readText(message: string): string | null {
  const trailers = readTrailers(message);
  const unsigned = withoutSignature(message);
  if (!OUR_KEYS.some((key) => trailers.has(key))) return tidyText(unsigned);
  const text = unsigned.slice(0, unsigned.lastIndexOf('\n\n'));
  if (!OUR_TIMES.some((key) => trailers.has(key))) return tidyText(text);
  const end = text.indexOf('\n\n');
  return end < 0 ? null : tidyText(text.slice(end));
}

/** The message without CRs, and without the signature that git puts at the end of a signed tag. */
export function withoutSignature(message: string): string {
  return (message.split(SIGNATURE)[0] ?? '').replaceAll('\r', '').trimEnd();
}

/** A trailer's time, whose milliseconds count only while it agrees with Git's own whole seconds. */
export function preciseTime(trailer: string | undefined, seconds: number): number {
  const time = trailer === undefined ? Number.NaN : Date.parse(trailer);
  return Math.floor(time / 1_000) === seconds ? time : seconds * 1_000;
}
