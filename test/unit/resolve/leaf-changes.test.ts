import { expect } from 'chai';
import fc from 'fast-check';
import { readJson } from '../../../src/domain/json-text.ts';
import { mergeUntraced } from '../../../src/domain/merge.ts';
import { PLAIN_WAY } from '../../../src/domain/merge-way.ts';
import type { SecretNames } from '../../../src/domain/secrets.ts';
import { Float, type Mapping, type Value } from '../../../src/domain/value.ts';
import { countLeafChanges, type LeafSide, listLeafChanges } from '../../../src/resolve/leaf-changes.ts';

const NONE: SecretNames = new Set();

function side(texts: readonly string[], secrets: SecretNames = NONE, files = texts): LeafSide {
  return { documents: texts.map(readJson), files, secrets, way: PLAIN_WAY };
}

const count = (before: LeafSide | null, after: LeafSide | null) => {
  const merged = (given: LeafSide | null) => given && { ...given, merged: mergeUntraced(given.documents) };
  return countLeafChanges(merged(before), merged(after));
};

/** The paths of a list, which must be as long as what is counted. */
function paths(before: LeafSide | null, after: LeafSide | null): string[] {
  const found = listLeafChanges(before, after).map(({ path }) => path);
  expect(count(before, after)).to.equal(found.length);
  return found;
}

const parameters = (text: string) => [`{"parameters":{${text}}}`];
const changed = (before: string, after: string) => paths(side(parameters(before)), side(parameters(after)));

describe('the leaves that differ', () => {
  it('are those on one side only, and those of another value, by path', () => {
    expect(changed('"z":1,"b":2,"same":[1,{"k":2}]', '"a":1,"b":3,"same":[1,{"k":2}]')).to.deep.equal([
      ...['/parameters/a', '/parameters/b', '/parameters/z'],
    ]);
    expect(changed('"a":{"x":1,"y":{"u":1,"v":2}}', '"a":{"x":1,"y":{"v":3}}')).to.deep.equal([
      ...['/parameters/a/y/u', '/parameters/a/y/v'],
    ]);
    expect(changed('"a/b":1', '"a~b":1'), 'JSON Pointers').to.deep.equal([
      ...['/parameters/a~0b', '/parameters/a~1b'],
    ]);
  });

  it('are told apart by kind: a mapping with keys is none, a list and an empty mapping are one', () => {
    expect(changed('"a":{}', '"a":{"x":1}')).to.deep.equal(['/parameters/a', '/parameters/a/x']);
    expect(changed('"a":[1,2]', '"a":[2,1]')).to.deep.equal(['/parameters/a']);
    expect(changed('"a":null', '')).to.deep.equal(['/parameters', '/parameters/a']);
    expect(changed('"a":5', '"a":{"x":{"y":1}}')).to.deep.equal(['/parameters/a', '/parameters/a/x/y']);
  });

  it('are compared exactly', () => {
    expect(changed('"a":9007199254740993', '"a":9007199254740992')).to.have.length(1);
    expect(changed('"a":1', '"a":1.0')).to.have.length(1);
    expect(changed('"a":1', '"a":"1"')).to.have.length(1);
    expect(changed('"a":1e2', '"a":1.0e+2'), 'two spellings of the same file').to.have.length(0);
    expect(changed('"a":[{"x":1,"y":2}]', '"a":[{"y":2,"x":1}]')).to.have.length(0);
    const infinite = new Map([['a', new Float(Infinity, '.inf')]]);
    const text: LeafSide = {
      documents: [new Map([['a', '.inf']])],
      files: ['f'],
      secrets: NONE,
      way: PLAIN_WAY,
    };
    expect(paths({ ...text, documents: [infinite] }, text)).to.deep.equal(['/a']);
  });

  it('are all leaves of the only side', () => {
    const only = side(['{"parameters":{"a":{"x":1,"y":[]}},"note":"n"}']);
    expect(paths(null, only)).to.deep.equal(['/note', '/parameters/a/x', '/parameters/a/y']);
    expect(paths(only, null)).to.deep.equal(paths(null, only));
    expect(paths(null, side([])), 'an empty document has none').to.deep.equal([]);
  });

  it('of a secure parameter are those from another file, whatever their values are', () => {
    const secrets = new Set(['key']);
    const [low, high] = ['{"parameters":{"key":"a","x":1}}', '{"parameters":{"key":"b","x":2}}'];
    const compare = (before: string[], after: string[], [old, next] = [before, after]) =>
      paths(side(before, secrets, old), side(after, secrets, next));
    expect(compare([low], [low], [['one'], ['two']])).to.deep.equal(['/parameters/key']);
    expect(compare([low], [high], [['one'], ['one']])).to.deep.equal(['/parameters/x']);
    expect(compare([low, high], [high], [['one', 'two'], ['two']])).to.deep.equal([]);
    expect(compare([low], [low, high], [['one'], ['one', 'two']])).to.deep.equal([
      ...['/parameters/key', '/parameters/x'],
    ]);
  });

  it('follow files where the parameter is secure on one side alone', () => {
    const secure = new Set(['key']);
    const text = parameters('"key":"a"');
    for (const [old, next] of [
      [NONE, secure],
      [secure, NONE],
    ] as const) {
      expect(paths(side(text, old, ['one']), side(text, next, ['two']))).to.deep.equal(['/parameters/key']);
      const other = side(parameters('"key":"b"'), next, ['one']);
      expect(paths(side(text, old, ['one']), other)).to.deep.equal([]);
    }
  });

  it('inside a secure mapping each have a file of their own', () => {
    const secrets = new Set(['login']);
    const before = side(parameters('"login":{"user":"u","pass":"p"}'), secrets, ['one']);
    const over = [...before.documents, readJson(parameters('"login":{"pass":"q","pin":1}')[0] as string)];
    const after = { documents: over, files: ['one', 'two'], secrets, way: PLAIN_WAY };
    expect(paths(before, after)).to.deep.equal(['/parameters/login/pass', '/parameters/login/pin']);
  });
});

const value = fc.letrec<{ value: Value; mapping: Mapping }>((tie) => ({
  value: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom<Value>(null, 1n, 2n, 'x', [1n], new Map(), new Float(1, '1.0')) },
    { weight: 2, arbitrary: tie('mapping') },
  ),
  mapping: fc
    .array(fc.tuple(fc.constantFrom('a', 'b', 'c'), tie('value')), { maxLength: 3 })
    .map((entries) => new Map(entries)),
}));
/** Mostly documents with a block of parameters, and sometimes anything at its place. */
const document = fc
  .tuple(fc.oneof({ weight: 5, arbitrary: value.mapping }, value.value), value.mapping)
  .map(([block, rest]): Mapping => new Map([...rest, ['parameters', block]]));
const secretNames: fc.Arbitrary<SecretNames> = fc.oneof(
  fc.subarray(['a', 'b', 'c']).map((names) => new Set(names)),
  fc.constant('all' as const),
);
/** Documents of both sides are of the same few files, so that some leaves come from the same file. */
const sides = fc
  .tuple(
    fc.array(document, { minLength: 1, maxLength: 4 }),
    fc.array(secretNames, { minLength: 2, maxLength: 2 }),
  )
  .chain(([all, [old, next]]) => {
    const pick = (secrets: SecretNames | undefined) =>
      fc.subarray([...all.keys()]).map(
        (chosen): LeafSide => ({
          documents: chosen.map((at) => all[at] as Mapping),
          files: chosen.map(String),
          secrets: secrets ?? NONE,
          way: PLAIN_WAY,
        }),
      );
    return fc.tuple(pick(old), pick(next));
  });

describe('random leaves', () => {
  it('are counted as they are listed', () => {
    fc.assert(
      fc.property(sides, ([before, after]) => {
        expect(count(before, after)).to.equal(listLeafChanges(before, after).length);
      }),
      { numRuns: 3_000 },
    );
  });
});
