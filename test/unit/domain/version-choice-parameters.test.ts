import { expect } from 'chai';
import { chooseParameterFile, chooseSchemaVersion } from '../../../src/domain/version-choice.ts';
import type { Major } from '../../../src/domain/version-order.ts';

const listOf = (versions: string[]) => versions.map((version) => ({ version }));

describe('chooseParameterFile', () => {
  const choose = (versions: string[], configurationVersion: string, prereleaseChannel: string | null) => {
    const chosen = chooseParameterFile(listOf(versions), { configurationVersion, prereleaseChannel });
    return chosen && `${chosen.file.version}${chosen.isFallback ? ' fallback' : ''}`;
  };
  const PUBLISHED = ['3.0.0-beta.1', '2.1.0-rc.1', '2.0.1', '2.0.0', '1.2.0-rc.1', '1.1.0', '0.9.0', 'plain'];

  const choices: [configurationVersion: string, channel: string | null, chosen: string | null][] = [
    ['2.0.0', null, '2.0.1'],
    ['2.9.9', null, '2.0.1'],
    ['2.0.0-alpha', null, '2.0.1'],
    ['2.0.0', 'rc', '2.1.0-rc.1'],
    ['2.0.0', 'rc.2', '2.0.1'],
    ['1.0.0', null, '1.1.0'],
    ['1.0.0', 'beta', '1.2.0-rc.1'],
    ['3.0.0', 'beta', '3.0.0-beta.1'],
    ['3.0.0', null, '2.0.1 fallback'],
    ['3.0.0', 'rc', '2.1.0-rc.1 fallback'],
    ['7.0.0', null, '2.0.1 fallback'],
    ['7.0.0', 'alpha', '3.0.0-beta.1 fallback'],
    ['0.1.0', null, '0.9.0'],
    ['by-hand', null, '2.0.1'],
    ['by-hand', 'beta', '3.0.0-beta.1'],
  ];
  for (const [version, channel, chosen] of choices) {
    it(`gives ${version} in channel ${channel} ${chosen}`, () => {
      expect(choose(PUBLISHED, version, channel)).to.equal(chosen);
    });
  }

  it('never gives a file of a higher major, nor of one without a number to a version that has one', () => {
    expect(choose(['2.0.0', '1.0.0'], '0.5.0', null)).to.equal(null);
    expect(choose(['plain'], '1.0.0', null)).to.equal(null);
    expect(choose(['plain'], 'by-hand', null)).to.equal('plain');
  });

  it('tells majors apart that are beyond what a number holds exactly', () => {
    const list = ['9007199254740993.0.0', '9007199254740992.0.0', '5.0.0'];
    expect(choose(list, '9007199254740992.3.0', null)).to.equal('9007199254740992.0.0');
    expect(choose(list, '9007199254740993.3.0', null)).to.equal('9007199254740993.0.0');
    expect(choose(list, '99999999999999999999.0.0', null)).to.equal('9007199254740993.0.0 fallback');
    expect(choose(list, '9007199254740991.0.0', null)).to.equal('5.0.0 fallback');
    expect(choose(list, '4.0.0', null)).to.equal(null);
  });

  it('passes over a nearer major whose prereleases the channel does not admit', () => {
    expect(choose(['2.0.0-alpha', '1.0.0'], '3.0.0', null)).to.equal('1.0.0 fallback');
    expect(choose(['2.0.0-alpha'], '3.0.0', null)).to.equal(null);
    expect(choose([], '1.0.0', null)).to.equal(null);
  });
});

describe('chooseSchemaVersion', () => {
  /** A `*` marks what is published, a `~` what is withdrawn. */
  const choose = (versions: string[], major: Major) => {
    const list = versions.map((text) => ({
      version: text.replace(/[*~]$/, ''),
      isPublished: text.endsWith('*'),
      isWithdrawn: text.endsWith('~'),
    }));
    return chooseSchemaVersion(list, major)?.version ?? null;
  };

  it('tells majors apart that are beyond what a number holds exactly', () => {
    const list = ['9007199254740993.0.0*', '9007199254740992.0.0', '1.0.0*'];
    expect(choose(list, 9_007_199_254_740_993n)).to.equal('9007199254740993.0.0');
    expect(choose(list, 9_007_199_254_740_992n)).to.equal('9007199254740992.0.0');
    expect(choose(list, 7)).to.equal('1.0.0');
  });

  it('prefers the highest published version of the major to a higher draft', () => {
    expect(choose(['2.0.0*', '1.2.0', '1.1.0*', '1.0.0*'], 1)).to.equal('1.1.0');
  });

  it('takes the highest draft where the major has nothing published', () => {
    expect(choose(['2.0.0*', '1.2.0', '1.1.0', '0.1.0*'], 1)).to.equal('1.2.0');
  });

  it('takes a withdrawn version only where the major has no other', () => {
    expect(choose(['1.3.0~', '1.2.0', '1.1.0*'], 1)).to.equal('1.1.0');
    expect(choose(['1.3.0~', '1.2.0', '1.1.0~'], 1)).to.equal('1.2.0');
    expect(choose(['1.3.0~', '1.1.0~', '0.1.0*'], 1)).to.equal('1.3.0');
  });

  it('takes the nearest lower major where there is nothing of the major, by the same rule', () => {
    expect(choose(['5.0.0*', '2.1.0', '2.0.0*', '1.0.0*'], 4)).to.equal('2.0.0');
    expect(choose(['5.0.0*', '2.1.0', '1.0.0*'], 4)).to.equal('2.1.0');
  });

  it('takes none of a higher major, and none that has no number', () => {
    expect(choose(['2.0.0*', 'plain*'], 1)).to.equal(null);
    expect(choose([], 1)).to.equal(null);
  });
});
