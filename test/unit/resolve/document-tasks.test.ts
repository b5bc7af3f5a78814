import { expect } from 'chai';
import fc from 'fast-check';
import { mergeUntraced } from '../../../src/domain/merge.ts';
import { PLAIN_WAY } from '../../../src/domain/merge-way.ts';
import { readDocument } from '../../../src/domain/parameter-document.ts';
import { printYaml } from '../../../src/domain/yaml-printer.ts';
import { sha256Hex } from '../../../src/lib/hash.ts';
import { documentTasks } from '../../../src/resolve/document-tasks.ts';
import { storedSource } from '../../../src/resolve/documents.ts';
import { HeldKeys } from '../../../src/resolve/held-keys.ts';
import { refusalBy } from '../../support/failures.ts';

const source = (value: unknown) => {
  const bytes = Buffer.from(JSON.stringify(value));
  return storedSource(sha256Hex(bytes), bytes, 'json');
};

const key = fc.constantFrom('a', 'b', 'c');
const { mapping } = fc.letrec<{ value: unknown; mapping: object }>((tie) => ({
  value: fc.oneof(fc.constantFrom(null, 1, 'x', [], {}), tie('mapping')),
  mapping: fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
}));

describe('merging documents', () => {
  it('gives the same whatever was merged before', () => {
    const { mergeDocuments } = documentTasks(new HeldKeys());
    fc.assert(
      fc.property(fc.array(mapping, { maxLength: 5 }), (values) => {
        const documents = values.map(source);
        const whole = mergeUntraced(documents.map(({ bytes, type }) => readDocument(bytes, type).document));
        // The second one takes what the first one has left in memory.
        for (let times = 0; times < 2; times += 1)
          expect(String(mergeDocuments({ documents, way: PLAIN_WAY }).bytes)).to.equal(printYaml(whole));
      }),
      { numRuns: 500 },
    );
  });

  it('counts what a later document replaces as nothing, and refuses too much that stays', () => {
    const { mergeDocuments } = documentTasks(new HeldKeys());
    const half = (name: string) =>
      source({ all: Object.fromEntries(Array.from({ length: 15_000 }, (_, at) => [`${name}${at}`, at])) });
    const two = [half('x'), half('y')];
    for (let times = 0; times < 2; times += 1) {
      expect(
        String(mergeDocuments({ documents: [...two, source({ all: 1 })], way: PLAIN_WAY }).bytes),
      ).to.equal('all: 1\n');
      for (const documents of [[...two, source({ b: 1 })], two])
        expect(refusalBy(() => mergeDocuments({ documents, way: PLAIN_WAY }))?.code).to.equal(
          'parameter_merge_failed',
        );
    }
  });
});
