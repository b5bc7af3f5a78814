import { expect } from 'chai';
import fc from 'fast-check';
import { changedFiles } from '../../../src/domain/file-changes.ts';
import { gitBlobId, sha256Hex } from '../../../src/lib/hash.ts';
import { type Bundle, FileCounter, filesOfBundle } from '../../../src/resolve/preview-files.ts';

const CONTENTS = ['a\n', 'b\n', ''];
const storedFile = fc.record({
  path: fc.constantFrom('a.txt', 'b.txt', 'parameters.yaml'),
  content: fc.constantFrom(...CONTENTS),
  executable: fc.boolean(),
});
const part = fc
  .record({
    name: fc.constantFrom('web', 'api'),
    files: fc.uniqueArray(storedFile, { selector: ({ path }) => path, maxLength: 3 }),
    merged: fc.option(fc.constantFrom(...CONTENTS)),
  })
  .map(({ name, files, merged }) => ({
    name,
    merged,
    files: files
      .filter(({ path }) => merged === null || path !== 'parameters.yaml')
      .map(({ path, content, executable }) => ({ path, oid: gitBlobId(Buffer.from(content)), executable }))
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  }));
const bundle = fc.oneof(
  part.map((only) => ({ document: null, parts: [only] })),
  fc
    .tuple(fc.uniqueArray(part, { selector: ({ name }) => name, maxLength: 2 }), fc.constantFrom(...CONTENTS))
    .map(([parts, text]) => ({ document: { path: 'main.dsc.yaml', text }, parts })),
);
type Drawn = typeof bundle extends fc.Arbitrary<infer T> ? T : never;

/** The paths of merged parameters in a bundle. */
const mergedPaths = ({ document, parts }: Drawn) =>
  parts.flatMap(({ name, merged }) =>
    merged === null ? [] : [document === null ? 'parameters.yaml' : `${name}/parameters.yaml`],
  );

/** @param isExact whether all merged files have the id that Git would give them */
function toBundle(drawn: Drawn, other: Drawn, isExact: boolean): Bundle {
  const others = new Set(mergedPaths(other));
  return {
    document: drawn.document,
    parts: drawn.parts.map(({ name, files, merged }) => {
      const path = drawn.document === null ? 'parameters.yaml' : `${name}/parameters.yaml`;
      if (merged === null) return { name, files, merged };
      const oid = isExact || !others.has(path) ? gitBlobId(Buffer.from(merged)) : null;
      return {
        name,
        files,
        merged: { evidence: sha256Hex(merged), hasSecrets: false, size: merged.length, oid },
      };
    }),
  };
}

describe('counting the files of two bundles', () => {
  it('gives as many as comparing all of them by their bytes does', () => {
    const counter = new FileCounter();
    fc.assert(
      fc.property(bundle, bundle, (old, next) => {
        const listed = (isExact: boolean) =>
          changedFiles(
            filesOfBundle(toBundle(old, next, isExact)),
            filesOfBundle(toBundle(next, old, isExact)),
          ).map(({ change, path, previousPath }) => [change, path, previousPath]);
        expect(listed(false), 'with what is kept of merged files').to.deep.equal(listed(true));
        const counted = counter.count(toBundle(old, next, false), toBundle(next, old, false));
        const count = (kind: string) => listed(true).filter(([change]) => change === kind).length;
        expect(counted).to.deep.equal({
          ...{ added: count('Added'), removed: count('Removed') },
          ...{ modified: count('Modified'), renamed: count('Renamed') },
        });
      }),
      { numRuns: 3_000 },
    );
  });
});
