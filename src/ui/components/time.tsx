/** Points in time: how long ago or until when, with the exact time at hand. */

import { signal } from '@preact/signals';

/** In epoch milliseconds. All relative times on the page move together. */
const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, 10_000);

const UNITS: readonly (readonly [seconds: number, word: string])[] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** For example `3 min ago`, `in 2 days`, `now`. */
export function relativeTime(at: string, since = Date.now()): string {
  const seconds = Math.round((Date.parse(at) - since) / 1_000);
  const size = Math.abs(seconds);
  const [unit, word] = UNITS.find(([length]) => size >= length) ?? [1, 's'];
  const count = Math.floor(size / unit);
  if (size < 5) return 'now';
  const isAbbreviated = unit < 86_400;
  const text = `${count} ${word}${isAbbreviated || count === 1 ? '' : 's'}`;
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}

/** In the time zone of the browser, with seconds, such as `2026-11-23 09:08:00`. */
export function exactTime(at: string): string {
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/**
 * @param at as the API writes it; null shows `none`
 * @param exact if true, the exact time stands beside the relative one, as on pages of one thing
 */
export function Time({
  at,
  exact = false,
  none = 'never',
}: {
  at: string | null;
  exact?: boolean;
  none?: string;
}) {
  if (at === null) return <span class="muted">{none}</span>;
  // What has just been done would lie ahead of the last tick.
  const since = Math.max(now.value, Date.now());
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at, since)}
      {exact && <span class="muted"> · {exactTime(at)}</span>}
    </time>
  );
}
