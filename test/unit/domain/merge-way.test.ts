import { expect } from 'chai';
import fc from 'fast-check';
import type { MergeStrategy } from '../../../src/domain/merge-strategies.ts';
import {
  type MergeWay,
  mergeInWay,
  PLAIN_WAY,
  secretsInWay,
  traceInWay,
} from '../../../src/domain/merge-way.ts';
import { isMapping, type Mapping, Secret, type Value } from '../../../src/domain/value.ts';
import { fromJs, mappingOf } from '../../support/parameter-values.ts';
import { canonical } from '../../support/values.ts';

/** Strategies by the names of parameters; `d` merges as mappings do by default. */
const STRATEGIES: Record<string, MergeStrategy> = {
  r: 'replace',
  a: 'append',
  u: 'unique',
  k: { byKey: 'id' },
};
const WAY: MergeWay = { ...PLAIN_WAY, isDeclared: true, strategies: Object.entries(STRATEGIES) };

interface Layer {
  parameters: Map<string, Value>;
  unset: string[];
}

const toDocument = ({ parameters, unset }: Layer): Mapping =>
  new Map<string, Value>([
    ...(unset.length === 0 ? [] : ([['unset', unset]] as const)),
    ['parameters', parameters],
  ]);

/** The rules of the page as one step after the other, which is not how they are carried out. */
class Model {
  readonly state = new Map<string, Value>();

  add({ parameters, unset }: Layer): void {
    for (const pointer of unset) this.drop(pointer.split('/').slice(2));
    for (const [name, value] of parameters) this.state.set(name, this.meet(name, value));
  }

  private drop(keys: string[]): void {
    let holder: Mapping | undefined = this.state;
    for (const key of keys.slice(0, -1)) {
      const inner: Value | undefined = holder?.get(key);
      holder = isMapping(inner) ? inner : undefined;
    }
    if (holder) (holder as Map<string, Value>).delete(keys.at(-1) ?? '');
  }

  private meet(name: string, value: Value): Value {
    const held = this.state.get(name);
    if (name === 'r') return copy(value);
    if (!(name in STRATEGIES)) return over(held, value);
    if (!Array.isArray(value)) return copy(value);
    const items = [...(Array.isArray(held) ? held : []), ...value];
    if (name === 'a') return items;
    if (name === 'u')
      return items.filter(
        (item, at) => items.findIndex((other) => canonical(other) === canonical(item)) === at,
      );
    const joined: Value[] = [];
    for (const item of items) {
      const at = isKeyed(item)
        ? joined.findIndex((other) => isKeyed(other) && keyOf(other) === keyOf(item))
        : -1;
      if (at === -1) joined.push(item);
      else joined[at] = over(joined[at], item);
    }
    return joined;
  }
}

const keyOf = (item: Mapping) => canonical(item.get('id') ?? null);
const isKeyed = (item: Value): item is Mapping => {
  const id = isMapping(item) ? (item.get('id') ?? null) : null;
  return id !== null && typeof id !== 'object';
};

function copy(value: Value): Value {
  return isMapping(value) ? new Map(Array.from(value, ([key, item]) => [key, copy(item)])) : value;
}

function over(below: Value | undefined, above: Value): Value {
  if (!isMapping(above) || !isMapping(below)) return copy(above);
  const merged = new Map(below);
  for (const [key, value] of above) merged.set(key, over(merged.get(key), value));
  return merged;
}

const scalar = fc.constantFrom<Value>(null, 1n, 2n, '1', true);
const { mapping } = fc.letrec<{ value: Value; mapping: Map<string, Value> }>((tie) => ({
  value: fc.oneof({ depthSize: 'medium' }, scalar, fc.constant<Value>([1n]), tie('mapping')),
  mapping: fc
    .array(fc.tuple(fc.constantFrom('x', 'y', 'z'), tie('value')), { maxLength: 3 })
    .map((entries) => new Map(entries)),
}));
const item = fc.oneof(
  scalar,
  fc
    .tuple(fc.option(fc.constantFrom<Value>(1n, 'a', 'b', null), { nil: undefined }), mapping)
    .map(([id, rest]): Value => (id === undefined ? rest : new Map<string, Value>([['id', id], ...rest]))),
);
const list: fc.Arbitrary<Value> = fc.array(item, { maxLength: 4 });
const valueFor = (name: string): fc.Arbitrary<Value> => {
  const usual = name === 'd' || name === 'r' ? mapping : list;
  return fc.oneof(
    { weight: 8, arbitrary: usual },
    { weight: 1, arbitrary: fc.constantFrom<Value>(null, '[x]') },
  );
};
const parameter = fc
  .constantFrom('d', 'r', 'a', 'u', 'k')
  .chain((name) => fc.tuple(fc.constant(name), valueFor(name)));
const layer: fc.Arbitrary<Layer> = fc.record({
  parameters: fc.array(parameter, { maxLength: 5 }).map((entries) => new Map(entries)),
  unset: fc.array(
    fc
      .constantFrom('d', 'd/x', 'd/x/y', 'd/y', 'r', 'r/x', 'r/x/z', 'a', 'u', 'k', 'k/0')
      .map((path) => `/parameters/${path}`),
    { maxLength: 3 },
  ),
});

/** As `canonical`, with the order of keys. */
function ordered(value: Value): string {
  if (isMapping(value)) return `{${[...value].map(([key, inner]) => `${key}:${ordered(inner)}`).join()}}`;
  return Array.isArray(value) ? `[${value.map(ordered).join()}]` : canonical(value);
}

describe('merging in a way', () => {
  it('gives what the steps of the page give, keys in their order', () => {
    fc.assert(
      fc.property(fc.array(layer, { maxLength: 5 }), (layers) => {
        const model = new Model();
        for (const each of layers) model.add(each);
        const documents = layers.map(toDocument);
        const { merged } = mergeInWay(documents, WAY);
        const expected = new Map(layers.length === 0 ? [] : [['parameters', model.state as Value]]);
        expect(ordered(merged)).to.equal(ordered(expected));
        const traced = traceInWay(documents, WAY);
        expect(ordered(traced.merged)).to.equal(ordered(expected));
        for (const { mergedFrom, source, overridden } of traced.provenance.values()) {
          if (mergedFrom === undefined) continue;
          expect(mergedFrom.length).to.be.greaterThan(1);
          expect(mergedFrom.at(-1)?.source).to.equal(source);
          expect([...mergedFrom].reverse().slice(1)).to.deep.equal(
            overridden.slice(0, mergedFrom.length - 1),
          );
        }
      }),
      { numRuns: 3_000 },
    );
  });

  it('tells of items without a key of their own by their places', () => {
    const of = (...lists: unknown[]) =>
      mergeInWay(
        lists.map((k) => mappingOf({ parameters: { k } })),
        WAY,
      ).faults.map(({ path, code }) => `${path} ${code}`);
    expect(of([{ id: 1 }], [{ id: 1, x: 2 }])).to.deep.equal([]);
    expect(of([{ id: 1 }, 'x', { id: null }], [{ id: [1] }, {}])).to.deep.equal(
      [1, 2, 3, 4].map((at) => `/parameters/k/${at} merge_key`),
    );
    expect(of([{ id: 2 }], [{ id: 1 }, { id: 1 }]), 'two in one file').to.deep.equal([
      '/parameters/k/1 merge_key',
    ]);
    expect(of(null, '[x]')).to.deep.equal([]);
  });

  it('joins sealed lists with others, and the whole is a secret', () => {
    const sealed = new Secret('ENC[x]', { value: fromJs([1, { id: 'b', x: 1 }]) });
    const block = (value: Value): Mapping =>
      new Map<string, Value>([
        [
          'parameters',
          new Map([
            ['u', value],
            ['k', value],
          ]),
        ],
      ]);
    const documents = [block(fromJs([1, { id: 'b', y: 2 }])), block(sealed)];
    const { merged } = mergeInWay(documents, WAY);
    const parameters = merged.get('parameters') as Mapping;
    expect((parameters.get('u') as Value[]).length).to.equal(3);
    expect([...((parameters.get('k') as Value[])[1] as Mapping).keys()]).to.deep.equal(['id', 'y', 'x']);
    expect(secretsInWay(new Set(['s']), WAY, documents)).to.deep.equal(new Set(['s', 'u', 'k']));
  });

  it('takes `unset` for a value where nothing is declared', () => {
    const documents = [
      mappingOf({ parameters: { d: 1 } }),
      mappingOf({ unset: ['/parameters/d'], parameters: {} }),
    ];
    const { merged } = mergeInWay(documents, { ...WAY, isDeclared: false });
    expect(canonical(merged)).to.equal(
      canonical(mappingOf({ parameters: { d: 1 }, unset: ['/parameters/d'] })),
    );
  });
});

describe('variables', () => {
  const values = { 'node.fqdn': 'a.b', 'node.id': 'n', 'tag.Site Type': '$' + '{node.id}' };
  const way = { ...PLAIN_WAY, variables: values, secure: ['s'] };
  const V = '$' + '{';
  const put = (text: unknown) => mergeInWay([mappingOf({ parameters: { t: text } })], way);
  const becomes = (text: string) => (put(text).merged.get('parameters') as Mapping).get('t');

  it('are replaced left to right, once', () => {
    expect(becomes(`${V}node.fqdn}${V}node.id}`)).to.equal('a.bn');
    expect(becomes(`x${V}tag.Site Type}y`)).to.equal(`x${V}node.id}y`);
    expect(becomes(`$${V}node.id}`)).to.equal(`${V}node.id}`);
    expect(becomes(`$$${V}node.id}`)).to.equal(`$${V}node.id}`);
    expect(becomes('a $ { b } $5')).to.equal('a $ { b } $5');
    expect(put([{ a: [`${V}node.id}`] }]).used).to.deep.equal(['node.id']);
  });

  it('that are unknown or have no end stay, and are told', () => {
    for (const text of [
      `${V}node.name}`,
      `${V}node.id`,
      `${V}tag.site type}`,
      `${V}}`,
      `${V} node.id}`,
      `${V}node.id}${V}`,
    ]) {
      const { faults, unreplaced } = put([text]);
      expect(
        faults.map(({ path, code }) => `${path} ${code}`),
        text,
      ).to.deep.equal(['/parameters/t/0 unknown_variable']);
      expect([...unreplaced]).to.deep.equal(['t']);
      expect(becomes(text)).to.equal(text);
    }
  });

  it('are not looked for in keys, secrets, and beside the parameters', () => {
    const text = `${V}node.id}`;
    const document = new Map<string, Value>([
      ['m', text],
      [
        'parameters',
        new Map<string, Value>([
          [text, 1n],
          ['s', text],
          ['e', new Secret('ENC[x]', { value: text })],
        ]),
      ],
    ]);
    const { merged, used } = mergeInWay([document], way);
    expect(used).to.deep.equal([]);
    expect(merged.get('m')).to.equal(text);
    const [before, after] = [document, merged].map((each) => [...(each.get('parameters') as Mapping)]);
    expect(after?.every(([key, value], at) => before?.[at]?.[0] === key && before[at][1] === value)).to.equal(
      true,
    );
  });

  it('show in provenance as they were written', () => {
    const { provenance } = traceInWay(
      [mappingOf({ parameters: { t: [`${V}node.id}`], u: 'x', s: `${V}node.id}` } })],
      way,
    );
    expect(provenance.get('/parameters/t')).to.deep.include({ value: ['n'], text: [`${V}node.id}`] });
    expect(provenance.get('/parameters/u')).to.not.have.property('text');
    expect(provenance.get('/parameters/s')).to.not.have.property('text');
  });
});
