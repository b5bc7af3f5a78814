import { expect } from 'chai';
import fc from 'fast-check';
import { changedFiles } from '../../../src/domain/file-changes.ts';
import { gitBlobId, sha256Hex } from '../../../src/lib/hash.ts';
import { type Bundle, FileCounter, filesOfBundle } from '../../../src/resolve/bundle-files.ts';
import { type KeptGroup, packGroups, unpackGroup } from '../../../src/resolve/kept-groups.ts';

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
      return { name, files, merged: { sha256: sha256Hex(merged), size: merged.length, oid } };
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

describe('kept groups', () => {
  const name = fc.constantFrom('web', 'api', 'a b');
  const ref = fc.record({
    series: fc.constantFrom('Default', 'Node/n1.example.org'),
    version: fc.constantFrom('1.0.0', '2.0.0'),
    ...{ status: fc.constantFrom('Draft' as const, 'Published' as const), oid: fc.constantFrom('1', '2') },
  });
  const keptPart = fc.record({
    name,
    tag: ref.map(({ version, status }) => ({ series: '', version, status, oid: `${version} ${status}` })),
    secrets: fc.oneof(
      fc.constant('all' as const),
      fc.subarray(['key', 'login']).map((names) => new Set(names)),
    ),
    merged: fc.option(
      fc.record({ sha256: fc.constantFrom('x', 'y'), size: fc.nat(9), oid: fc.option(fc.constant('z')) }),
    ),
    files: fc.array(
      fc.record({
        ref: ref.map((each) => ({ ...each, oid: `${each.series} ${each.version} ${each.status}` })),
        proposed: fc.option(fc.nat(2)),
      }),
      { maxLength: 3 },
    ),
  });
  const keptSide = fc.option(
    fc.record({
      document: fc.option(
        fc.record({ path: fc.constant('main.dsc.yaml'), text: fc.constantFrom('', 'x', 'y') }),
      ),
      parts: fc.array(keptPart, { maxLength: 3 }),
    }),
  );

  it('are read as they were', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ before: keptSide, after: keptSide }), { maxLength: 4 }), (groups) => {
        const text = packGroups(groups);
        for (const [at, group] of groups.entries())
          expect(unpackGroup(text, at)).to.deep.equal(group satisfies KeptGroup);
        expect(unpackGroup(text, groups.length)).to.equal(undefined);
      }),
    );
  });

  it('of nodes with files of their own take some 300 bytes each', () => {
    const status = 'Published' as const;
    const file = (series: string, oid: number) => ({
      ref: { series, version: '1.0.0', status, oid: sha256Hex(String(oid)).slice(0, 40) },
      proposed: null,
    });
    const common = (shared: number) => [file('Default', -shared), file('Environment/prod', -3)];
    const groups = Array.from({ length: 500 }, (_, at): KeptGroup => {
      const side = (shared: number) => ({
        document: null,
        parts: [
          {
            name: 'web',
            tag: { series: '', version: `1.${shared}.0`, status, oid: 'f'.repeat(40) },
            secrets: new Set(['key']),
            merged: { sha256: sha256Hex(`${at} ${shared}`), size: 1_000, oid: null },
            files: [...common(shared), file(`Node/node-${at}.example.org`, at)],
          },
        ],
      });
      return { before: side(1), after: side(2) };
    });
    expect(packGroups(groups).length / groups.length).to.be.lessThan(320);
  });
});
