import { expect } from 'chai';
import fc from 'fast-check';
import { LeafCount, MAX_LEAVES, MAX_POINTER_BYTES, tokenBytes } from '../../../src/domain/leaves.ts';
import { mergeMappings, mergeUntraced } from '../../../src/domain/merge.ts';
import { parseParameterDocument } from '../../../src/domain/parameter-document.ts';
import { escapeToken, type Mapping, type Value } from '../../../src/domain/value.ts';
import { anyMapping } from '../../support/values.ts';

function countOf(document: Mapping) {
  const count = new LeafCount();
  count.addKeys(document, 0);
  const { leaves, pointerBytes } = count;
  return { leaves, pointerBytes };
}

/** As the pointers themselves say. */
function pointersOf(document: Mapping) {
  const pointers = [...mergeMappings([document]).provenance.keys()];
  return {
    leaves: pointers.length,
    pointerBytes: pointers.reduce((sum, pointer) => sum + Buffer.byteLength(pointer), 0),
  };
}

const keys = (prefix: string, count: number): [string, Value][] =>
  Array.from({ length: count }, (_, at) => [`${prefix}${at}`, 1n]);
const documentOf = (parameters: [string, Value][]): Mapping => new Map([['parameters', new Map(parameters)]]);
const json = (document: object) => () =>
  parseParameterDocument(Buffer.from(JSON.stringify(document)), 'json');

describe('the leaves of documents', () => {
  it('are counted with their pointers in UTF-8, escapes and the block of parameters included', () => {
    const text = '{"parameters":{"a/b":{"~":1,"é😀":[1,2,3]},"none":{},"":null}}';
    const document = parseParameterDocument(Buffer.from(text), 'json');
    const pointers = ['/parameters/a~1b/~0', '/parameters/a~1b/é😀', '/parameters/none', '/parameters/'];
    expect(countOf(document)).to.deep.equal({
      leaves: 4,
      pointerBytes: Buffer.byteLength(pointers.join('')),
    });
  });

  it('are counted as their provenance names them', () => {
    fc.assert(
      fc.property(anyMapping, (document) => {
        expect(countOf(document)).to.deep.equal(pointersOf(document));
      }),
    );
  });

  it('have tokens of as many bytes as are written', () => {
    const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('~/', '/~é', '\u0800\uffff', '😀~'));
    fc.assert(fc.property(key, (text) => tokenBytes(text) === Buffer.byteLength(`/${escapeToken(text)}`)));
  });

  it('may be 20,000 in a document, and no more', () => {
    const parameters = Object.fromEntries(keys('k', MAX_LEAVES).map(([key]) => [key, 1]));
    json({ parameters })();
    expect(json({ parameters: { ...parameters, more: {} } })).to.throw('more than 20000 leaves');
  });

  it('may have 2 MiB of pointers in a document, and not one byte more', () => {
    // 2,048 leaves of 1,024 bytes each: "/parameters/", 1,000 of the group, a slash and 11 of the name.
    const group = 'g'.repeat(1_000);
    const name = (at: number) => `${at}`.padStart(11, 'x');
    const members = Object.fromEntries(Array.from({ length: 2_048 }, (_, at) => [name(at), at]));
    const document = json({ parameters: { [group]: members } })();
    expect(countOf(document)).to.deep.equal({ leaves: 2_048, pointerBytes: MAX_POINTER_BYTES });
    const { [name(0)]: _, ...rest } = members;
    const longer = { ...rest, [`${name(0)}y`]: 0 };
    expect(json({ parameters: { [group]: longer } })).to.throw('more than 2097152 bytes');
  });

  it('are no more of a document that aliases repeat', () => {
    const level = (at: number) =>
      `  l${at}: &l${at} {${'abcdefghij'
        .split('')
        .map((key) => `${key}: *l${at - 1}`)
        .join(', ')}}\n`;
    const text = `parameters:\n  l0: &l0 {x: 1}\n${[1, 2, 3, 4].map(level).join('')}`;
    // Each level weighs ten times the one below it: the last one has 10,000 leaves, all together 11,111.
    expect(countOf(parseParameterDocument(Buffer.from(text), 'yaml')).leaves).to.equal(11_111);
    expect(() => parseParameterDocument(Buffer.from(`${text}  more: *l4\n`), 'yaml')).to.throw(
      '20000 leaves',
    );
  });

  it('are bounded in what documents make together, and not by what each of them has', () => {
    const [all, some, others] = [keys('k', 20_000), keys('k', 12_000), keys('other', 8_000)].map(documentOf);
    for (const merge of [mergeMappings, mergeUntraced] as ((sources: Mapping[]) => unknown)[]) {
      merge([all, all, some] as Mapping[]);
      merge([some, others] as Mapping[]);
      expect(() => merge([all, documentOf([['one', 1n]])] as Mapping[]))
        .to.throw('more than 20000 leaves')
        .with.property('code', 'parameter_merge_failed');
      expect(() => merge([some, others, documentOf([['one', 1n]])] as Mapping[])).to.throw('20000 leaves');
    }
  });
});
