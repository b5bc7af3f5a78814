import { expect } from 'chai';
import { matchesName, normalizeNamePattern } from '../../../src/domain/name-patterns.ts';

describe('a pattern of host names', () => {
  it('has what a host name has, and *', () => {
    for (const pattern of ['*', 'web', 'web-*.example.com', '*_1.*.com', 'a*b*c', '*.*', 'x'.repeat(63)])
      expect(normalizeNamePattern(pattern), pattern).to.equal(pattern);
    expect(normalizeNamePattern('WEB-*.Example.COM')).to.equal('web-*.example.com');
    expect(normalizeNamePattern('a***b.**')).to.equal('a*b.*');
    const faults = [
      '',
      '.',
      'a..b',
      '.a',
      'a.',
      'a b',
      'x/y',
      'a?',
      'a[b]',
      'bücher',
      'a\nb',
      'x'.repeat(64),
    ];
    for (const pattern of [...faults, `${'a.'.repeat(150)}a`])
      expect(normalizeNamePattern(pattern), pattern).to.equal(null);
  });

  it('matches within labels, never across them', () => {
    const cases: [string, string, boolean][] = [
      ['web-*.example.com', 'web-1.example.com', true],
      ['web-*.example.com', 'web-.example.com', true],
      ['web-*.example.com', 'web-1.eu.example.com', false],
      ['web-*.example.com', 'xweb-1.example.com', false],
      ['*', 'web', true],
      ['*', 'web.example', false],
      ['*.*', 'web.example', true],
      ['w*b', 'wb', true],
      ['w*b', 'web-b', true],
      ['w*b', 'web-1', false],
      ['*e*', 'web', true],
      ['*e*', 'eu', true],
      ['*e*', 'us', false],
      ['aba*aba', 'aba', false],
      ['aba*aba', 'abaaba', true],
      ['a*b*c', 'aXbYc', true],
      ['a*bc*c', 'abc', false],
      ['*ab*ab*', 'ab-ab', true],
      ['*ab*ab*', 'aba', false],
    ];
    for (const [pattern, name, expected] of cases)
      expect(matchesName(pattern, name.toLowerCase()), `${pattern} ${name}`).to.equal(expected);
  });

  it('of many * takes no time worth mentioning', () => {
    const pattern = `${'*a'.repeat(31)}*b`;
    expect(matchesName(pattern, 'a'.repeat(63))).to.equal(false);
    expect(matchesName(pattern, `${'a'.repeat(31)}b`)).to.equal(true);
  });
});
