import { expect } from 'chai';
import {
  download,
  etagOf,
  json,
  namesValidator,
  noContent,
  page,
  redirect,
  requireMatch,
} from '../../../src/http/answer.ts';

describe('the validator of an answer', () => {
  it('is its own where it has one, else made from its bytes', () => {
    expect(etagOf(json({ a: 1 }, 'own'))).to.equal('"own"');
    expect(etagOf(download(Buffer.from('x'), 'text/plain', 'blob'))).to.equal('"blob"');
    const made = etagOf(json({ a: 1 }));
    expect(made).to.match(/^"[A-Za-z0-9_-]{27}"$/);
    expect(etagOf(json({ a: 1 }))).to.equal(made);
    expect(etagOf(json({ a: 2 }))).to.not.equal(made);
  });

  it('is another one for the same page of a list that has grown', () => {
    const first = { take: 1, skip: 0 };
    expect(etagOf(page(['a'], 1, first))).to.equal(etagOf(page(['a'], 1, first)));
    expect(etagOf(page(['a'], 2, first))).to.not.equal(etagOf(page(['a'], 1, first)));
    expect(etagOf(page(['b'], 1, first))).to.not.equal(etagOf(page(['a'], 1, first)));
  });

  it('is missing from what is never cached, and from what is no plain success', () => {
    expect(etagOf({ ...json({}), headers: { 'Cache-Control': 'no-store' } })).to.equal(null);
    expect(etagOf(noContent())).to.equal(null);
    expect(etagOf(redirect('/login'))).to.equal(null);
    expect(etagOf({ ...json({}), status: 503 })).to.equal(null);
  });
});

describe('If-None-Match', () => {
  for (const header of ['"abc"', ' "abc" ', 'W/"abc"', '"x", "abc"', '"x",W/"abc" ,"y"', '*', ' * ']) {
    it(`names the validator: ${header}`, () => expect(namesValidator(header, '"abc"')).to.equal(true));
  }
  for (const header of ['', 'abc', '"ab"', '"abcd"', '"ABC"', "'abc'", 'w/"abc"', '"x"', '**', '"*"']) {
    it(`does not: ${header}`, () => expect(namesValidator(header, '"abc"')).to.equal(false));
  }
});

describe('If-Match', () => {
  for (const header of ['"abc"', '"x", "abc"', '*']) {
    it(`lets through: ${header}`, () => expect(() => requireMatch(header, { etag: '"abc"' })).to.not.throw());
  }
  for (const header of ['', '"x"', 'abc', 'W/"abc"', '"ab"']) {
    it(`refuses, comparing strongly: ${header}`, () => {
      expect(() => requireMatch(header, { etag: '"abc"' }))
        .to.throw()
        .with.property('code', 'precondition_failed');
    });
  }
  it('refuses everything where there is nothing', () => {
    for (const header of ['*', '"abc"', '"null"'])
      expect(() => requireMatch(header, null), header).to.throw();
  });

  it('takes any list that is there, and no list for a certain one', () => {
    expect(() => requireMatch('*', { etag: null })).to.not.throw();
    expect(() => requireMatch('"abc"', { etag: null })).to.throw();
  });
});
