import { expect } from 'chai';
import fc from 'fast-check';
import { type Merged, mergeMappings, mergeUntraced, type SourceValue } from '../../../src/domain/merge.ts';
import { mergeOver } from '../../../src/domain/merge-over.ts';
import { isMapping, type Mapping, type Value } from '../../../src/domain/value.ts';
import { mappingOf } from '../../support/parameter-values.ts';
import { anyMapping, canonical } from '../../support/values.ts';

const merge = (...sources: object[]): Merged => mergeMappings(sources.map(mappingOf));
const merged = (...sources: Mapping[]): string => canonical(mergeMappings(sources).merged);

/** Few keys, so that sources meet; some of them need escapes in a pointer, some mean something to JavaScript. */
const meetingKey = fc.constantFrom('a', 'b', 'c', 'a/b', '~1', '', '__proto__', 'constructor');
const { mapping: meeting } = fc.letrec<{ value: Value; mapping: Mapping }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom<Value>(null, 1n, 'x', [], [1n, new Map([['a', 2n]])]),
    tie('mapping'),
    tie('mapping'),
  ),
  mapping: fc.array(fc.tuple(meetingKey, tie('value')), { maxLength: 4 }).map((entries) => new Map(entries)),
}));
const meetings = fc.array(meeting, { maxLength: 5 });

/** Mappings under some keys, anything else under others, as sources are that follow one schema. */
const { mapping: agreeing } = fc.letrec<{ leaf: Value; mapping: Mapping }>((tie) => ({
  leaf: fc.constantFrom<Value>(null, 1n, 2n, 'x', [], [1n]),
  mapping: fc
    .array(
      fc.oneof(
        fc.tuple(fc.constantFrom('x', 'y', 'z'), tie('leaf')),
        fc.tuple(fc.constantFrom('a', 'b', 'c'), tie('mapping')),
      ),
      { maxLength: 4 },
    )
    .map((entries) => new Map<string, Value>(entries as [string, Value][])),
}));

describe('mergeMappings', () => {
  it('merges mappings key by key at every depth, and replaces anything else', () => {
    const { merged } = merge(
      { server: { host: 'a', port: 80, tls: { on: false } }, list: [1, 2], gone: { a: 1 } },
      { server: { port: 8080, tls: { on: true, name: 'x' } }, list: [3], gone: null },
    );
    const expected = {
      server: { host: 'a', port: 8080, tls: { on: true, name: 'x' } },
      list: [3],
      gone: null,
    };
    expect(canonical(merged)).to.equal(canonical(mappingOf(expected)));
  });

  it('keeps keys in the order of their first appearance, replaced values too', () => {
    const { merged } = merge({ b: 1, a: { y: 1 } }, { c: 1, a: 2, b: { z: 1 } }, { d: 1, a: 3 });
    expect([...merged.keys()]).to.deep.equal(['b', 'a', 'c', 'd']);
  });

  it('lets an empty mapping change nothing in a mapping, and replace anything else', () => {
    const { merged } = merge({ a: { x: 1 }, b: 1, c: {}, d: [1] }, { a: {}, b: {}, c: {}, d: {} });
    expect(canonical(merged)).to.equal(canonical(mappingOf({ a: { x: 1 }, b: {}, c: {}, d: {} })));
  });

  it('does not let keys through that something else has replaced since', () => {
    const { merged } = merge({ a: { old: 1 } }, { a: 'text' }, { a: { new: 1 } });
    expect(canonical(merged)).to.equal(canonical(mappingOf({ a: { new: 1 } })));
    const deeper = merge({ a: { b: { old: 1 } } }, { a: null }, { a: { b: {} } });
    expect(canonical(deeper.merged)).to.equal(canonical(mappingOf({ a: { b: {} } })));
    expect(deeper.provenance.get('/a/b')).to.deep.equal({
      source: 2,
      value: new Map(),
      overridden: [{ source: 0, value: mappingOf({ old: 1 }) }],
    });
  });

  it('says which source sets each leaf, by pointers in the order of the document', () => {
    const { provenance } = merge(
      { parameters: { 'a/b': { '~': 1 }, list: [{ x: 1 }], empty: {} } },
      { parameters: { 'a/b': { '': 2 }, more: { deep: null } } },
    );
    expect(Array.from(provenance, ([pointer, { source }]) => [pointer, source])).to.deep.equal([
      ['/parameters/a~1b/~0', 0],
      ['/parameters/a~1b/', 1],
      ['/parameters/list', 0],
      ['/parameters/empty', 0],
      ['/parameters/more/deep', 1],
    ]);
  });

  it('lists what a leaf overrides, the nearest first, a whole mapping too', () => {
    const { provenance } = merge({ a: 1 }, { a: { x: 1 } }, {}, { a: { y: 2 } }, { a: [3] });
    expect(provenance.get('/a')).to.deep.equal({
      source: 4,
      value: [3n],
      overridden: [
        { source: 3, value: mappingOf({ y: 2 }) },
        { source: 1, value: mappingOf({ x: 1 }) },
        { source: 0, value: 1n },
      ],
    });
    expect([...provenance.keys()]).to.deep.equal(['/a']);
  });

  it('names the last source also where it sets what was there already', () => {
    const { provenance } = merge({ a: 1, b: {} }, { a: 1, b: {} });
    expect(provenance.get('/a')).to.deep.equal({
      source: 1,
      value: 1n,
      overridden: [{ source: 0, value: 1n }],
    });
    expect(provenance.get('/b')).to.include({ source: 1 });
  });

  it('makes nothing of nothing', () => {
    for (const result of [merge(), merge({}), merge({}, {})])
      expect(result).to.deep.equal({ merged: new Map(), provenance: new Map(), faults: [] });
  });

  it('leaves its sources as they are', () => {
    fc.assert(
      fc.property(meetings, (sources) => {
        const before = sources.map(canonical);
        mergeMappings(sources);
        expect(sources.map(canonical)).to.deep.equal(before);
      }),
    );
  });

  it('gives for a chain what merging its sources one after the other gives', () => {
    fc.assert(
      fc.property(meetings, (sources) => {
        const oneByOne = sources.reduce<Mapping>(
          (below, source) => mergeMappings([below, source]).merged,
          new Map(),
        );
        expect(merged(...sources)).to.equal(canonical(oneByOne));
        expect(merged(...sources)).to.equal(canonical(sources.reduce(mergeTwoNaively, new Map())));
        expect(merged(...sources)).to.equal(
          canonical(sources.reduce<Mapping>((below, source) => mergeOver(below, source), new Map())),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('is associative for sources that agree on which keys hold mappings', () => {
    fc.assert(
      fc.property(agreeing, agreeing, agreeing, (a, b, c) => {
        const left = mergeMappings([mergeMappings([a, b]).merged, c]).merged;
        const right = mergeMappings([a, mergeMappings([b, c]).merged]).merged;
        expect(canonical(left)).to.equal(canonical(right));
      }),
      { numRuns: 2_000 },
    );
  });

  it('changes nothing when a source is merged with itself, or with nothing', () => {
    fc.assert(
      fc.property(fc.oneof(meeting, anyMapping), (source) => {
        expect(merged(source)).to.equal(canonical(source));
        expect(merged(source, source)).to.equal(canonical(source));
        expect(merged(new Map(), source, new Map())).to.equal(canonical(source));
      }),
    );
  });

  it('gives the same where nobody asks who set what', () => {
    fc.assert(
      fc.property(meetings, (sources) => {
        const before = sources.map(canonical);
        expect(canonical(mergeUntraced(sources))).to.equal(merged(...sources));
        expect(sources.map(canonical)).to.deep.equal(before);
      }),
      { numRuns: 2_000 },
    );
  });

  it('names for every leaf the last source that sets it, and all that it overrides', () => {
    fc.assert(
      fc.property(meetings, (sources) => {
        const { merged, provenance } = mergeMappings(sources);
        const leaves = leavesOf(merged, []);
        expect([...provenance.keys()]).to.deep.equal(leaves.map(({ path }) => pointerOf(path)));
        for (const { path, value } of leaves) {
          const [last, ...earlier] = settersOf(sources, path);
          expect(provenance.get(pointerOf(path))).to.deep.equal({ ...last, overridden: earlier });
          expect(last?.value).to.equal(value);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** Written apart from the code under test: plain recursion over two mappings. */
function mergeTwoNaively(below: Mapping, above: Mapping): Mapping {
  const keys = [...below.keys(), ...[...above.keys()].filter((key) => !below.has(key))];
  return new Map(
    keys.map((key) => {
      const [low, high] = [below.get(key), above.get(key)];
      if (isMapping(low) && isMapping(high)) return [key, mergeTwoNaively(low, high)];
      return [key, above.has(key) ? (high as Value) : (low as Value)];
    }),
  );
}

function leavesOf(mapping: Mapping, path: string[]): { path: string[]; value: Value }[] {
  return [...mapping].flatMap(([key, value]) =>
    isMapping(value) && value.size > 0 ? leavesOf(value, [...path, key]) : [{ path: [...path, key], value }],
  );
}

function settersOf(sources: readonly Mapping[], path: readonly string[]): SourceValue[] {
  const found: SourceValue[] = [];
  sources.forEach((mapping, source) => {
    let value: Value | undefined = mapping;
    for (const key of path) value = isMapping(value) ? value.get(key) : undefined;
    if (value !== undefined) found.unshift({ source, value });
  });
  return found;
}

function pointerOf(path: readonly string[]): string {
  return path.map((key) => `/${key.replace(/~/g, '~0').replace(/\//g, '~1')}`).join('');
}
