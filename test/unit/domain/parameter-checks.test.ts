import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { checkParameters, MAX_ERRORS } from '../../../src/domain/parameter-checks.ts';
import { PARAMETER_TYPES, toJsonSchema } from '../../../src/domain/parameter-schema.ts';
import { Float } from '../../../src/domain/value.ts';
import { definitionsOf, fromJs, mappingOf } from '../../support/parameter-values.ts';

/** The faults of a whole document, each as `path code`. */
function faultsOf(definitions: object, parameters: object, partial = false): string[] {
  const content = new Map([['parameters', fromJs(parameters)]]);
  return checkParameters(definitionsOf(definitions), content, { partial }).map(
    ({ path, code }) => `${path} ${code}`,
  );
}

/** The codes of what is wrong with one value. */
function codesOf(definition: object, value: unknown): string[] {
  return faultsOf({ a: definition }, { a: value }).map((fault) => fault.replace('/parameters/a ', ''));
}

const float = (text: string) => new Float(Number(text), text);
const WHOLE = { partial: false };
const PARTIAL = { partial: true };

describe('checkParameters', () => {
  it('takes anything where the configuration defines nothing', () => {
    expect(checkParameters(null, mappingOf({ parameters: { a: 1 } }), WHOLE)).to.deep.equal([]);
    expect(checkParameters(null, mappingOf({}), WHOLE)).to.deep.equal([]);
  });

  it('takes values of the right type and none of another', () => {
    const values: Record<string, unknown[]> = {
      string: ['', 'x', '1', '[a]'],
      int: [0, -1, 2n ** 64n, 10n ** 400n],
      float: [float('1.0'), float('-2.5e3')],
      bool: [true, false],
      object: [{}, { a: 1 }],
      array: [[], [1, { a: [] }]],
      null: [null],
      nothing: [new Float(Number.NaN, '.nan'), new Float(Number.POSITIVE_INFINITY, '.inf')],
    };
    const fitting: Record<string, string[]> = {
      secureString: ['string'],
      secureObject: ['object'],
      float: ['float', 'int'],
    };
    for (const type of PARAMETER_TYPES) {
      for (const [kind, samples] of Object.entries(values)) {
        const expected = (fitting[type] ?? [type]).includes(kind) ? [] : ['type'];
        for (const sample of samples)
          expect(codesOf({ type }, sample), `${type} given ${kind} ${String(sample)}`).to.deep.equal(
            expected,
          );
      }
    }
  });

  it('does not take 1.0 for an integer, as DSC does not', () => {
    expect(codesOf({ type: 'int' }, float('1.0'))).to.deep.equal(['type']);
    expect(codesOf({ type: 'int' }, float('1e3'))).to.deep.equal(['type']);
    expect(codesOf({ type: 'float' }, 1)).to.deep.equal([]);
  });

  it('holds values to their bounds, both ends included', () => {
    const cases: [definition: object, value: unknown, codes: string[]][] = [
      [{ type: 'int', minValue: 1 }, 1, []],
      [{ type: 'int', minValue: 1 }, 0, ['minimum']],
      [{ type: 'int', maxValue: 5 }, 5, []],
      [{ type: 'int', maxValue: 5 }, 6, ['maximum']],
      [{ type: 'int', minValue: 0 }, -1, ['minimum']],
      [{ type: 'float', minValue: 0.5 }, 0.5, []],
      [{ type: 'float', minValue: 0.5 }, 0.25, ['minimum']],
      [{ type: 'float', minValue: 0.5, maxValue: 1 }, 0, ['minimum']],
      [{ type: 'float', maxValue: 1 }, float('1.0'), []],
      [{ type: 'float', maxValue: 1 }, 1.5, ['maximum']],
      [{ type: 'string', minLength: 2 }, 'ab', []],
      [{ type: 'string', minLength: 2 }, 'a', ['min_length']],
      [{ type: 'secureString', maxLength: 2 }, 'abc', ['max_length']],
      [{ type: 'string', maxLength: 0 }, '', []],
      [{ type: 'array', minLength: 1 }, [], ['min_length']],
      [{ type: 'array', minLength: 1, maxLength: 2 }, [1, 2], []],
      [{ type: 'array', maxLength: 2 }, [1, 2, 3], ['max_length']],
    ];
    for (const [definition, value, codes] of cases)
      expect(codesOf(definition, value), JSON.stringify(definition)).to.deep.equal(codes);
  });

  it('counts characters, not the halves of which JavaScript makes some', () => {
    expect(codesOf({ type: 'string', maxLength: 1 }, '🦅')).to.deep.equal([]);
    expect(codesOf({ type: 'string', minLength: 2 }, '🦅')).to.deep.equal(['min_length']);
  });

  it('takes allowed values only, by what they say', () => {
    const family = { type: 'string', allowedValues: ['Windows', 'Linux'] };
    expect(codesOf(family, 'Linux')).to.deep.equal([]);
    expect(codesOf(family, 'linux')).to.deep.equal(['not_allowed']);
    expect(codesOf({ type: 'int', allowedValues: [1, 2] }, 3)).to.deep.equal(['not_allowed']);
    expect(codesOf({ type: 'bool', allowedValues: [true] }, false)).to.deep.equal(['not_allowed']);
    const ratio = { type: 'float', allowedValues: [1, 2.5] };
    for (const value of [1, float('1.0'), float('1e0'), float('2.50')])
      expect(codesOf(ratio, value)).to.deep.equal([]);
    const list = { type: 'array', allowedValues: [['a', 1], []] };
    expect(codesOf(list, ['a', 1])).to.deep.equal([]);
    expect(codesOf(list, [1, 'a'])).to.deep.equal(['not_allowed']);
    expect(codesOf(list, ['a', '1'])).to.deep.equal(['not_allowed']);
    const object = { type: 'object', allowedValues: [{ a: 1, b: { c: null } }] };
    expect(codesOf(object, { b: { c: null }, a: 1 })).to.deep.equal([]);
    expect(codesOf(object, { a: 1 })).to.deep.equal(['not_allowed']);
    expect(codesOf(object, { a: 1, b: { c: null }, d: 1 })).to.deep.equal(['not_allowed']);
  });

  it('is exact where JavaScript numbers are not', () => {
    const edge = 2n ** 53n;
    expect(codesOf({ type: 'int', maxValue: edge }, edge + 1n)).to.deep.equal(['maximum']);
    expect(codesOf({ type: 'int', maxValue: edge + 1n }, edge + 1n)).to.deep.equal([]);
    expect(codesOf({ type: 'int', minValue: edge + 1n }, edge)).to.deep.equal(['minimum']);
    expect(codesOf({ type: 'int', allowedValues: [edge] }, edge + 1n)).to.deep.equal(['not_allowed']);
    expect(codesOf({ type: 'int', allowedValues: [edge, edge + 1n] }, edge + 1n)).to.deep.equal([]);
    expect(codesOf({ type: 'float', maxValue: float('9007199254740992.0') }, edge + 1n)).to.deep.equal([
      'maximum',
    ]);
    expect(codesOf({ type: 'float', minValue: edge + 1n }, float('9007199254740992.0'))).to.deep.equal([
      'minimum',
    ]);
    expect(codesOf({ type: 'object', allowedValues: [{ a: edge }] }, { a: edge + 1n })).to.deep.equal([
      'not_allowed',
    ]);
  });

  it('requires of the whole what has no default value, of a part nothing', () => {
    const definitions = {
      port: { type: 'int' },
      'a/b': { type: 'string' },
      host: { type: 'string', defaultValue: 'x' },
    };
    expect(faultsOf(definitions, {})).to.deep.equal([
      '/parameters/port required',
      '/parameters/a~1b required',
    ]);
    expect(faultsOf(definitions, { port: 1 })).to.deep.equal(['/parameters/a~1b required']);
    expect(faultsOf(definitions, { port: 1, 'a/b': 'x' })).to.deep.equal([]);
    expect(faultsOf(definitions, {}, true)).to.deep.equal([]);
    expect(faultsOf(definitions, { port: 'x' }, true)).to.deep.equal(['/parameters/port type']);
  });

  it('does not take null for a value that is required', () => {
    expect(faultsOf({ a: { type: 'string' } }, { a: null })).to.deep.equal(['/parameters/a type']);
  });

  it('knows no other parameters, in whatever case', () => {
    const definitions = { port: { type: 'int' } };
    expect(faultsOf(definitions, { Port: 1 }, true)).to.deep.equal(['/parameters/Port unknown_parameter']);
    expect(faultsOf({}, { a: 1 })).to.deep.equal(['/parameters/a unknown_parameter']);
  });

  it('asks for a mapping of parameters, and passes over what stands beside it', () => {
    const definitions = definitionsOf({ port: { type: 'int', defaultValue: 1 } });
    const codesFor = (content: object, options = WHOLE) =>
      checkParameters(definitions, mappingOf(content), options).map(({ path, code }) => `${path} ${code}`);
    expect(codesFor({})).to.deep.equal(['/parameters required']);
    expect(codesFor({ port: 1 }, PARTIAL)).to.deep.equal(['/parameters required']);
    for (const parameters of [null, [], 'x', 1, float('1.0')])
      expect(codesFor({ parameters }, PARTIAL)).to.deep.equal(['/parameters type']);
    expect(codesFor({ $schema: 'https://example.org', parameters: {}, other: 1 })).to.deep.equal([]);
  });

  it('names what a whole without a parameters block lacks', () => {
    const errors = checkParameters(definitionsOf({ port: { type: 'int' } }), mappingOf({}), WHOLE);
    expect(errors.map(({ path }) => path)).to.deep.equal(['/parameters', '/parameters/port']);
  });

  it('tells every fault in the order of the document, up to a limit', () => {
    const definitions = {
      a: { type: 'int', minValue: 2, allowedValues: [2, 3] },
      b: { type: 'string' },
    };
    expect(faultsOf(definitions, { x: 1, a: 1 })).to.deep.equal([
      '/parameters/x unknown_parameter',
      '/parameters/a minimum',
      '/parameters/a not_allowed',
      '/parameters/b required',
    ]);
    const many = Object.fromEntries(Array.from({ length: MAX_ERRORS + 1 }, (_, at) => [`p${at}`, 1]));
    expect(faultsOf(definitions, many)).to.have.length(MAX_ERRORS);
  });

  it('says in plain words what is asked for', () => {
    const definitions = definitionsOf({
      port: { type: 'int', minValue: 1 },
      name: { type: 'string', minLength: 1 },
      tags: { type: 'array', maxLength: 2 },
    });
    const content = mappingOf({ parameters: { port: 0, name: '', tags: [1, 2, 3] } });
    expect(checkParameters(definitions, content, WHOLE)).to.deep.equal([
      { path: '/parameters/port', message: 'Must be at least 1', code: 'minimum' },
      { path: '/parameters/name', message: 'Must have at least 1 character', code: 'min_length' },
      { path: '/parameters/tags', message: 'Must have at most 2 items', code: 'max_length' },
    ]);
  });

  it('never repeats a value', () => {
    const secret = 'hunter2';
    const definitions = definitionsOf({
      short: { type: 'secureString', maxLength: 1 },
      chosen: { type: 'secureString', allowedValues: ['other-secret'] },
      number: { type: 'int' },
      object: { type: 'secureObject', allowedValues: [{ password: 'other-secret' }] },
    });
    const parameters = {
      short: secret,
      chosen: secret,
      number: secret,
      object: { password: secret },
      more: secret,
    };
    const errors = checkParameters(definitions, mappingOf({ parameters }), WHOLE);
    expect(errors).to.have.length(5);
    expect(JSON.stringify(errors)).not.to.match(/hunter2|other-secret/);
  });

  it('takes names that mean something to JavaScript for plain data', () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', ''];
    const all = (item: unknown) => new Map(names.map((name) => [name, fromJs(item)]));
    const definitions = definitionsOf(all({ type: 'object', allowedValues: [all({ a: 1 })] }));
    const check = (value: unknown) =>
      checkParameters(definitions, new Map([['parameters', all(value)]]), WHOLE).map(({ code }) => code);
    expect(check(all({ a: 1 }))).to.deep.equal([]);
    expect(check(all({ a: 2 }))).to.deep.equal(names.map(() => 'not_allowed'));
    expect(check(1)).to.deep.equal(names.map(() => 'type'));
    expect(checkParameters(definitions, mappingOf({ parameters: {} }), WHOLE)).to.have.length(names.length);
    const unknown = checkParameters(definitionsOf({}), new Map([['parameters', all(1)]]), WHOLE);
    expect(unknown.map(({ path }) => path)).to.deep.equal(names.map((name) => `/parameters/${name}`));
    expect(({} as Record<string, unknown>)['a']).to.equal(undefined);
  });

  it('agrees with its JSON Schema on plain documents', () => {
    const definitions = definitionsOf({
      text: { type: 'string', minLength: 1, maxLength: 3 },
      family: { type: 'string', allowedValues: ['a', 'b', '🦅'], defaultValue: 'a' },
      whole: { type: 'int', minValue: -2, maxValue: 5, defaultValue: 0 },
      ratio: { type: 'float', minValue: 0.5, allowedValues: [0.25, 0.5, 1, 2.5], defaultValue: 1 },
      flag: { type: 'bool', defaultValue: false },
      list: { type: 'array', maxLength: 2, allowedValues: [[], [1], [1, 2, 3]], defaultValue: [] },
      object: { type: 'object', defaultValue: {} },
    });
    const validate = new Ajv2020({ allErrors: true }).compile(toJsonSchema(definitions));
    const value = fc.oneof(
      fc.constantFrom<unknown>('', 'a', 'abcd', '🦅', true, false, null, [], [1], [1, 2, 3], {}, { a: 1 }),
      fc.integer({ min: -4, max: 7 }),
      fc.integer({ min: -4, max: 12 }).map((quarters) => quarters / 4),
    );
    const name = fc.constantFrom(...definitions.keys(), 'unknown');
    const document = fc
      .tuple(fc.constantFrom({}, { text: 'abc' }), fc.dictionary(name, value, { maxKeys: 2 }), fc.boolean())
      .map(([base, more, hasBlock]) => (hasBlock ? { parameters: { ...base, ...more } } : more));
    fc.assert(
      fc.property(document, (content) => {
        const isValid = checkParameters(definitions, mappingOf(content), WHOLE).length === 0;
        expect(isValid).to.equal(validate(content));
      }),
      { numRuns: 1_000 },
    );
  });
});
