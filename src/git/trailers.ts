/** What a version carries besides files: `Key: value` lines, the last paragraph of a commit or tag message. */

import { invalid } from '../lib/errors.ts';

/** With `s`, as a path may hold U+2028, which ends a line for JavaScript and not for Git. */
const LINE = /^([A-Za-z][A-Za-z0-9-]*): ?(.*)$/s;
const CONTROL = /\p{Cc}/u;

/** `subject`, a blank line and the trailers in the order given. A value that would break its line is refused. */
export function writeMessage(subject: string, trailers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(trailers).map(([key, value]) => {
    if (value === '' || CONTROL.test(value)) {
      throw invalid('validation_failed', `The value for ${key} is empty or holds a control character.`);
    }
    return `${key}: ${value}`;
  });
  return [subject, '', ...lines].join('\n');
}

/** The trailers of a message by lower-case key, the last of equal ones; none when it is a subject alone. */
export function readTrailers(message: string): Map<string, string> {
  const unsigned = message.split('\n-----BEGIN ')[0] ?? '';
  const paragraphs = unsigned
    .replaceAll('\r', '')
    .trimEnd()
    .split(/\n{2,}/);
  const trailers = new Map<string, string>();
  if (paragraphs.length < 2) return trailers;
  for (const line of paragraphs.at(-1)?.split('\n') ?? []) {
    const [, key, value] = LINE.exec(line) ?? [];
    if (key && value && !CONTROL.test(value)) trailers.set(key.toLowerCase(), value);
  }
  return trailers;
}

/** A trailer's time, whose milliseconds count only while it agrees with Git's own whole seconds. */
export function preciseTime(trailer: string | undefined, seconds: number): number {
  const time = trailer === undefined ? Number.NaN : Date.parse(trailer);
  return Math.floor(time / 1_000) === seconds ? time : seconds * 1_000;
}
