import { expect } from 'chai';
import { normalizeHostName } from '../../../src/domain/names.ts';
import { words } from '../../support/words.ts';

describe('normalizeHostName', () => {
  const label = 'a'.repeat(63);
  const longest = `${label}.${label}.${label}.${'a'.repeat(61)}`;
  const kept: [string, string][] = [
    ['WEB01', 'web01'],
    ['Web01.Example.COM', 'web01.example.com'],
    ['1-2.3com', '1-2.3com'],
    ['xn--mller-kva.de', 'xn--mller-kva.de'],
    ['WIN_APP_01', 'win_app_01'],
    ['_a_._b', '_a_._b'],
    ['Web01.Example.COM.', 'web01.example.com'],
    ['a.', 'a'],
    [`${longest}.`, longest],
    ['lock', 'lock'],
    ['a.lock.b', 'a.lock.b'],
    [longest, longest],
  ];
  for (const [raw, name] of kept) {
    it(`takes ${raw.slice(0, 30)}`, () => expect(normalizeHostName(raw)).to.equal(name));
  }

  const refused = [
    '',
    'a b',
    ' a',
    'a\n',
    '\u212aube',
    `${label}a`,
    `${longest}a`,
    `${longest}..`,
    'a'.repeat(100_000),
    `reg_${'aB-_'.repeat(10)}x`,
    `pat_${'aB-_'.repeat(10)}x`,
    ...words('. .a a..b -a a- a.-b a.. .. host.lock. -_a müller.de host.lock HOST.LOCK a/b a:443 *.a'),
  ];
  for (const raw of refused) {
    it(`refuses ${JSON.stringify(raw.slice(0, 30))}`, () => expect(normalizeHostName(raw)).to.equal(null));
  }
});
