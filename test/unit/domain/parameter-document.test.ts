import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { parse as parseWithLibrary } from 'yaml';
import { PROJECT } from '../../../scripts/support/project.ts';
import { MAX_LENGTH } from '../../../src/domain/document-text.ts';
import { printJson } from '../../../src/domain/json-text.ts';
import { mergeMappings } from '../../../src/domain/merge.ts';
import { parseParameterDocument, toPlain } from '../../../src/domain/parameter-document.ts';
import { Float, type Mapping, type Value } from '../../../src/domain/value.ts';
import { printYaml } from '../../../src/domain/yaml-printer.ts';
import { anyMapping, canonical } from '../../support/values.ts';

const GOLDEN = join(PROJECT, 'test/golden/parameters');
const SAMPLES = join(PROJECT, 'test/fixtures/dsc');

const yaml = (text: string): Mapping => parseParameterDocument(Buffer.from(text), 'yaml');
const json = (text: string): Mapping => parseParameterDocument(Buffer.from(text), 'json');

function errorsOf(read: () => unknown, code = 'validation_failed'): unknown {
  const refusal = refusalBy(read);
  expect(refusal).to.include({ kind: 'invalid', code });
  return refusal?.data['errors'];
}

function mergeGolden(name: string): Mapping {
  const inputs = readdirSync(join(GOLDEN, name)).filter((file) => /^\d+\.(?:yaml|json)$/.test(file));
  const documents = inputs.sort().map((file) => {
    const bytes = readFileSync(join(GOLDEN, name, file));
    return parseParameterDocument(bytes, file.endsWith('.json') ? 'json' : 'yaml');
  });
  return mergeMappings(documents).merged;
}

describe('parameter documents, by example', () => {
  for (const name of readdirSync(GOLDEN).sort()) {
    const isRefused = readdirSync(join(GOLDEN, name)).includes('expected-error.json');
    if (isRefused)
      it(`refuses ${name}`, () => {
        const expected = JSON.parse(readFileSync(join(GOLDEN, name, 'expected-error.json'), 'utf8'));
        expect(errorsOf(() => mergeGolden(name))).to.deep.equal(expected);
      });
    else
      it(`reads, merges and prints ${name}`, () => {
        const merged = mergeGolden(name);
        expect(printYaml(merged)).to.equal(readFileSync(join(GOLDEN, name, 'expected.yaml'), 'utf8'));
        expect(canonical(yaml(printYaml(merged)))).to.equal(canonical(merged));
      });
  }
});

describe('parameter documents', () => {
  it('come back from YAML as they were', () => {
    fc.assert(
      fc.property(anyMapping, (mapping) => {
        expect(canonical(yaml(printYaml(mapping)))).to.equal(canonical(mapping));
      }),
      { numRuns: 1_000 },
    );
  });

  it('come back from JSON as they were, on one line or on many', () => {
    fc.assert(
      fc.property(anyMapping, fc.constantFrom(0, 2), (mapping, indent) => {
        const text = printJson(mapping, indent);
        expect(() => JSON.parse(text)).not.to.throw();
        expect(text.includes('\n')).to.equal(indent > 0 && mapping.size > 0);
        expect(printJson(json(text), indent)).to.equal(text);
      }),
      { numRuns: 1_000 },
    );
  });

  it('mean the same to another reader of YAML 1.2', () => {
    fc.assert(
      fc.property(anyMapping, (mapping) => {
        const read = parseWithLibrary(printYaml(mapping), { mapAsMap: true, intAsBigInt: true });
        expect(plainText(read)).to.equal(plainText(mapping));
      }),
      { numRuns: 300 },
    );
  });

  const python = spawnSync('python3', ['-c', 'import yaml'], { timeout: 20_000 });
  const readerInPython = {
    isMet: python.status === 0,
    otherwise: 'python3 with its module "yaml" is not installed',
  };
  itWith([readerInPython], 'mean the same to a reader of YAML 1.1', () => {
    const samples = fc.sample(anyMapping, { numRuns: 500, seed: 20_260_101 });
    const golden = readdirSync(GOLDEN).filter((name) =>
      readdirSync(join(GOLDEN, name)).includes('expected.yaml'),
    );
    const mappings = [...samples, ...golden.map(mergeGolden)];
    const input = mappings.map((mapping) => [printYaml(mapping), printJson(mapping)]);
    const run = spawnSync('python3', ['-c', COMPARE], { input: JSON.stringify(input), encoding: 'utf8' });
    expect(run.stderr).to.equal('');
    expect(run.stdout).to.equal(`${mappings.length} equal\n`);
  });

  it('are JSON or not as RFC 8259 has it', () => {
    const almost = fc
      .array(fc.constantFrom(' ', ...words('{ } [ ] , : "a" "b 1 -0 0 .5 e+1 true nul')))
      .map((parts) => `{"x":${parts.join('')}}`);
    fc.assert(
      fc.property(
        fc.oneof(
          almost,
          fc.json({ maxDepth: 3 }).map((text) => `{"x":${text}}`),
        ),
        (text) => {
          const wasRead = isRead(() => json(text));
          expect(wasRead, text).to.equal(isRead(() => JSON.parse(text)) && !hasKeyTwice(text));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('are refused with a line and a column when they are anything else, never with another error', () => {
    const piece = fc.constantFrom(
      ...words(`a " ' | > [ ] { } , *a # 1 ~ << \\`),
      ...[': ', '- ', '? ', '\n', '  ', '\t', '&a ', '!!str ', '!x '],
      ...['---\n', '...\n', '%YAML 1.2\n', '\r', '\u2028', '\ud800', '\0'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom('yaml', 'json'), (pieces, type) => {
        const text = pieces.join('');
        if (isRead(() => parseParameterDocument(Buffer.from(text), type as 'yaml'))) return;
        const errors = errorsOf(() => parseParameterDocument(Buffer.from(text), type as 'yaml'));
        expect(errors).to.have.length(1);
        expect(errors)
          .to.have.nested.property('[0].message')
          .that.matches(/^Line [1-9]\d*, column [1-9]\d*: \S/);
      }),
      { numRuns: 3_000 },
    );
  });

  it('hold a text as long as a document may be', () => {
    for (const text of ['a '.repeat(450_000), 'a\n'.repeat(200_000), '\u0001'.repeat(100_000)]) {
      const mapping = new Map([['text', text.trimEnd()]]);
      expect(yaml(printYaml(mapping)).get('text')).to.equal(mapping.get('text'));
      expect(json(printJson(mapping)).get('text')).to.equal(mapping.get('text'));
    }
  });

  it('are refused when they are too large, at the place where they become so', () => {
    const cases: [text: string, code: string, message: RegExp][] = [
      [`a: ${'x'.repeat(5_000_000)}`, 'too_large', /^Line 1, column 1000001: .* 1000000 characters/],
      ['- []\n'.repeat(MAX_LENGTH / 5), 'too_complex', /^Line \d{5}, column \d: .* 300000 words and signs/],
    ];
    for (const [text, code, message] of cases) {
      const errors = errorsOf(() => yaml(text), code === 'too_large' ? 'validation_failed' : code);
      expect(errors).to.have.nested.property('[0].message').that.matches(message);
      expect(errors).to.have.nested.property('[0].code', code);
    }
  });

  const lines = (count: number) =>
    Array.from({ length: count }, (_, at) => `  key-${at}: value ${at} # why\n`);
  const flow = (count: number) => Array.from({ length: count }, (_, at) => `"key-${at}" : "value ${at}"`);
  const forms: [name: string, write: (count: number) => string][] = [
    ['block style', (count) => `parameters:\n${lines(count).join('')}`],
    ['flow style', (count) => `parameters: { ${flow(count).join(' , \n ')} }\n`],
  ];
  for (const [name, write] of forms)
    it(`in ${name} have at most 20,000 leaves`, () => {
      expect((yaml(write(20_000)).get('parameters') as Mapping).size).to.equal(20_000);
      const errors = errorsOf(() => yaml(write(20_001)), 'too_complex');
      expect(errors).to.deep.equal([
        { path: '', message: 'The document has more than 20000 leaves.', code: 'too_complex' },
      ]);
    });

  it('may repeat by aliases what is not large', () => {
    const many = yaml(`a: &a [1, 2, 3]\nb: [${'*a, '.repeat(1_000)}]\n`).get('b');
    expect(many).to.have.length(1_000);
  });

  const samples = ['bom.dsc.yaml', 'crlf.dsc.yaml', 'document.dsc.json', 'multi-byte.dsc.yaml'];
  for (const name of [...samples, 'parameters.dsc.yaml', 'plain.dsc.yaml'])
    it(`are read from ${name} as the library reads them, and survive being printed`, () => {
      const text = readFileSync(join(SAMPLES, name), 'utf8');
      const document = name.endsWith('.json') ? json(text) : yaml(text);
      expect(plainText(document)).to.equal(
        plainText(parseWithLibrary(text, { mapAsMap: true, intAsBigInt: true })),
      );
      expect(canonical(yaml(printYaml(document)))).to.equal(canonical(document));
      expect(canonical(json(printJson(document)))).to.equal(canonical(document));
    });
});

describe('printYaml', () => {
  it('prints values that are no mapping too', () => {
    const values: [value: Value, text: string][] = [
      [null, 'null\n'],
      ['a\nb', '"a\\nb"\n'],
      [5n, '5\n'],
      [[], '[]\n'],
      [new Map(), '{}\n'],
      [['a', [true]], '- a\n- - true\n'],
    ];
    for (const [value, text] of values) expect(printYaml(value)).to.equal(text);
  });
});

describe('printJson', () => {
  it('keeps digits that numbers of JavaScript would lose, and writes as text what JSON has no number for', () => {
    const value = yaml('{a: 9007199254740993, b: 1.0, c: 2.50e3, d: .inf, e: -.inf, f: .nan, g: [], h: {}}');
    expect(printJson(value)).to.equal(
      '{"a":9007199254740993,"b":1.0,"c":2.50e+3,"d":".inf","e":"-.inf","f":".nan","g":[],"h":{}}',
    );
  });

  it('indents as JSON.stringify does', () => {
    const text = '{"a":[1,{"b":null}],"c":{},"d":[]}';
    expect(printJson(json(text), 2)).to.equal(JSON.stringify(JSON.parse(text), null, 2));
  });
});

describe('toPlain', () => {
  it('gives a schema validator what it knows, and no prototype', () => {
    const plain = toPlain(yaml('{z: 1, __proto__: {admin: true}, a: [1.5, ~, text, 9007199254740993]}'));
    expect(Object.getPrototypeOf(plain)).to.equal(null);
    expect(Object.keys(plain as object)).to.deep.equal(['z', '__proto__', 'a']);
    expect(JSON.stringify(plain)).to.equal(
      '{"z":1,"__proto__":{"admin":true},"a":[1.5,null,"text",9007199254740992]}',
    );
    expect({}).not.to.have.property('admin');
  });
});

/** Compares pairs of YAML and JSON on its standard input; dict keeps the order of keys. */
const COMPARE = `
import json, sys, yaml

def canonical(value):
    if isinstance(value, dict):
        return ('map', [(key, canonical(item)) for key, item in value.items()])
    if isinstance(value, list):
        return ('list', [canonical(item) for item in value])
    if isinstance(value, float) and (value != value or value in (float('inf'), float('-inf'))):
        return ('str', '.nan' if value != value else '.inf' if value > 0 else '-.inf')
    return (type(value).__name__, repr(value) if isinstance(value, float) else value)

equal = 0
for text, expected in json.load(sys.stdin):
    read = canonical(yaml.load(text, yaml.SafeLoader))
    if read == canonical(json.loads(expected)):
        equal += 1
    else:
        print('differs:', repr(text), read)
print(equal, 'equal')
`;

import { refusalBy } from '../../support/failures.ts';
import { itWith } from '../../support/optional-tools.ts';
import { words } from '../../support/words.ts';

function isRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/** `JSON` keeps the last of equal keys in silence: then printing what it has read gives fewer of them. */
function hasKeyTwice(text: string): boolean {
  const colons = (json: string) => json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length;
  return colons(text) !== colons(JSON.stringify(JSON.parse(text)));
}

/** The same text for our values and for those of the library, whose floats are numbers and whose maps are Maps. */
function plainText(value: unknown): string {
  if (value instanceof Float) return plainText(value.value);
  if (value instanceof Map)
    return `{${Array.from(value, ([key, item]) => `${JSON.stringify(String(key))}: ${plainText(item)}`).join(', ')}}`;
  if (Array.isArray(value)) return `[${value.map(plainText).join(', ')}]`;
  if (typeof value === 'number') return `float ${Object.is(value, -0) ? '-0' : value}`;
  return typeof value === 'bigint' ? `int ${value}` : JSON.stringify(value);
}
