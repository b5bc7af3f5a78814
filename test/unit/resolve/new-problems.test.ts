import { expect } from 'chai';
import fc from 'fast-check';
import { mergeInWay, PLAIN_WAY } from '../../../src/domain/merge-way.ts';
import type { ParameterDefinitions } from '../../../src/domain/parameter-schema.ts';
import { type CheckedSide, newProblems } from '../../../src/resolve/new-problems.ts';
import { checkMerged } from '../../../src/resolve/provenance-text.ts';
import { definitionsOf, mappingOf } from '../../support/parameter-values.ts';

function side(definitions: object | ParameterDefinitions | null, ...documents: object[]): CheckedSide {
  const read = documents.map(mappingOf);
  const defined =
    definitions === null || definitions instanceof Map ? definitions : definitionsOf(definitions);
  const known = defined as ParameterDefinitions | null;
  return { definitions: known, documents: read, ...mergeInWay(read, PLAIN_WAY) };
}

const given = (parameters: unknown) => ({ parameters });
const codes = (before: CheckedSide | null, after: CheckedSide) =>
  newProblems(before, after).map(({ path, code }) => `${path} ${code}`);

describe('new problems', () => {
  const port = { port: { type: 'int', maxValue: 10 } };

  it('are those that are not there before', () => {
    const between = (before: object, after: object) =>
      codes(side(port, given(before)), side(port, given(after))).join();
    expect(between({ port: 5 }, { port: 11 })).to.equal('/parameters/port maximum');
    expect(between({ port: 12 }, { port: 11 })).to.equal('');
    expect(between({ port: 12 }, { port: 'x' })).to.equal('/parameters/port type');
    expect(between({ port: 1 }, {})).to.equal('/parameters/port required');
  });

  it('come with a definition that changes, though the value does not', () => {
    const five = given({ port: 5 });
    const under = (definitions: object) => codes(side(port, five), side(definitions, five)).join();
    const strict = { port: { type: 'int', maxValue: 3 } };
    expect(under(strict)).to.equal('/parameters/port maximum');
    expect(under({})).to.equal('/parameters/port unknown_parameter');
    expect(under({ ...port, name: { type: 'string' } })).to.equal('/parameters/name required');
  });

  it('are all of them where nothing was checked before, and none where nothing is checked now', () => {
    const bad = side(port, given({ port: 'x' }));
    const all = ['/parameters/port type'];
    expect(codes(null, bad)).to.deep.equal(all);
    expect(codes(side(null, given({ port: 'x' })), bad)).to.deep.equal(all);
    expect(codes(side(port), side(port)), 'no file on either side').to.deep.equal([]);
    expect(codes(side(null), side(port)), 'no file sets what is required').to.deep.equal([
      '/parameters/port required',
    ]);
    expect(codes(bad, side(null, given({ port: 'y' })))).to.deep.equal([]);
    expect(codes(side(port, given({ port: 1 })), side(port, given(5)))).to.deep.equal([
      ...['/parameters type', '/parameters/port required'],
    ]);
  });

  it('are what two whole checks differ in, on random cases', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const definition = fc.record(
      {
        type: fc.constantFrom('int', 'string', 'object'),
        defaultValue: fc.constant(undefined),
        maxValue: fc.constantFrom(1, 5),
      },
      { requiredKeys: ['type'] },
    );
    const definitions = fc.dictionary(name, definition, { maxKeys: 3 }).map((all) => {
      const fit = Object.entries(all).map(([key, { type, maxValue, ...rest }]) => {
        const isOptional = 'defaultValue' in rest;
        const defaults = { int: 1, string: 'x', object: {} } as const;
        return [
          key,
          {
            type,
            ...(type === 'int' && maxValue ? { maxValue } : {}),
            ...(isOptional ? { defaultValue: defaults[type as keyof typeof defaults] } : {}),
          },
        ];
      });
      return definitionsOf(Object.fromEntries(fit));
    });
    const values = fc.dictionary(name, fc.constantFrom<unknown>(1, 3, 9, 'x', {}, { k: 1 }, null), {
      maxKeys: 3,
    });
    const block = fc.oneof({ weight: 6, arbitrary: values }, fc.constantFrom<unknown>(null, 5));
    const documents = fc.array(block.map(given), { maxLength: 3 });
    const [pair, texts] = [fc.tuple(definitions, definitions), fc.tuple(documents, documents)];
    fc.assert(
      fc.property(pair, fc.boolean(), texts, ([old, other], isSame, [x, y]) => {
        const [before, after] = [side(old, ...x), side(isSame ? old : other, ...y)];
        const all = ({ definitions, documents, ...made }: CheckedSide) =>
          checkMerged(definitions, documents, made).map((problem) => JSON.stringify(problem));
        const known = new Set(all(before));
        const expected = all(after).filter((problem) => !known.has(problem));
        const found = newProblems(before, after).map((problem) => JSON.stringify(problem));
        expect(found).to.deep.equal(expected);
      }),
      { numRuns: 2_000 },
    );
  });
});
