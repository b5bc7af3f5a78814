/** Plain scalars of parameter files are what dsc takes them for, and what is printed is that to every reader. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { PROJECT } from '../../../scripts/support/project.ts';
import { readDocument, requireUnambiguous } from '../../../src/domain/parameter-document.ts';
import { Float, type Value } from '../../../src/domain/value.ts';
import { printYaml } from '../../../src/domain/yaml-printer.ts';
import { readYaml } from '../../../src/domain/yaml-reader.ts';
import { HawserError } from '../../../src/lib/errors.ts';

interface Row {
  text: string;
  type: 'null' | 'boolean' | 'integer' | 'float' | 'string';
  value: string | boolean | null;
}

const TABLE: Row[] = JSON.parse(readFileSync(join(PROJECT, 'test/fixtures/dsc/scalars.json'), 'utf8'));
/** A dash alone is no plain scalar in a block mapping. */
const ROWS = TABLE.filter(({ text }) => text !== '-');

const read = (text: string) => readYaml(`k: ${text}\n`).get('k') as Value;
const printed = (text: string) => printYaml(readYaml(`k: ${text}\n`));

function described(value: unknown): string {
  if (value instanceof Float) return described(value.value);
  if (typeof value === 'number') return `float ${Object.is(value, -0) ? '-0' : value}`;
  if (typeof value === 'bigint') return `integer ${value}`;
  return `${value === null ? 'null' : typeof value} ${value}`;
}

/** serde_yaml 0.9, de.rs, written once more from its source. */
function serde(text: string): string {
  if (['', '~', 'null', 'Null', 'NULL'].includes(text)) return described(null);
  if (['true', 'True', 'TRUE'].includes(text)) return described(true);
  if (['false', 'False', 'FALSE'].includes(text)) return described(false);
  const sign = text.startsWith('-') ? '-' : '';
  const bare = text.replace(/^[-+]/, '');
  if (/^(?:0x[0-9a-fA-F]+|0o[0-7]+|0b[01]+|0|[1-9][0-9]*)$/.test(bare))
    return described(sign ? -BigInt(bare) : BigInt(bare));
  if (/^0[0-9]+$/.test(bare)) return described(text);
  if (/^\.(?:inf|Inf|INF)$/.test(bare)) return described(sign ? -Infinity : Infinity);
  if (/^\.(?:nan|NaN|NAN)$/.test(text)) return described(Number.NaN);
  const float = /^(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?$/.test(bare) ? Number(text) : Number.NaN;
  return described(Number.isFinite(float) ? float : text);
}

/** What other readers than ours take the one value of a document for. */
function readElsewhere(text: string, version: '1.1' | '1.2'): string {
  const { k } = parse(text, { version, intAsBigInt: true });
  return described(k);
}

function faultsOf(text: string) {
  try {
    requireUnambiguous(readDocument(Buffer.from(text), 'yaml'));
    return [];
  } catch (error) {
    if (!(error instanceof HawserError)) throw error;
    return error.data['errors'] as { path: string; line: number; column: number; message: string }[];
  }
}

const anyWord = fc
  .array(fc.constantFrom(...'0123456789017._eE+xob-aF', 'yes', 'on', '.inf', 'nan', 'null', 'true'), {
    minLength: 1,
    maxLength: 7,
  })
  .map((parts) => parts.join(''))
  .filter((word) => !/^[-?](?:\s|$)|^---$|^\.\.\.$/.test(word));

describe('a plain scalar', () => {
  for (const { text, type, value } of ROWS)
    it(`${text || 'that is empty'} is ${type}`, () => {
      const expected =
        type === 'integer' ? BigInt(String(value)) : type === 'float' ? floatOf(String(value)) : value;
      expect(described(read(text))).to.equal(described(expected));
    });

  it('is what serde_yaml takes it for, whatever it is', () => {
    fc.assert(
      fc.property(anyWord, (word) => {
        expect(described(read(word))).to.equal(serde(word));
      }),
      { numRuns: 5_000 },
    );
  });

  it('is printed so that dsc and readers of YAML 1.1 and 1.2 take it for the same', () => {
    const agree = (word: string) => {
      const text = printed(word);
      const value = described(read(word));
      // The library gives floats without a fraction as numbers too, as other readers do.
      expect(readElsewhere(text, '1.2'), text).to.equal(value);
      expect(readElsewhere(text, '1.1'), text).to.equal(value);
      expect(described(readYaml(text).get('k')), text).to.equal(value);
    };
    for (const { text } of ROWS) agree(text);
    fc.assert(fc.property(anyWord, agree), { numRuns: 3_000 });
  });

  it('of a block has no end of line that the file does not have, as for dsc', () => {
    const blockOf = (text: string) => readYaml(`k: ${text}`).get('k');
    expect(blockOf('|\n  a\n  b')).to.equal('a\nb');
    expect(blockOf('>+\n  a\n  b')).to.equal('a b');
    expect(blockOf('|\n  a\n')).to.equal('a\n');
    expect(blockOf('|\n  a\n  ')).to.equal('a\n');
    expect(blockOf('|\n  a\n# c')).to.equal('a\n');
    expect(readYaml('j: |\n  a\nk: b')).to.deep.equal(
      new Map([
        ['j', 'a\n'],
        ['k', 'b'],
      ]),
    );
  });

  for (const [text, other] of [
    ['007', '7'],
    ['-012', '-12'],
    ['00', '0'],
    ['18446744073709551616', '1.8446744073709552e+19'],
    ['0b101', '5'],
    ['-0o7', '-7'],
    ['0o17', '15'],
    ['-0x10', '-16'],
    ['+0x1F', '31'],
    ['yes', 'true'],
    ['OFF', 'false'],
    ['12:30', '750'],
    ['-1:00:01.5', '-3601.5'],
    ['1_000', '1000'],
  ])
    it(`${text} is refused, with its place and both ways to write it`, () => {
      const [fault, ...others] = faultsOf(`# about\nparameters:\n  "a/b":\n  - 1\n  - ${text}\n`);
      expect(others).to.deep.equal([]);
      expect(fault).to.include({ path: '/parameters/a~1b/1', line: 5, column: 5 });
      expect(fault?.message).to.include(`"${text}"`).and.to.include(`or as ${other}`);
    });

  it('without a finite value is refused, for which there is one way to write it', () => {
    for (const text of ['1e400', '-5e10000'])
      expect(faultsOf(`a: ${text}\n`)[0]?.message)
        .to.include('different things')
        .and.not.to.include(' or as ');
  });

  it('that YAML 1.1 alone takes otherwise, a key, and text in quotes are not refused', () => {
    const fine = [
      '1e3',
      'y',
      'n',
      '2026-11-28',
      '0x1F',
      '0',
      '10',
      '1.5',
      '.inf',
      '"007"',
      "'yes'",
      '!!str 007',
    ];
    expect(faultsOf(`${fine.map((text, at) => `k${at}: ${text}\n`).join('')}007: x\nyes: y\n`)).to.deep.equal(
      [],
    );
  });

  it('behind an alias is told once, and no more than a hundred are told', () => {
    expect(faultsOf('a: &a 007\nb: *a\n')).to.have.length(1);
    expect(faultsOf(`a: [${'007, '.repeat(200)}]\n`)).to.have.length(100);
  });
});

function floatOf(text: string): number {
  return (
    ({ inf: Infinity, '-inf': -Infinity, nan: Number.NaN } as Record<string, number>)[text] ?? Number(text)
  );
}
