import { expect } from 'chai';
import { noContent } from '../../../src/http/answer.ts';
import { type Route, route } from '../../../src/http/route.ts';
import { SESSION_COOKIE, sessionCookie, sessionSecret } from '../../../src/http/session-cookie.ts';
import type { Access } from '../../../src/security/access.ts';

const declare = (path: string, access: unknown): Route =>
  route({
    ...{ id: 'readX', method: 'GET', path, summary: 'x', tags: [], answers: {} },
    access: access as Access,
    handle: noContent,
  });

describe('declaring a route', () => {
  it('is refused without an access, which plain JavaScript could leave out', () => {
    for (const access of [undefined, {}, { permission: 'nodes.read' }]) {
      expect(() => declare('/x', access)).to.throw('GET /x declares no access');
    }
  });

  it('is refused where the path does not name what the access is about', () => {
    for (const kind of ['node:self', 'node:self-or-permission', 'node:self-or-reader']) {
      const access = { kind, permission: 'nodes.read' };
      expect(() => declare('/nodes/{id}', access), kind).to.throw('names no node');
      expect(() => declare('/nodes/{nodeId}', access), kind).to.not.throw();
    }
    const access = { kind: 'grant', on: 'configuration', level: 'Read' };
    expect(() => declare('/x/{id}', access)).to.throw('names no resource');
  });
});

describe('declaring a route that answers with bytes', () => {
  const declareAnswer = (answer: object, more: object = {}) =>
    route({
      ...{ id: 'readX', method: 'GET', path: '/x', summary: 'x', tags: [] },
      access: { kind: 'public' },
      answers: { 200: { description: 'x', ...answer } },
      ...more,
      handle: noContent,
    });

  it('is refused without a bound for who does not read them', () => {
    const refusal = 'GET /x answers with bytes and names no bound';
    expect(() => declareAnswer({ mediaType: 'text/plain' })).to.throw(refusal);
    expect(() => declareAnswer({ alternatives: ['text/x-diff'] })).to.throw(refusal);
    expect(() => declareAnswer({}, { wholeAs: 'text/csv' })).to.throw(refusal);
    expect(() => declareAnswer({ mediaType: 'text/plain' }, { bound: 'user' })).to.not.throw();
    expect(() => declareAnswer({})).to.not.throw();
  });
});

describe('the session cookie', () => {
  it('is found among others, and only under its own name', () => {
    expect(sessionSecret(`${SESSION_COOKIE}=abc`)).to.equal('abc');
    expect(sessionSecret(`a=b; ${SESSION_COOKIE}=abc; c=d`)).to.equal('abc');
    const similar = [`x${SESSION_COOKIE}=abc`, `${SESSION_COOKIE}=`, `${SESSION_COOKIE}=a b`];
    for (const none of ['', 'a=b', ...similar, `a=${SESSION_COOKIE}=abc`])
      expect(sessionSecret(none), none).to.equal(null);
  });

  it('is forgotten with a lifetime of nothing', () => {
    expect(sessionCookie('', 0)).to.match(
      /^hawser_session=; Path=\/; Max-Age=0; HttpOnly; Secure; SameSite=Strict$/,
    );
  });
});
