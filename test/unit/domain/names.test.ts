import { expect } from 'chai';
import { isResourceName } from '../../../src/domain/names.ts';
import { words } from '../../support/words.ts';

describe('isResourceName', () => {
  for (const text of ['a', '9', 'web-server', 'Web_1.2', 'git', 'a.git.b', 'a.locks', 'x'.repeat(128)]) {
    it(`takes ${text.slice(0, 30)}`, () => expect(isResourceName(text)).to.equal(true));
  }
  const refused = [...['', 'a b', 'a\\b', 'a\n'], ...words('.a -a _a a/b a..b ü a.git a.GIT a.Lock')];
  for (const text of [...refused, 'x'.repeat(129)]) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => expect(isResourceName(text)).to.equal(false));
  }
});
