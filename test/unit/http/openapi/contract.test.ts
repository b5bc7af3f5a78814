import { expect } from 'chai';
import { checkReply, type Exchanged } from '../../../support/contract.ts';

const OPERATION = { method: 'GET', path: '/api/v1/settings/public' };
const PROBLEM = { type: 'about:blank', title: 'x', status: 500, detail: 'x', code: 'internal_error' };

function reply(status: number, body: unknown, headers: Record<string, string> = {}): Exchanged {
  const type = status < 400 ? 'application/json; charset=utf-8' : 'application/problem+json; charset=utf-8';
  const always = { 'x-request-id': 'a', ...(status === 200 ? { etag: '"a"' } : {}), 'content-type': type };
  return {
    ...OPERATION,
    status,
    headers: { ...always, ...headers },
    bytes: Buffer.from(JSON.stringify(body)),
  };
}

/** The check that every scenario runs under, which would be worth nothing if it let everything through. */
describe('the check of replies against the OpenAPI document', () => {
  const good = { certificateRotationInterval: '60.00:00:00' };

  it('lets through what is declared', () => {
    checkReply(reply(200, good));
    checkReply(reply(500, PROBLEM));
  });

  it('lets through what no operation answers', () => {
    checkReply({ ...reply(404, PROBLEM), path: '/api/v1/nowhere' });
    checkReply({ ...reply(405, PROBLEM), method: 'DELETE' });
    checkReply(reply(400, { ...PROBLEM, status: 400, code: 'malformed_request' }));
  });

  const refused: [string, Exchanged, RegExp][] = [
    ['a status', reply(418, PROBLEM), /getPublicSettings .* 418: the status/],
    ['a code', reply(500, { ...PROBLEM, code: 'invented' }), /500: .*code/],
    ['a member', reply(200, { ...good, secret: 1 }), /additional properties/],
    ['a type', reply(200, { certificateRotationInterval: 1 }), /must be string/],
    ['a media type', reply(200, good, { 'content-type': 'text/html' }), /text\/html is not declared/],
    ['a header', reply(200, good, { 'set-cookie': 'a=b' }), /set-cookie is not declared/],
  ];
  for (const [what, exchanged, message] of refused) {
    it(`refuses ${what} that is not declared`, () => {
      expect(() => checkReply(exchanged)).to.throw(message);
    });
  }

  it('refuses an answer that lacks what is declared', () => {
    expect(() => checkReply(reply(200, {}))).to.throw(/required property/);
    const { etag, ...headers } = reply(200, good).headers;
    expect(() => checkReply({ ...reply(200, good), headers })).to.throw(/ETag is missing/);
  });
});
