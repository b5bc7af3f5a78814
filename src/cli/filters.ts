/** `--filter member=value` on what a list has answered, for lists that the server does not filter itself. */

import { UsageError } from './errors.ts';

export const FILTER = {
  filter: {
    value: 'MEMBER=VALUE',
    isRepeatable: true,
    summary: 'show those with this value, * for any text; several must all hold',
  },
} as const;

/** Splits `member=value`. @throws UsageError */
export function readPair(text: string, option: string): [name: string, value: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`${option} is written as name=value.`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/**
 * Keeps what meets all filters: values without regard to case, `*` for any text, `null` for none.
 * @throws UsageError for a member that no item has
 */
export function applyFilters<T extends object>(items: readonly T[], filters: readonly string[]): T[] {
  const wanted = filters.map((filter) => readPair(filter, '--filter'));
  for (const [name] of wanted) {
    const [first] = items;
    if (first !== undefined && !Object.hasOwn(first, name))
      throw new UsageError(`--filter: there is no member "${name}", but ${Object.keys(first).join(', ')}.`);
  }
  const tests = wanted.map(([name, value]) => [name, patternOf(value)] as const);
  return items.filter((item) => {
    return tests.every(([name, pattern]) => pattern.test(String(item[name as keyof T])));
  });
}

function patternOf(value: string): RegExp {
  const literal = value.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('.*')}$`, 'is');
}
