// full: SQLite
import { expect } from 'chai';
import { startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const KEYS = '/api/v1/admin/registration-keys';

describe('a request that a browser sends from another site', () => {
  const hawser = started(startHawser);
  let host: string;
  const post = (headers: Record<string, string>) =>
    hawser.client().call('POST', KEYS, { json: {}, headers: { Cookie: hawser.session, ...headers } });

  before(async () => {
    host = `localhost:${hawser.server.port}`;
  });

  it('is refused when Sec-Fetch-Site says so, whatever Origin says', async () => {
    for (const site of ['cross-site', 'same-site', '', 'same-origin, cross-site']) {
      await expectProblem(
        post({ 'Sec-Fetch-Site': site, Origin: `https://${host}` }),
        403,
        'cross_site_request',
        site,
      );
    }
  });

  it('is refused by its Origin where the browser sends no Sec-Fetch-Site', async () => {
    const origins = [
      'https://evil.example',
      `http://${host}`,
      `https://${host}.evil.example`,
      'https://localhost',
      `https://localhost:1`,
      'null',
    ];
    for (const origin of origins) {
      await expectProblem(post({ Origin: origin }), 403, 'cross_site_request', origin);
    }
  });

  it('is let through when it comes from this site, or from no browser at all', async () => {
    const own: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'same-origin' },
      { 'Sec-Fetch-Site': 'none' },
      { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://behind-a-balancer.example' },
      { Origin: `https://${host}` },
      {},
    ];
    for (const headers of own) expect((await post(headers)).status, JSON.stringify(headers)).to.equal(201);
  });

  it('may read, since the browser does not hand out the answer', async () => {
    const headers = {
      Cookie: hawser.session,
      'Sec-Fetch-Site': 'cross-site',
      Origin: 'https://evil.example',
    };
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const reply = await hawser.client().call(method, KEYS, { headers });
      expect(reply.status, method).to.be.lessThan(300);
      expect(reply.headers).to.not.have.property('access-control-allow-origin');
    }
  });

  it('is held to the rule for every unsafe method, and on the sign-in route too', async () => {
    const headers = { Cookie: hawser.session, Origin: 'https://evil.example' };
    for (const [method, path] of [
      ['DELETE', `${KEYS}/00000000-0000-4000-8000-000000000000`],
      ['PUT', `${KEYS}/00000000-0000-4000-8000-000000000000`],
      ['POST', '/api/v1/auth/logout'],
      ['POST', '/api/v1/auth/login'],
    ] as const) {
      await expectProblem(
        hawser.client().call(method, path, { json: {}, headers }),
        403,
        'cross_site_request',
        path,
      );
    }
    await ok(200, hawser.client().get('/api/v1/auth/me', { Cookie: hawser.session }));
  });

  it('does not concern tokens, which no browser sends by itself', async () => {
    const headers = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' };
    const reply = await hawser.admin.call('POST', KEYS, { json: {}, headers });
    expect(reply.status).to.equal(201);
  });
});
