import { expect } from 'chai';
import fc from 'fast-check';
import {
  CHANGE_TYPES,
  type Change,
  type ChangeType,
  compareSchemas,
} from '../../../src/domain/compatibility.ts';
import { Float } from '../../../src/domain/value.ts';
import { definitionsOf } from '../../support/parameter-values.ts';

interface Told extends Change {
  isBreaking: boolean;
}

function compare(older: object, newer: object): Told[] {
  const { breakingChanges, nonBreakingChanges } = compareSchemas(definitionsOf(older), definitionsOf(newer));
  return [
    ...breakingChanges.map((change) => ({ ...change, isBreaking: true })),
    ...nonBreakingChanges.map((change) => ({ ...change, isBreaking: false })),
  ];
}

const MIRROR: Record<ChangeType, ChangeType> = {
  ParameterRemoved: 'ParameterAdded',
  ParameterAdded: 'ParameterRemoved',
  TypeChanged: 'TypeChanged',
  BecameRequired: 'BecameOptional',
  BecameOptional: 'BecameRequired',
  AllowedValuesReduced: 'AllowedValuesExpanded',
  AllowedValuesExpanded: 'AllowedValuesReduced',
  AllowedValuesAdded: 'AllowedValuesRemoved',
  AllowedValuesRemoved: 'AllowedValuesAdded',
  MinValueIncreased: 'MinValueDecreased',
  MinValueDecreased: 'MinValueIncreased',
  MaxValueDecreased: 'MaxValueIncreased',
  MaxValueIncreased: 'MaxValueDecreased',
  MinLengthIncreased: 'MinLengthDecreased',
  MinLengthDecreased: 'MinLengthIncreased',
  MaxLengthDecreased: 'MaxLengthIncreased',
  MaxLengthIncreased: 'MaxLengthDecreased',
  MergeChanged: 'MergeChanged',
};

const BREAKING: readonly ChangeType[] = [
  'ParameterRemoved',
  'TypeChanged',
  'BecameRequired',
  'AllowedValuesReduced',
  'AllowedValuesAdded',
  'MinValueIncreased',
  'MaxValueDecreased',
  'MinLengthIncreased',
  'MaxLengthDecreased',
  'MergeChanged',
];

describe('compareSchemas', () => {
  const int = { type: 'int' };
  const text = { type: 'string' };
  const list = { type: 'array' };
  const one = { type: 'int', allowedValues: [1] };
  const two = { type: 'int', allowedValues: [1, 2] };

  /** Each read forwards, and backwards as its mirror. */
  type Pair = [ChangeType, older: object, newer: object, oldValue: string | null, newValue: string | null];
  const pairs: Pair[] = [
    ['TypeChanged', int, text, 'int', 'string'],
    ['TypeChanged', text, { type: 'secureString' }, 'string', 'secureString'],
    ['TypeChanged', { type: 'object' }, { type: 'secureObject' }, 'object', 'secureObject'],
    ['TypeChanged', int, { type: 'float' }, 'int', 'float'],
    ['BecameRequired', { ...int, defaultValue: 1 }, int, '1', null],
    ['BecameRequired', { ...text, defaultValue: '1' }, text, '"1"', null],
    ['AllowedValuesReduced', two, one, '[1,2]', '[1]'],
    ['AllowedValuesAdded', int, one, null, '[1]'],
    ['MinValueIncreased', { ...int, minValue: 1 }, { ...int, minValue: 2 }, '1', '2'],
    ['MinValueIncreased', int, { ...int, minValue: 0 }, null, '0'],
    ['MaxValueDecreased', { ...int, maxValue: 5 }, { ...int, maxValue: -5 }, '5', '-5'],
    ['MaxValueDecreased', int, { ...int, maxValue: 0 }, null, '0'],
    ['MinLengthIncreased', { ...text, minLength: 1 }, { ...text, minLength: 2 }, '1', '2'],
    ['MinLengthIncreased', list, { ...list, minLength: 0 }, null, '0'],
    ['MaxLengthDecreased', { ...list, maxLength: 5 }, { ...list, maxLength: 4 }, '5', '4'],
    ['MaxLengthDecreased', text, { ...text, maxLength: 0 }, null, '0'],
  ];
  for (const [changeType, older, newer, oldValue, newValue] of pairs) {
    it(`tells ${changeType} from ${oldValue} to ${newValue}, and back`, () => {
      const [there, ...rest] = compare({ a: older }, { a: newer });
      expect(rest).to.deep.equal([]);
      expect(there).to.include({ parameterName: 'a', changeType, oldValue, newValue });
      expect(there?.isBreaking).to.equal(BREAKING.includes(changeType));
      const [back, ...more] = compare({ a: newer }, { a: older });
      expect(more).to.deep.equal([]);
      const mirrored = MIRROR[changeType];
      expect(back).to.include({ changeType: mirrored, oldValue: newValue, newValue: oldValue });
      expect(back?.isBreaking).to.equal(BREAKING.includes(mirrored));
    });
  }

  it('breaks by a parameter that goes, whether it was required or not', () => {
    const removed = { changeType: 'ParameterRemoved', isBreaking: true, oldValue: 'int', newValue: null };
    for (const definition of [int, { ...int, defaultValue: 1 }]) {
      const [change, ...rest] = compare({ a: definition }, {});
      expect(rest).to.deep.equal([]);
      expect(change).to.include(removed);
    }
  });

  it('breaks by a parameter that comes only if it is required', () => {
    const added = { changeType: 'ParameterAdded', oldValue: null, newValue: 'int' };
    expect(compare({}, { a: int })[0]).to.include({ ...added, isBreaking: true });
    expect(compare({}, { a: { ...int, defaultValue: 1 } })[0]).to.include({ ...added, isBreaking: false });
  });

  it('says nothing of what does not bind: descriptions, other defaults, an order', () => {
    const before = { ...two, defaultValue: 1, description: 'x' };
    const after = { ...two, allowedValues: [2, 1, 2], defaultValue: 2, description: 'y' };
    expect(compare({ a: before, b: int }, { b: int, a: after })).to.deep.equal([]);
  });

  it('tells two changes where allowed values go and others come', () => {
    const changes = compare({ a: two }, { a: { type: 'int', allowedValues: [2, 3] } });
    expect(changes.map(({ changeType, isBreaking }) => [changeType, isBreaking])).to.deep.equal([
      ['AllowedValuesReduced', true],
      ['AllowedValuesExpanded', false],
    ]);
    for (const change of changes) expect(change).to.include({ oldValue: '[1,2]', newValue: '[2,3]' });
  });

  it('compares numbers by their exact value', () => {
    const edge = 2n ** 53n;
    const [change] = compare({ a: { ...int, maxValue: edge + 1n } }, { a: { ...int, maxValue: edge } });
    expect(change).to.include({ oldValue: '9007199254740993', newValue: '9007199254740992' });
    const float = (definition: object) => ({ a: { type: 'float', ...definition } });
    const spelt = (spelling: string) => new Float(Number(spelling), spelling);
    const [least, one] = [float({ minValue: 1 }), float({ allowedValues: [1] })];
    expect(compare(least, float({ minValue: spelt('1.0') }))).to.deep.equal([]);
    expect(compare(one, float({ allowedValues: [spelt('1.0')] }))).to.deep.equal([]);
    const [raised] = compare(least, float({ minValue: spelt('1.50') }));
    expect(raised).to.include({ changeType: 'MinValueIncreased', oldValue: '1', newValue: '1.50' });
  });

  it('prints values of any form as text', () => {
    const defaultValue = { 'k"': [1n << 64n, 1.5, null, true, '[x]'], empty: {} };
    const [change] = compare({ a: { type: 'object', defaultValue } }, { a: { type: 'object' } });
    expect(change?.oldValue).to.equal('{"k\\"":[18446744073709551616,1.5,null,true,"[x]"],"empty":{}}');
  });

  it('repeats nothing of what a secure parameter allows or defaults to', () => {
    const secret = { type: 'secureString', allowedValues: ['hunter2', 'x'], defaultValue: 'hunter2' };
    const plain = { type: 'string', allowedValues: ['hunter2'] };
    for (const [older, newer] of [
      [secret, { ...secret, allowedValues: ['hunter2'] }],
      [secret, { type: 'secureString' }],
      [{ type: 'secureString' }, secret],
      [secret, plain],
      [plain, secret],
      [{}, secret],
    ]) {
      const before = older && 'type' in older ? { a: older } : {};
      const changes = compare(before, { a: newer });
      expect(changes).not.to.have.length(0);
      expect(JSON.stringify(changes)).not.to.include('hunter2');
    }
    const [change] = compare({ a: secret }, { a: { ...secret, allowedValues: ['hunter2'] } });
    expect(change).to.include({ oldValue: '<redacted>', newValue: '<redacted>' });
  });

  it('orders changes by name, then as the types of change are listed', () => {
    const bounds = { minValue: 1, maxValue: 5, allowedValues: [1, 2] };
    const older = { b: { ...int, ...bounds }, a: int, B: int };
    const newer = { b: { type: 'float', minValue: 2, maxValue: 4, allowedValues: [2] }, c: text };
    const { breakingChanges } = compareSchemas(definitionsOf(older), definitionsOf(newer));
    expect(
      breakingChanges.map(({ parameterName, changeType }) => `${parameterName} ${changeType}`),
    ).to.deep.equal([
      'B ParameterRemoved',
      'a ParameterRemoved',
      'b TypeChanged',
      'b AllowedValuesReduced',
      'b MinValueIncreased',
      'b MaxValueDecreased',
      'c ParameterAdded',
    ]);
  });

  it('describes each change in a sentence that names the parameter', () => {
    const older = { gone: int, typed: int, req: { ...int, defaultValue: 1 }, low: { ...int, minValue: 1 } };
    const newer = { typed: text, req: int, low: { ...int, minValue: 2, maxValue: 9 }, fresh: int };
    expect(compare(older, newer).map(({ description }) => description)).to.deep.equal([
      'Required parameter "fresh" was added.',
      'Parameter "gone" was removed.',
      'The least value of parameter "low" was raised.',
      'The greatest value of parameter "low" was introduced.',
      'Parameter "req" lost its default value and is now required.',
      'The type of parameter "typed" changed from int to string.',
    ]);
  });

  it('takes names that mean something to JavaScript for plain data', () => {
    const older = JSON.parse('{"__proto__": {"type": "int"}, "constructor": {"type": "int"}}');
    const names = (changes: Told[]) => changes.map(({ parameterName }) => parameterName);
    expect(names(compare(older, {}))).to.deep.equal(['__proto__', 'constructor']);
    expect(names(compare({}, older))).to.deep.equal(['__proto__', 'constructor']);
    expect(compare(older, older)).to.deep.equal([]);
  });

  describe('for any two schemas', () => {
    const bounds = (least: string, most: string) =>
      fc.tuple(fc.option(fc.nat(4)), fc.option(fc.nat(4))).map(([a, b]) => {
        const [low, high] = a !== null && b !== null && a > b ? [b, a] : [a, b];
        return { [least]: low, [most]: high };
      });
    const values = fc.option(fc.uniqueArray(fc.nat(4), { minLength: 1 }));
    const isOptional = fc.boolean();
    const number = fc
      .tuple(fc.constantFrom('int', 'float'), bounds('minValue', 'maxValue'), values, isOptional)
      .map(([type, range, allowedValues, optional]) => ({
        type,
        ...range,
        allowedValues,
        ...(optional && { defaultValue: '[add(1, 1)]' }),
      }));
    const sized = fc
      .tuple(fc.constantFrom('string', 'secureString', 'array'), bounds('minLength', 'maxLength'), isOptional)
      .map(([type, range, optional]) => ({ type, ...range, ...(optional && { defaultValue: '[x()]' }) }));
    const schema = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'toString'), fc.oneof(number, sized));

    it('tells nothing of a schema against itself', () => {
      fc.assert(
        fc.property(schema, (same) => {
          expect(compare(same, same)).to.deep.equal([]);
        }),
      );
    });

    it('tells backwards the mirror of what it tells forwards', () => {
      fc.assert(
        fc.property(schema, schema, (older, newer) => {
          const there = compare(older, newer).map(
            ({ parameterName, changeType, oldValue, newValue }) =>
              `${parameterName} ${MIRROR[changeType]} ${newValue} ${oldValue}`,
          );
          const back = compare(newer, older).map(
            ({ parameterName, changeType, oldValue, newValue }) =>
              `${parameterName} ${changeType} ${oldValue} ${newValue}`,
          );
          expect(there.sort()).to.deep.equal(back.sort());
        }),
      );
    });

    it('calls breaking what the contract names, in the order of the list', () => {
      fc.assert(
        fc.property(schema, schema, (older, newer) => {
          const changes = compareSchemas(definitionsOf(older), definitionsOf(newer));
          for (const told of [changes.breakingChanges, changes.nonBreakingChanges]) {
            const places = told.map(
              ({ parameterName, changeType }) =>
                `${parameterName} ${String(CHANGE_TYPES.indexOf(changeType)).padStart(2, '0')}`,
            );
            expect(places).to.deep.equal([...places].sort());
          }
          for (const { changeType } of changes.breakingChanges)
            expect([...BREAKING, 'ParameterAdded']).to.include(changeType);
          for (const { changeType } of changes.nonBreakingChanges)
            expect(BREAKING).not.to.include(changeType);
        }),
      );
    });
  });
});
