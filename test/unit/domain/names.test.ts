import { expect } from 'chai';
import { isResourceName } from '../../../src/domain/names.ts';

describe('isResourceName', () => {
  for (const text of ['a', '9', 'web-server', 'Web_1.2', 'git', 'a.git.b', 'a.locks', 'x'.repeat(128)]) {
    it(`takes ${text.slice(0, 30)}`, () => expect(isResourceName(text)).to.equal(true));
  }
  const refused = [
    '',
    '.a',
    '-a',
    '_a',
    'a b',
    'a/b',
    'a\\b',
    'a..b',
    'ü',
    'a\n',
    'a.git',
    'a.GIT',
    'a.Lock',
  ];
  for (const text of [...refused, 'x'.repeat(129)]) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => expect(isResourceName(text)).to.equal(false));
  }
});
