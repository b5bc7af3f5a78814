import { expect } from 'chai';
import { problemAnswer, toHawserError } from '../../../src/http/problem.ts';
import { type ErrorKind, HawserError, invalidField, unauthenticated } from '../../../src/lib/errors.ts';

const bodyOf = (answer: { body: unknown }) => JSON.parse(String(answer.body));
const same = (error: unknown) => error;

describe('a problem', () => {
  it('has the status of its kind', () => {
    const statuses: Record<ErrorKind, number> = {
      invalid: 400,
      unauthenticated: 401,
      forbidden: 403,
      not_found: 404,
      method_not_allowed: 405,
      not_acceptable: 406,
      conflict: 409,
      gone: 410,
      timed_out: 408,
      precondition_failed: 412,
      too_large: 413,
      unsupported_media_type: 415,
      locked: 423,
      rate_limited: 429,
      internal: 500,
      not_implemented: 501,
      unavailable: 503,
      storage_full: 507,
    };
    for (const [kind, status] of Object.entries(statuses)) {
      const answer = problemAnswer(new HawserError(kind as ErrorKind, 'some_code', 'Some text'));
      expect(answer.status, kind).to.equal(status);
      expect(answer.headers['Content-Type']).to.equal('application/problem+json; charset=utf-8');
      const { title, ...others } = bodyOf(answer);
      expect(title).to.be.a('string').and.not.equal('');
      expect(others).to.deep.equal({ type: 'about:blank', status, detail: 'Some text', code: 'some_code' });
    }
  });

  it('carries what belongs to it: the faults, how to sign in, when to come back, what is allowed', () => {
    const errors = [{ path: '/a', message: 'No', code: 'custom' }];
    expect(bodyOf(problemAnswer(invalidField('/a', 'No'))).errors).to.deep.equal(errors);
    expect(problemAnswer(unauthenticated('x')).headers).to.have.property('WWW-Authenticate');
    const busy = new HawserError('unavailable', 'unavailable', 'x', { retryAfter: 5 });
    expect(problemAnswer(busy).headers['Retry-After']).to.equal('5');
    const wrong = problemAnswer(
      new HawserError('method_not_allowed', 'method_not_allowed', 'x', { allow: 'GET, HEAD' }),
    );
    expect(wrong.headers['Allow']).to.equal('GET, HEAD');
    expect(bodyOf(wrong)).to.include({ status: 405, code: 'method_not_allowed' });
  });

  it('shows nothing of what went wrong inside', () => {
    const inner = new Error('open /var/lib/hawser/hawser.db: select secret from users');
    const failure = toHawserError(inner, same);
    expect(failure.cause, 'kept for the log').to.equal(inner);
    const answer = problemAnswer(failure);
    expect(answer.status).to.equal(500);
    expect(bodyOf(answer).code).to.equal('internal_error');
    expect(answer.body).to.not.match(/hawser\.db|secret|select/);
    for (const thrown of [null, undefined, 'text', 5, { code: 7 }]) {
      expect(problemAnswer(toHawserError(thrown, same)).status, String(thrown)).to.equal(500);
    }
  });

  it('of a full disk is 507, wherever it was noticed', () => {
    for (const code of ['ENOSPC', 'EDQUOT']) {
      const full = Object.assign(new Error(`${code}: no space left on device, write '/data/x'`), { code });
      const answer = problemAnswer(toHawserError(full, same));
      expect(answer.status).to.equal(507);
      expect(bodyOf(answer)).to.include({ code: 'insufficient_storage' });
      expect(answer.body).to.not.include('/data/x');
    }
  });
});
