/** What a node runs beside what it is offered, part by part. */

import { expect } from 'chai';
import { compareParts, compareScopes, isEqual } from '../../../src/ui/pages/nodes/sides.ts';

type Manifest = Parameters<typeof compareParts>[0];
type Resolution = Parameters<typeof compareParts>[1][number]['resolution'];

const file = (scopeTypeName: string, scopeValue: string | null, version: string) => ({
  ...{ scopeTypeName, scopeValue, version },
  ...{ tagObjectId: '', checksum: '' },
});

const manifestOf = (...parts: { name: string; version: string; files?: ReturnType<typeof file>[] }[]) =>
  ({
    parts: parts.map(({ name, version, files = [] }) => ({
      ...{ configurationName: name, version, parameters: files },
    })),
  }) as unknown as Manifest;

const scope = (scopeTypeName: string, scopeValue: string | null, resolvedVersion: string | null) => ({
  ...{ scopeTypeName, scopeValue, resolvedVersion, precedence: 0 },
  ...{ isPrerelease: false, isPassthrough: false, isFallback: false, noPublishedVersion: false },
});

const resolutionOf = (version: string, scopes: ReturnType<typeof scope>[] = []) =>
  ({ configurationId: 'id', configurationVersion: version, scopes }) as unknown as Resolution;

describe('the two sides of a node', () => {
  it('compares parameter files by scope, those that are gone last', () => {
    const [part] = compareParts(
      manifestOf({
        name: 'web',
        version: '1.0.0',
        files: [file('Region', 'eu', '1.0.0'), file('Default', null, '1.0.0')],
      }),
      [
        {
          name: 'web',
          resolution: resolutionOf('1.0.0', [
            scope('Default', null, '1.1.0'),
            scope('Environment', 'prod', '1.0.0'),
            scope('Node', 'a.example.org', null),
            { ...scope('Site', 'b', '1.0.0'), isPassthrough: true },
          ]),
        },
      ],
    );
    if (part === undefined) throw new Error('there is no part');
    const seen = compareScopes(part).map(({ scope: { scopeTypeName }, runs, offered }) => [
      ...[scopeTypeName, runs, offered],
    ]);
    expect(seen).to.deep.equal([
      ['Default', '1.0.0', '1.1.0'],
      ['Environment', null, '1.0.0'],
      ['Region', '1.0.0', null],
    ]);
    expect(isEqual(part)).to.equal(false);
  });

  it('shows parts that came and parts that went', () => {
    const parts = compareParts(manifestOf({ name: 'old', version: '1.0.0' }), [
      { name: 'new', resolution: resolutionOf('2.0.0') },
    ]);
    expect(parts.map(({ name, runs, offered }) => [name, runs?.version, offered?.version])).to.deep.equal([
      ['new', undefined, '2.0.0'],
      ['old', '1.0.0', undefined],
    ]);
  });

  it('says that nothing differs where all versions are the same', () => {
    const manifest = manifestOf({ name: 'web', version: '1.0.0', files: [file('Default', null, '1.0.0')] });
    const resolution = resolutionOf('1.0.0', [scope('Default', null, '1.0.0')]);
    expect(compareParts(manifest, [{ name: 'web', resolution }]).every(isEqual)).to.equal(true);
  });
});
