import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import { MAX_ERRORS } from '../../../src/domain/parameter-checks.ts';
import { readParameterDefinitions } from '../../../src/domain/parameter-definitions.ts';
import { PARAMETER_TYPES, toJsonSchema } from '../../../src/domain/parameter-schema.ts';
import { Float } from '../../../src/domain/value.ts';
import { type FieldError, HawserError } from '../../../src/lib/errors.ts';
import { definitionsOf, fromJs, mappingOf } from '../../support/parameter-values.ts';

/** The faults of a `parameters` block, each as `path code`. */
function faultsOf(block: unknown): string[] {
  return errorsOf(block).map(({ path, code }) => `${path} ${code}`);
}

function errorsOf(block: unknown): FieldError[] {
  try {
    readParameterDefinitions(new Map([['parameters', fromJs(block)]]));
    return [];
  } catch (error) {
    expect(error).to.be.instanceOf(HawserError);
    const { kind, code, data } = error as HawserError;
    expect([kind, code]).to.deep.equal(['invalid', 'validation_failed']);
    return data['errors'] as FieldError[];
  }
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

  const faulty: [what: string, block: unknown, faults: string[]][] = [
    ['a block that is a list', [], ['/parameters type']],
    ['a block that is text', 'x', ['/parameters type']],
    ['a definition that is none', { a: 'string' }, ['/parameters/a type']],
    ['a missing type', { a: {} }, ['/parameters/a/type required']],
    ['an unknown type', { a: { type: 'number' } }, ['/parameters/a/type unknown_type']],
    ['a type that JavaScript knows', { a: { type: 'constructor' } }, ['/parameters/a/type unknown_type']],
    ['a type that is no text', { a: { type: 1 } }, ['/parameters/a/type unknown_type']],
    [
      'a description that is no text',
      { a: { type: 'int', description: 1 } },
      ['/parameters/a/description type'],
    ],
    ['a bound that is text', { a: { type: 'int', minValue: '1' } }, ['/parameters/a/minValue type']],
    ['a broken bound of an int', { a: { type: 'int', maxValue: 1.5 } }, ['/parameters/a/maxValue type']],
    [
      'an infinite bound',
      { a: { type: 'float', maxValue: new Float(Number.POSITIVE_INFINITY, '.inf') } },
      ['/parameters/a/maxValue type'],
    ],
    [
      'a least value above the greatest',
      { a: { type: 'int', minValue: 2n ** 53n + 1n, maxValue: 2n ** 53n } },
      ['/parameters/a/minValue empty_range'],
    ],
    ['a length below 0', { a: { type: 'string', minLength: -1 } }, ['/parameters/a/minLength type']],
    ['a broken length', { a: { type: 'array', maxLength: 1.5 } }, ['/parameters/a/maxLength type']],
    ['a length beyond all', { a: { type: 'array', maxLength: 2n ** 53n } }, ['/parameters/a/maxLength type']],
    [
      'a least length above the greatest',
      { a: { type: 'string', minLength: 2, maxLength: 1 } },
      ['/parameters/a/minLength empty_range'],
    ],
    [
      'a length of a number',
      { a: { type: 'int', maxLength: 1 } },
      ['/parameters/a/maxLength not_applicable'],
    ],
    [
      'a length of a mapping',
      { a: { type: 'object', minLength: 1 } },
      ['/parameters/a/minLength not_applicable'],
    ],
    ['a range of text', { a: { type: 'string', minValue: 1 } }, ['/parameters/a/minValue not_applicable']],
    [
      'allowed values in no list',
      { a: { type: 'int', allowedValues: 1 } },
      ['/parameters/a/allowedValues type'],
    ],
    ['no allowed value', { a: { type: 'int', allowedValues: [] } }, ['/parameters/a/allowedValues type']],
    [
      'an allowed value of another type',
      { a: { type: 'int', allowedValues: [1, '2', 3.5] } },
      ['/parameters/a/allowedValues/1 type', '/parameters/a/allowedValues/2 type'],
    ],
    [
      'a default of another type',
      { a: { type: 'bool', defaultValue: 'yes' } },
      ['/parameters/a/defaultValue type'],
    ],
    [
      'a default that is not allowed',
      { a: { type: 'string', allowedValues: ['x'], defaultValue: 'X' } },
      ['/parameters/a/defaultValue not_allowed'],
    ],
    [
      'a default out of bounds',
      {
        a: { type: 'int', minValue: 1, defaultValue: 0 },
        b: { type: 'string', maxLength: 1, defaultValue: 'xy' },
      },
      ['/parameters/a/defaultValue minimum', '/parameters/b/defaultValue max_length'],
    ],
    [
      'a name with slashes and tildes',
      { 'a/b~c': { type: 'int', defaultValue: '1' } },
      ['/parameters/a~1b~0c/defaultValue type'],
    ],
  ];
  for (const [what, block, faults] of faulty)
    it(`refuse ${what}`, () => {
      expect(faultsOf(block)).to.deep.equal(faults);
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
