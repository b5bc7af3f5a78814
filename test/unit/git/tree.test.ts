import { expect } from 'chai';
import fc from 'fast-check';
import { encodeTree, findEntry, type TreeEntry, withEntry } from '../../../src/git/tree.ts';

const name = fc.string({ unit: fc.constantFrom('a', 'b', '-', '.', '0', 'é'), minLength: 1, maxLength: 4 });
const oid = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => Buffer.from(bytes).toString('hex'));
const entry = fc.record({ mode: fc.constantFrom('40000', '100644'), name, oid });
const entries = fc.uniqueArray(entry, { selector: (one) => one.name, maxLength: 12 });

describe('one entry of a tree', () => {
  it('is put, replaced and taken out where git wants it, whatever stands beside it', () => {
    fc.assert(
      fc.property(entries, entry, (before: TreeEntry[], changed: TreeEntry) => {
        const others = before.filter((one) => one.name !== changed.name);
        const tree = encodeTree(before);
        const put = withEntry(tree, changed.name, changed);
        expect(put).to.deep.equal(encodeTree([...others, changed]));
        expect(withEntry(tree, changed.name, null)).to.deep.equal(encodeTree(others));
        expect(findEntry(put ?? expect.fail(), changed.name)).to.deep.equal(changed);
        expect(findEntry(encodeTree(others), changed.name)).to.equal(null);
      }),
    );
  });

  it('is not looked for in what is no tree', () => {
    for (const text of ['x', '100644 a', '100644 a\0short']) {
      expect(withEntry(Buffer.from(text), 'a', null)).to.equal(null);
    }
  });
});
