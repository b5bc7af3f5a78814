import { expect } from 'chai';
import { candidatesFor, isWithdrawn } from '../../../src/resolve/wanted-version.ts';
import { SortedVersions } from '../../../src/versions/sorted-versions.ts';
import type { VersionRef } from '../../../src/versions/types.ts';

const ref = (version: string, status: VersionRef['status'] = 'Published'): VersionRef => ({
  ...{ name: `refs/tags/v${version}`, series: '', version, status },
  ...{ oid: '0'.repeat(40), commit: '1'.repeat(40), withdrawn: null, rollout: null },
});

describe('the version that is wanted', () => {
  const refs = [ref('1.0.0+build.5'), ref('1.1.0'), ref('2.0.0-rc.1'), ref('3.0.0', 'Draft')];
  const index = SortedVersions.EMPTY.with(new Map(refs.map((each) => [each.version, each])));
  const find = (version: string | null, constraint: object = {}) =>
    candidatesFor(index, { majorVersion: null, prereleaseChannel: null, version, ...constraint }).last
      ?.version ?? null;

  for (const [what, version, expected] of [
    ['the highest stable one without a pin', null, '1.1.0'],
    ['the pinned one, though a higher one is published', '1.0.0+build.5', '1.0.0+build.5'],
    ['a pinned prerelease without any channel', '2.0.0-rc.1', '2.0.0-rc.1'],
    ['none for a draft', '3.0.0', null],
    ['none for a version that is unknown', '9.9.9', null],
    ['none where only the build metadata differs', '1.0.0', null],
    ['none for a version as Git tags it', 'v1.1.0', null],
    ['none for an empty text', '', null],
  ] as const) {
    it(`is ${what}`, () => expect(find(version)).to.equal(expected));
  }

  it('follows major version and channel where nothing is pinned', () => {
    expect(find(null, { majorVersion: 2, prereleaseChannel: 'rc' })).to.equal('2.0.0-rc.1');
    expect(find(null, { majorVersion: 2 })).to.equal(null);
  });

  it('is given to what is pinned to it after it was withdrawn', () => {
    const withdrawal = { tag: '2'.repeat(40), at: 0, by: 'alice', reason: 'breaks logins' };
    const withdrawn: VersionRef = { ...ref('1.2.0'), withdrawn: withdrawal };
    const left = index.with(new Map([['1.2.0', withdrawn]]));
    const wanted = { majorVersion: null, prereleaseChannel: null, version: '1.2.0' };
    expect(candidatesFor(left, wanted)).to.deep.equal({ rolling: [], last: withdrawn });
    expect(isWithdrawn(withdrawn)).to.equal(true);
    for (const unaffected of refs) expect(isWithdrawn(unaffected)).to.equal(false);
  });
});
