import { expect } from 'chai';
import fc from 'fast-check';
import * as library from 'semver';
import {
  compareBuilds,
  comparePrecedence,
  comparePrereleases,
  parseSemVer,
  type SemVer,
} from '../../../src/domain/semver.ts';

const identifier = fc.oneof(
  fc.nat({ max: 30 }).map(String),
  fc.string({ unit: fc.constantFrom(...'019aZ-'), minLength: 1, maxLength: 4 }),
);
const dotted = fc.array(identifier, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('.'));
const core = fc.tuple(fc.nat(12), fc.nat(12), fc.nat(12)).map((numbers) => numbers.join('.'));
const suffix = (sign: string) => fc.option(dotted).map((text) => (text === null ? '' : sign + text));
/** Most are versions, and some are not for a zero at the front of a number. */
const nearVersion = fc.tuple(core, suffix('-'), suffix('+')).map((parts) => parts.join(''));
/** Numbers of up to 60 digits, many of which differ in one digit alone. */
const long = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 60n }), fc.constantFrom(0n, 1n))
  .map(([number, more]) => number + more);

function parse(text: string): SemVer {
  return parseSemVer(text) ?? expect.fail(`${text} is a version`);
}

const sign = (order: number) => Math.sign(order);

describe('SemVer', () => {
  it('is read as the library reads it', () => {
    const grammar = fc.oneof(
      nearVersion,
      fc.string({ unit: fc.constantFrom(...'012.a-+'), minLength: 5, maxLength: 12 }),
    );
    fc.assert(
      fc.property(grammar, (text) => {
        const theirs = library.parse(text);
        // The library also takes what it calls another spelling.
        const isOne = theirs !== null && theirs.raw === text && /^\d/.test(text);
        const ours = parseSemVer(text);
        expect(ours !== null, text).to.equal(isOne);
        if (ours === null || theirs === null) return;
        expect([ours.major, ours.minor, ours.patch].map(Number)).to.deep.equal([
          theirs.major,
          theirs.minor,
          theirs.patch,
        ]);
        expect(ours.prerelease).to.deep.equal(theirs.prerelease.map(String));
        expect(ours.build).to.deep.equal(theirs.build);
      }),
      { numRuns: 5000 },
    );
  });

  it('is ordered as the library orders it', () => {
    const version = nearVersion.filter((text) => parseSemVer(text) !== null);
    fc.assert(
      fc.property(version, version, (one, other) => {
        const [a, b] = [parse(one), parse(other)];
        const [theirA, theirB] = [new library.SemVer(one), new library.SemVer(other)];
        expect(sign(comparePrecedence(a, b)), `${one} ${other}`).to.equal(theirA.compare(theirB));
        expect(sign(comparePrereleases(a, b)), `${one} ${other}`).to.equal(theirA.comparePre(theirB));
        // The library takes `+01` and `+1` for the same, which leaves their places open.
        const builds = theirA.compareBuild(theirB);
        if (builds !== 0) expect(sign(compareBuilds(a, b)), `${one} ${other}`).to.equal(builds);
        expect(compareBuilds(a, b) === 0).to.equal(a.build.join('.') === b.build.join('.'));
      }),
      { numRuns: 5000 },
    );
  });

  it('compares numbers of any length exactly, wherever they stand', () => {
    fc.assert(
      fc.property(long, long, (one, other) => {
        const order = one < other ? -1 : one > other ? 1 : 0;
        for (const place of ['X.0.0', '1.X.0', '1.0.X', '1.0.0-X', '1.0.0-rc.X', '1.0.0-rc.X.1']) {
          const [a, b] = [one, other].map((number) => parse(place.replace('X', String(number)))) as [
            SemVer,
            SemVer,
          ];
          expect(sign(comparePrecedence(a, b)), place).to.equal(order);
        }
      }),
      { numRuns: 1000 },
    );
    const near = ['9007199254740991', '9007199254740992', '9007199254740993', '99999999999999999999'];
    for (const [at, number] of near.entries())
      for (const [other, higher] of near.entries())
        expect(sign(comparePrecedence(parse(`${number}.0.0`), parse(`${higher}.0.0`)))).to.equal(
          sign(at - other),
        );
  });

  it('keeps long numbers below text, and takes a zero at their front in build metadata alone', () => {
    const long = '9'.repeat(40);
    expect(comparePrecedence(parse(`1.0.0-${long}`), parse('1.0.0-x'))).to.be.below(0);
    expect(comparePrecedence(parse(`1.0.0-${long}`), parse(`1.0.0-${long}a`))).to.be.below(0);
    for (const text of [`0${long}.0.0`, `1.0.0-0${long}`, `1.0.0-rc.0${long}`])
      expect(parseSemVer(text)).to.equal(null);
    expect(parseSemVer(`1.0.0+0${long}`)).to.not.equal(null);
  });
});
