/** Values of parameter documents for tests: arbitrary ones, and a text that is equal for equal values. */

import fc from 'fast-check';
import { spellFloat } from '../../src/domain/number-text.ts';
import { Float, isMapping, type Mapping, type Value } from '../../src/domain/value.ts';

/** Text that readers of YAML may misread or refuse. */
const NASTY = [
  ...[
    '',
    ' ',
    '\n',
    '\t',
    '~',
    '=',
    '<<',
    '-',
    '?',
    ':',
    '#',
    '---',
    '...',
    '|',
    '>',
    '%',
    '@',
    '`',
    '&a',
    '*a',
    '!a',
  ],
  ...[
    'null',
    'Null',
    'true',
    'FALSE',
    'yes',
    'No',
    'on',
    'OFF',
    'y',
    'N',
    '.inf',
    '-.Inf',
    '.nan',
    'nan',
    'inf',
  ],
  ...[
    '1',
    '-1',
    '+1',
    '0',
    '00',
    '0123',
    '0o7',
    '0x1f',
    '0b1',
    '1_000',
    '1:30',
    '1e3',
    '1.0',
    '.5',
    '5.',
    '1.2.3',
  ],
  ...[
    '2024-01-31',
    '2024-01-31T00:00:00Z',
    'a: b',
    'a:',
    ':a',
    'a #b',
    'a#b',
    '- a',
    '[a]',
    '{a}',
    "it's",
    '"',
    '\\',
  ],
  ...[
    'a\n',
    'a\nb',
    'a\n\n',
    '\na',
    ' a\nb',
    'a\n b\n',
    'a\n \n',
    'a \nb',
    'a\r\nb',
    '\ta\nb',
    'a\n\tb',
    'a\n  ',
  ],
  ...[
    '\0',
    '\x07',
    '\x1b',
    '\x7f',
    '\x85',
    '\xa0',
    '\u2028',
    '\u2029',
    '\ufeff',
    '\ufffe',
    '\uffff',
    '\u200d',
    '🚀',
  ],
  ...['__proto__', 'constructor', 'toString', 'a.b', 'a/b', 'a~b', '~1', 'k'.repeat(1_100)],
];

const anyText = fc.oneof(
  fc.constantFrom(...NASTY),
  fc.array(fc.constantFrom(...NASTY, 'a', 'b', ' ', '\n'), { maxLength: 6 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

const anyFloat = fc.oneof(
  fc.double().map((value) => new Float(value, spellDouble(value))),
  fc
    .constantFrom(
      '1.0',
      '-0.0',
      '.5',
      '5.',
      '+1.5',
      '2.50e3',
      '1E5',
      '1e400',
      '007.5',
      '3.14159265358979323846',
    )
    .map((text) => new Float(Number(text), text)),
);

export const { value: anyValue, mapping: anyMapping } = fc.letrec<{ value: Value; mapping: Mapping }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<Value>(null, true, false),
      fc.bigInt(),
      anyFloat,
      anyText,
      fc.array(tie('value'), { maxLength: 4 }),
      tie('mapping'),
    ),
    mapping: fc.array(fc.tuple(anyText, tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
  }),
);

/**
 * The texts of two values are equal only if the values are: kinds, the order of keys, and the digits of floats count.
 */
export function canonical(value: Value): string {
  if (typeof value === 'bigint') return `int ${value}`;
  if (value instanceof Float) return `float ${spellFloat(value)}`;
  if (isMapping(value))
    return `{${Array.from(value, ([key, item]) => `${JSON.stringify(key)}: ${canonical(item)}`).join(', ')}}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(', ')}]`;
  return JSON.stringify(value);
}

function spellDouble(value: number): string {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value < 0 ? '-.inf' : '.inf';
  const text = Object.is(value, -0) ? '-0' : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
