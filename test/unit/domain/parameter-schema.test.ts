import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { MAX_ERRORS } from '../../../src/domain/parameter-checks.ts';
import { readParameterDefinitions } from '../../../src/domain/parameter-definitions.ts';
import { PARAMETER_TYPES, toJsonSchema } from '../../../src/domain/parameter-schema.ts';
import { Float } from '../../../src/domain/value.ts';
import type { FieldError } from '../../../src/lib/errors.ts';
import { faultsBy } from '../../support/failures.ts';
import { definitionsOf, fromJs, mappingOf } from '../../support/parameter-values.ts';

/** The faults of a `parameters` block, each as `path code`. */
function faultsOf(block: unknown): string[] {
  return errorsOf(block).map(({ path, code }) => `${path} ${code}`);
}

function errorsOf(block: unknown): FieldError[] {
  return faultsBy(() => readParameterDefinitions(new Map([['parameters', fromJs(block)]])));
}

/** Through JSON and back, as a client gets it. */
function publishedSchema(parameters: object) {
  return JSON.parse(JSON.stringify(toJsonSchema(definitionsOf(parameters))));
}

describe('parameter definitions', () => {
  it('are null where the document has no parameters block', () => {
    expect(readParameterDefinitions(mappingOf({ resources: [] }))).to.equal(null);
    expect(readParameterDefinitions(mappingOf({ parameters: null }))).to.equal(null);
  });

  it('are none where the block is empty', () => {
    expect(definitionsOf({}).size).to.equal(0);
  });

  it('carry everything that DSC defines, and pass over what they do not know', () => {
    const port = {
      type: 'int',
      defaultValue: 443,
      allowedValues: [443, 8443],
      minValue: 1,
      maxValue: 65_535,
      description: 'Where to listen',
    };
    const names = { type: 'array', minLength: 1, maxLength: 3 };
    const definitions = definitionsOf({ port: { ...port, metadata: { owner: 'web' }, other: 1 }, names });
    expect(definitions.get('port')).to.deep.equal({
      type: 'int',
      defaultValue: 443n,
      allowedValues: [443n, 8443n],
      minValue: 1n,
      maxValue: 65_535n,
      description: 'Where to listen',
    });
    expect(definitions.get('names')).to.deep.equal({ type: 'array', minLength: 1, maxLength: 3 });
  });

  it('know every type in any case', () => {
    for (const type of PARAMETER_TYPES) {
      for (const spelling of [type, type.toLowerCase(), type.toUpperCase()])
        expect(definitionsOf({ a: { type: spelling } }).get('a')?.type).to.equal(type);
    }
  });

  it('take a member that is null for absent, as DSC does', () => {
    const empty = { defaultValue: null, allowedValues: null, minLength: null, maxValue: null };
    expect(definitionsOf({ a: { type: 'bool', description: null, ...empty } }).get('a')).to.deep.equal({
      type: 'bool',
    });
  });

  it('take an expression as a default value of any type', () => {
    const text = definitionsOf({
      family: { type: 'string', defaultValue: "[concat('Win','dows')]", allowedValues: ['Windows', 'Linux'] },
    });
    expect(text.get('family')?.defaultValue).to.equal("[concat('Win','dows')]");
    for (const type of PARAMETER_TYPES)
      expect(faultsOf({ a: { type, defaultValue: "[parameters('b')]" } })).to.deep.equal([]);
  });

  it('bound floats by integers and floats, from one number on', () => {
    const half = new Float(0.5, '0.5');
    const ratio = { type: 'float', minValue: 0, maxValue: half, defaultValue: half };
    expect(definitionsOf({ ratio }).get('ratio')).to.include({ minValue: 0n, maxValue: half });
    expect(faultsOf({ one: { type: 'int', minValue: 7, maxValue: 7 } })).to.deep.equal([]);
  });

  const faultyBlocks: [what: string, block: unknown, faults: string[]][] = [
    ['a block that is a list', [], ['/parameters type']],
    ['a block that is text', 'x', ['/parameters type']],
    ['a definition that is none', { a: 'string' }, ['/parameters/a type']],
    [
      'a name with slashes and tildes',
      { 'a/b~c': { type: 'int', defaultValue: '1' } },
      ['/parameters/a~1b~0c/defaultValue type'],
    ],
  ];
  for (const [what, block, faults] of faultyBlocks)
    it(`refuse ${what}`, () => {
      expect(faultsOf(block)).to.deep.equal(faults);
    });

  const infinite = new Float(Number.POSITIVE_INFINITY, '.inf');
  const beyond = 2n ** 53n;
  const faultyDefinitions: [what: string, definition: object, ...faults: string[]][] = [
    ['a missing type', {}, 'type required'],
    ['an unknown type', { type: 'number' }, 'type unknown_type'],
    ['a type that JavaScript knows', { type: 'constructor' }, 'type unknown_type'],
    ['a type that is no text', { type: 1 }, 'type unknown_type'],
    ['a description that is no text', { type: 'int', description: 1 }, 'description type'],
    ['a bound that is text', { type: 'int', minValue: '1' }, 'minValue type'],
    ['a broken bound of an int', { type: 'int', maxValue: 1.5 }, 'maxValue type'],
    ['an infinite bound', { type: 'float', maxValue: infinite }, 'maxValue type'],
    ['a range of no value', { type: 'int', minValue: beyond + 1n, maxValue: beyond }, 'minValue empty_range'],
    ['a length below 0', { type: 'string', minLength: -1 }, 'minLength type'],
    ['a broken length', { type: 'array', maxLength: 1.5 }, 'maxLength type'],
    ['a length beyond all', { type: 'array', maxLength: beyond }, 'maxLength type'],
    ['a range of no length', { type: 'string', minLength: 2, maxLength: 1 }, 'minLength empty_range'],
    ['a length of a number', { type: 'int', maxLength: 1 }, 'maxLength not_applicable'],
    ['a length of a mapping', { type: 'object', minLength: 1 }, 'minLength not_applicable'],
    ['a range of text', { type: 'string', minValue: 1 }, 'minValue not_applicable'],
    ['allowed values in no list', { type: 'int', allowedValues: 1 }, 'allowedValues type'],
    ['no allowed value', { type: 'int', allowedValues: [] }, 'allowedValues type'],
    [
      'an allowed value of another type',
      { type: 'int', allowedValues: [1, '2', 3.5] },
      ...['allowedValues/1 type', 'allowedValues/2 type'],
    ],
    ['a default of another type', { type: 'bool', defaultValue: 'yes' }, 'defaultValue type'],
    [
      'a default that is not allowed',
      { type: 'string', allowedValues: ['x'], defaultValue: 'X' },
      'defaultValue not_allowed',
    ],
    ['a default below the least', { type: 'int', minValue: 1, defaultValue: 0 }, 'defaultValue minimum'],
    [
      'a default longer than allowed',
      { type: 'string', maxLength: 1, defaultValue: 'xy' },
      'defaultValue max_length',
    ],
  ];
  for (const [what, definition, ...faults] of faultyDefinitions)
    it(`refuse ${what}`, () => {
      expect(faultsOf({ a: definition })).to.deep.equal(faults.map((fault) => `/parameters/a/${fault}`));
    });

  it('are refused with every fault at once, up to a limit', () => {
    expect(faultsOf({ a: {}, b: { type: 'int', minLength: 1, defaultValue: 'x' } })).to.have.length(3);
    const many = Object.fromEntries(Array.from({ length: MAX_ERRORS + 1 }, (_, at) => [`p${at}`, {}]));
    expect(faultsOf(many)).to.have.length(MAX_ERRORS);
  });

  it('are refused without a word on a secret default', () => {
    const errors = errorsOf({ key: { type: 'secureString', minLength: 10, defaultValue: 'hunter2' } });
    expect(errors).to.have.length(1);
    expect(JSON.stringify(errors)).not.to.include('hunter2');
  });
});

describe('toJsonSchema', () => {
  it('requires what has no default value, and allows no other parameter', () => {
    const schema = publishedSchema({ a: { type: 'int' }, b: { type: 'string', defaultValue: 'x' } });
    expect(schema).to.deep.equal({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        parameters: {
          type: 'object',
          properties: { a: { type: 'integer' }, b: { type: 'string', default: 'x' } },
          required: ['a'],
          additionalProperties: false,
        },
      },
      required: ['parameters'],
    });
  });

  it('names types, bounds, allowed values and defaults as JSON Schema does', () => {
    const text = { minLength: 1, maxLength: 5, description: 'Text' };
    const { properties } = publishedSchema({
      string: { type: 'string', ...text, allowedValues: ['a', 'b'], defaultValue: 'a' },
      int: { type: 'int', minValue: 1, maxValue: 5, defaultValue: 2 },
      float: { type: 'float', minValue: 0.5, maxValue: 5 },
      bool: { type: 'bool', defaultValue: false },
      object: { type: 'object', defaultValue: { color: 'green', number: 10, deep: [{ a: null }] } },
      array: { type: 'array', minLength: 1, maxLength: 5, defaultValue: [1, 'x'] },
    }).properties.parameters;
    expect(properties).to.deep.equal({
      string: { type: 'string', ...text, enum: ['a', 'b'], default: 'a' },
      int: { type: 'integer', minimum: 1, maximum: 5, default: 2 },
      float: { type: 'number', minimum: 0.5, maximum: 5 },
      bool: { type: 'boolean', default: false },
      object: { type: 'object', default: { color: 'green', number: 10, deep: [{ a: null }] } },
      array: { type: 'array', minItems: 1, maxItems: 5, default: [1, 'x'] },
    });
  });

  it('tells nothing of what a secure parameter allows or defaults to', () => {
    const { properties } = publishedSchema({
      key: { type: 'secureString', minLength: 3, allowedValues: ['hunter2'], defaultValue: 'hunter2' },
      login: { type: 'secureObject', defaultValue: { password: 'hunter2' } },
    }).properties.parameters;
    expect(properties).to.deep.equal({
      key: { type: 'string', minLength: 3, writeOnly: true },
      login: { type: 'object', writeOnly: true },
    });
  });

  it('keeps names that mean something to JavaScript', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '', '0', 'a/b', '"'];
    const block = new Map(names.map((name) => [name, fromJs({ type: 'object', defaultValue: {} })]));
    const schema = JSON.stringify(toJsonSchema(definitionsOf(block)));
    const { properties } = JSON.parse(schema).properties.parameters;
    expect(Object.keys(properties)).to.have.members(names);
    const value = new Map([['__proto__', fromJs({ polluted: true })]]);
    const object = toJsonSchema(definitionsOf({ a: { type: 'object', defaultValue: value } }));
    expect(JSON.stringify(object)).to.include('"default":{"__proto__":{"polluted":true}}');
    expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
  });

  it('shows integers exactly as far as JSON numbers of JavaScript go, and never null for a bound', () => {
    const { a, b } = publishedSchema({
      a: { type: 'int', maxValue: 2 ** 53 - 1 },
      b: { type: 'int', minValue: -(10n ** 400n), maxValue: 2n ** 64n },
    }).properties.parameters.properties;
    expect(a.maximum).to.equal(9_007_199_254_740_991);
    expect(b).to.deep.equal({ type: 'integer', minimum: -Number.MAX_VALUE, maximum: 2 ** 64 });
  });

  it('is a valid JSON Schema 2020-12, whatever is defined', () => {
    const bounds = fc.tuple(fc.nat(9), fc.nat(9)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    const definition = fc.oneof(
      fc.constantFrom(...PARAMETER_TYPES).map((type) => ({ type })),
      bounds.map(([minLength, maxLength]) => ({ type: 'array', minLength, maxLength })),
      bounds.map(([minValue, maxValue]) => ({ type: 'float', minValue, maxValue, description: 'A bound' })),
      fc.array(fc.string(), { minLength: 1 }).map((allowedValues) => ({ type: 'string', allowedValues })),
      fc.bigInt().map((defaultValue) => ({ type: 'int', defaultValue })),
      fc.array(fc.jsonValue()).map((defaultValue) => ({ type: 'array', defaultValue })),
    );
    const ajv = new Ajv2020();
    const named = fc.array(fc.tuple(fc.oneof(fc.string(), fc.constant('__proto__')), definition));
    fc.assert(
      fc.property(named, (entries) => {
        const block = new Map(entries.map(([name, source]) => [name, fromJs(source)]));
        const schema = JSON.parse(JSON.stringify(toJsonSchema(definitionsOf(block))));
        // JSON Schema asks for distinct values in `enum` only as a matter of taste (SHOULD).
        expect(ajv.validateSchema(schema), ajv.errorsText()).to.equal(true);
      }),
    );
  });

  it('comes from real DSC documents', () => {
    const source = parse(`
      osFamily:
        type: string
        # the use of concat() here is just an example of using an expression for a defaultValue
        defaultValue: "[concat('Win','dows')]"
        allowedValues: [Windows, Linux, macOS]
      myString: { type: secureString }
      myObject: { type: secureObject }
      showSecrets: { type: bool, defaultValue: false }
    `);
    const { parameters } = publishedSchema(source).properties;
    expect(parameters.required).to.deep.equal(['myString', 'myObject']);
    expect(parameters.properties.osFamily.enum).to.deep.equal(['Windows', 'Linux', 'macOS']);
  });
});
