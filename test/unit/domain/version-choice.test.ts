import { expect } from 'chai';
import {
  chooseVersion,
  isChannel,
  newestVersions,
  type VersionConstraint,
} from '../../../src/domain/version-choice.ts';
import { words } from '../../support/words.ts';

const choose = (versions: string[], wish: VersionConstraint) =>
  chooseVersion(
    versions.map((version) => ({ version })),
    wish,
  )?.version ?? null;

const PUBLISHED = words(`
  3.0.0-alpha.1 2.1.0-rc.1 2.1.0-beta.2 2.1.0-beta 2.1.0-alpha 2.0.0 1.5.0+build 1.5.0-rc.1 1.4.0
`);

describe('chooseVersion', () => {
  const choices: [number | null, string | null, string | null][] = [
    [null, null, '2.0.0'],
    [1, null, '1.5.0+build'],
    [2, null, '2.0.0'],
    [3, null, null],
    [9, null, null],
    [null, 'beta', '2.1.0-rc.1'],
    [null, 'alpha', '3.0.0-alpha.1'],
    [null, 'alpha.2', '2.1.0-rc.1'],
    [2, 'beta', '2.1.0-rc.1'],
    [2, 'rc', '2.1.0-rc.1'],
    [2, 'rc.2', '2.0.0'],
    [2, 'zeta', '2.0.0'],
    [1, 'alpha', '1.5.0+build'],
    [3, 'alpha', '3.0.0-alpha.1'],
    [3, 'alpha.1', '3.0.0-alpha.1'],
    [3, 'alpha.1.0', null],
    [3, '0', '3.0.0-alpha.1'],
  ];
  for (const [majorVersion, prereleaseChannel, expected] of choices) {
    it(`gives ${expected} for major ${majorVersion}, channel ${prereleaseChannel}`, () => {
      expect(choose(PUBLISHED, { majorVersion, prereleaseChannel })).to.equal(expected);
    });
  }

  it('compares numbers in channels as numbers', () => {
    const wish = { majorVersion: null, prereleaseChannel: 'beta.10' };
    expect(choose(['1.0.0-beta.9'], wish)).to.equal(null);
    expect(choose(['1.0.0-beta.11'], wish)).to.equal('1.0.0-beta.11');
  });

  it('gives versions whose major no assignment can name to those that name none', () => {
    const list = words('9007199254740993.0.0 9007199254740992.1.0 9007199254740991.0.0 2.0.0 winter');
    const wish = { prereleaseChannel: null };
    expect(choose(list, { ...wish, majorVersion: null })).to.equal('9007199254740993.0.0');
    expect(choose(list, { ...wish, majorVersion: Number.MAX_SAFE_INTEGER })).to.equal('9007199254740991.0.0');
    expect(choose(list, { ...wish, majorVersion: 2 })).to.equal('2.0.0');
    expect(choose(list, { ...wish, majorVersion: 3 })).to.equal(null);
  });

  it('takes a version that is no SemVer only when nothing higher fits and no major is asked for', () => {
    const wish = { majorVersion: null, prereleaseChannel: null };
    expect(choose(['1.0.0-rc', 'winter', 'autumn'], wish)).to.equal('winter');
    expect(choose(['1.0.0', 'winter'], wish)).to.equal('1.0.0');
    expect(choose(['winter'], { ...wish, majorVersion: 1 })).to.equal(null);
    expect(choose([], wish)).to.equal(null);
  });
});

describe('chooseVersion among many', () => {
  const versions = Array.from({ length: 2_000 }, (_, at) => {
    const major = 20 - Math.floor(at / 100);
    return `${major}.${99 - (at % 100)}.0${at % 2 === 0 ? '-rc.1' : ''}`;
  });

  it('gives what a walk through all would give', () => {
    for (const majorVersion of [null, 0, 1, 7, 20, 21]) {
      for (const prereleaseChannel of [null, 'beta', 'zeta']) {
        const admits = (text: string) =>
          (majorVersion === null || text.startsWith(`${majorVersion}.`)) &&
          (!text.includes('-') || prereleaseChannel === 'beta');
        const expected = versions.find(admits) ?? null;
        expect(choose([...versions, 'winter'], { majorVersion, prereleaseChannel })).to.equal(expected);
      }
    }
  });

  it('looks at few of them to find an old major version', () => {
    let looks = 0;
    const watched = versions.map((version) => ({
      get version() {
        looks += 1;
        return version;
      },
    }));
    expect(chooseVersion(watched, { majorVersion: 1, prereleaseChannel: null })?.version).to.equal('1.98.0');
    expect(looks).to.be.lessThan(40);
  });
});

describe('newestVersions', () => {
  it('are those that some node gets, and no other', () => {
    const all = PUBLISHED.map((version) => ({ version }));
    const newest = newestVersions(all).map(({ version }) => version);
    expect(newest).to.deep.equal(words('3.0.0-alpha.1 2.1.0-rc.1 2.0.0 1.5.0+build'));
    const channels = [null, '0', ...PUBLISHED.flatMap((version) => version.split('-')[1] ?? [])];
    const chosen = [1, 2, 3].flatMap((majorVersion) =>
      channels.map((prereleaseChannel) => choose(PUBLISHED, { majorVersion, prereleaseChannel })),
    );
    expect(new Set(chosen.filter((version) => version !== null))).to.deep.equal(new Set(newest));
  });

  it('are the newest one of those that are no SemVer', () => {
    const all = words('1.0.0 winter autumn').map((version) => ({ version }));
    expect(newestVersions(all).map(({ version }) => version)).to.deep.equal(['1.0.0', 'winter']);
  });
});

describe('isChannel', () => {
  for (const text of ['beta', 'beta.2', 'rc-1', '0', '0a', '-', 'a.b.c', 'x'.repeat(64)]) {
    it(`takes ${text}`, () => expect(isChannel(text)).to.equal(true));
  }
  for (const text of [...['', 'a b', 'x'.repeat(65)], ...words('. a. a..b 01 a.01 a+b ü a_b x.lock')]) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(isChannel(text)).to.equal(false));
  }
});
