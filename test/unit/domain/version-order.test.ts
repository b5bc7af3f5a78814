import { expect } from 'chai';
import fc from 'fast-check';
import {
  compareVersions,
  followingVersions,
  isStable,
  isVersion,
  isVersionName,
  majorOf,
  nextPatch,
  parseVersion,
  prereleaseChannelOf,
  safeMajor,
  sameVersion,
} from '../../../src/domain/version-order.ts';
import { HawserError } from '../../../src/lib/errors.ts';
import { words } from '../../support/words.ts';

const part = fc.oneof(
  fc.nat({ max: 30 }).map(String),
  fc.constantFrom('alpha', 'beta', 'rc', 'x-1', '-', '0a', 'RC', '1-'),
);
const dotted = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));
const core = fc.tuple(fc.nat(3), fc.nat(3), fc.nat(3)).map((numbers) => numbers.join('.'));
const version = fc
  .tuple(core, fc.option(dotted), fc.option(dotted))
  .map(
    ([numbers, pre, build]) =>
      numbers + (pre === null ? '' : `-${pre}`) + (build === null ? '' : `+${build}`),
  );

describe('parseVersion', () => {
  const legal = [
    `1.0.0-${'a'.repeat(194)}`,
    ...words(`
      0.0.0 1.2.3 1.0.0-alpha 1.0.0-alpha.1 1.0.0-0.3.7 1.0.0-x.7.z.92 1.0.0-x-y-z.-- 1.0.0+001
      1.0.0-beta+exp.sha.5114f85 1.0.0+21AF26D3----117B344092BD 1.0.0-0A.is.legal 1.0.0-9007199254740991
      1.0.0-9007199254740993 9007199254740992.0.0 1.99999999999999999999.0-rc.99999999999999999999
    `),
  ];
  for (const text of legal) it(`takes ${text.slice(0, 40)}`, () => expect(isVersion(text)).to.equal(true));

  const illegal = [
    ...['', ' 1.2.3', '1.2.3 ', '1.2.3\n', `1.0.0-${'a'.repeat(195)}`],
    ...words(`
      1 1.2 v1.2.3 =1.2.3 01.2.3 1.02.3 1.2.3-01 1.2.3- 1.2.3-a..b 1.2.3+ 1.2.3+a..b 1.2.3+a+b 1.2.3.4
      1.2.3-ü 1.2.3beta 1.2.3-x.lock 1.2.3+x.lock 1.2.3+x.LOCK 09007199254740993.0.0
      1.0.0-09007199254740993 ../1.0.0 1.0.0/x -1.0.0
    `),
  ];
  for (const text of illegal) {
    it(`refuses ${JSON.stringify(text.slice(0, 40))}`, () => expect(parseVersion(text)).to.equal(null));
  }

  it('takes what the grammar makes, and nothing shorter by its last character that is none', () => {
    fc.assert(fc.property(version, (text) => isVersion(text)));
  });
});

describe('compareVersions', () => {
  it('follows the examples of semver.org', () => {
    const order = words(`
      1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0
      2.0.0 2.1.0 2.1.1
    `);
    expect([...order].reverse().sort(compareVersions)).to.deep.equal(order);
  });

  it('is a total order that ignores build metadata', () => {
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        const ab = compareVersions(a, b);
        expect(ab + compareVersions(b, a)).to.equal(0);
        if (ab <= 0 && compareVersions(b, c) <= 0) expect(compareVersions(a, c)).to.be.at.most(0);
        expect(sameVersion(a, b)).to.equal(a.split('+')[0] === b.split('+')[0]);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a version that is no SemVer', () => {
  for (const text of ['x'.repeat(64), ...words('a 1 1.0 v1.0.0 winter_2026+x-y 01.0.0 HEAD 1.0.0')]) {
    it(`may be called ${text.slice(0, 20)}`, () => expect(isVersionName(text)).to.equal(true));
  }
  for (const text of [...['', 'a b', 'a\n', 'x'.repeat(65)], ...words('.a -a a. a..b a.lock a.LOCK a/b ä')]) {
    it(`may not be called ${JSON.stringify(text.slice(0, 20))}`, () =>
      expect(isVersionName(text)).to.equal(false));
  }

  it('is below every SemVer version, and by name among its like', () => {
    const order = ['winter', 'autumn', '1.0', '0.0.0-a', '1.0.0'];
    expect([...order].reverse().sort(compareVersions)).to.deep.equal(order);
    expect(sameVersion('1.0', '1.0')).to.equal(true);
    expect(sameVersion('1.0', '1.0+a')).to.equal(false);
  });
});

describe('nextPatch', () => {
  const steps: [string | null, string][] = [
    [null, '1.0.0'],
    ['winter', '1.0.0'],
    ['1.0.0', '1.0.1'],
    ['1.0.0-rc.1', '1.0.0'],
    ['0.9.9+build', '0.9.10'],
  ];
  for (const [from, to] of steps)
    it(`goes from ${from} to ${to}`, () => expect(nextPatch(from)).to.equal(to));

  it('is exact for numbers of any length', () => {
    expect(nextPatch('1.0.9007199254740992')).to.equal('1.0.9007199254740993');
    expect(nextPatch('9007199254740993.0.99999999999999999999')).to.equal(
      '9007199254740993.0.100000000000000000000',
    );
  });

  it('gives up where the name would be too long for a ref', () => {
    expect(() => nextPatch(`1.0.${'9'.repeat(196)}`)).to.throw(HawserError, /No version follows/);
  });

  it('is always higher', () => {
    fc.assert(fc.property(version, (text) => compareVersions(nextPatch(text), text) > 0));
  });
});

describe('followingVersions', () => {
  const first = (text: string) => [...take(2, followingVersions(text))];
  function* take<T>(count: number, all: Iterable<T>): Generator<T> {
    for (const each of all) {
      if (count === 0) return;
      count -= 1;
      yield each;
    }
  }

  it('gives the next patches, and to a prerelease more numbers', () => {
    expect(first('1.0.9+build')).to.deep.equal(['1.0.10', '1.0.11']);
    expect(first('1.1.0-rc.1')).to.deep.equal(['1.1.0-rc.1.1', '1.1.0-rc.1.2']);
    expect(first('winter')).to.deep.equal([]);
    expect(first(`1.0.${'9'.repeat(196)}`)).to.deep.equal([]);
  });

  it('gives versions above it that are as stable as it, and for the same channel', () => {
    fc.assert(
      fc.property(version, (text) => {
        const [next] = first(text);
        if (next === undefined) return;
        expect(compareVersions(next, text)).to.be.above(0);
        expect(prereleaseChannelOf(next)).to.equal(prereleaseChannelOf(text));
      }),
    );
  });
});

describe('the parts of a version', () => {
  it('are its channel, major number and stability', () => {
    expect(prereleaseChannelOf('1.0.0-beta.2')).to.equal('beta');
    expect(prereleaseChannelOf('1.0.0-0.3')).to.equal('0');
    expect(prereleaseChannelOf('1.0.0+beta')).to.equal(null);
    expect(majorOf('12.0.0-a')).to.equal(12);
    expect(majorOf('9007199254740991.0.0')).to.equal(Number.MAX_SAFE_INTEGER);
    expect(majorOf('9007199254740993.0.0')).to.equal(9_007_199_254_740_993n);
    expect(['7.0.0', '9007199254740993.0.0', 'winter'].map((text) => safeMajor(majorOf(text)))).to.deep.equal(
      [7, null, null],
    );
    expect(isStable('1.0.0+x')).to.equal(true);
    expect(isStable('1.0.0-0')).to.equal(false);
  });

  it('are none of a version that is no SemVer', () => {
    for (const text of ['banana', '1.0', 'v1.0.0', '1.0.0-01']) {
      expect([prereleaseChannelOf(text), majorOf(text), isStable(text)]).to.deep.equal([null, null, false]);
    }
  });
});
