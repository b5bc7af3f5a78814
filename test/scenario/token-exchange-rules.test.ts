// full: SQLite
/** Jobs exchange the token of their forge for one of a service account, rule by rule. */

import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { Forge, GITHUB_JOB } from '../support/forge.ts';
import { postForm } from '../support/forms.ts';
import { startHawser } from '../support/hawser.ts';
import { later } from '../support/later.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { PUBLIC_URL } from '../support/sign-in-server.ts';
import { started } from '../support/started.ts';

const EXCHANGE = '/api/v1/auth/token-exchange';
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const ME = '/api/v1/auth/me';
const MINUTE = 60_000;
const { sub } = GITHUB_JOB;

describe('a token of a job', () => {
  let forge: Forge;
  let other: Forge;

  before(async () => {
    const clock = { now: () => hawser.clock.now() };
    forge = await Forge.start({ audience: PUBLIC_URL, clock });
    other = await Forge.start({ audience: PUBLIC_URL, clock });
  });
  const hawser = started(() =>
    startHawser({
      ...{ HAWSER_ENV: 'development', HAWSER_PUBLIC_URL: PUBLIC_URL },
      HAWSER_FEDERATION_ISSUERS: `${forge.issuer},${other.issuer}`,
    }),
  );
  after(async () => {
    await forge.close();
    await other.close();
  });
  let count = 0;

  const federationsOf = (id: string) => `/api/v1/users/${id}/federations`;
  const federate = (id: string, body: Record<string, unknown> = {}) => {
    const usual = { issuer: forge.issuer, claims: { sub }, scopes: ['nodes.read'] };
    return hawser.admin.post(federationsOf(id), { ...usual, ...body });
  };
  /** A service account of a new name, with a federation. */
  const makeAccount = async (body: Record<string, unknown> = {}) => {
    count += 1;
    const name = `Deployer-${count}`;
    const account = { username: name, email: 'ops@example.org', accountType: 'ServiceAccount' };
    const { id } = await ok(201, hawser.admin.post('/api/v1/users', account));
    return { id: id as string, name, federation: await ok(201, federate(id, body)) };
  };
  const exchange = (name: string, token: string, more: Record<string, string> = {}): Promise<Reply> =>
    postForm(hawser.client(), EXCHANGE, {
      ...{ grant_type: GRANT, subject_token_type: JWT, subject_token: token, client_id: name },
      ...more,
    });
  const bearer = (token: string) => hawser.client().with({ Authorization: `Bearer ${token}` });
  const exchanged = async (name: string, claims: Record<string, unknown> = {}) =>
    bearer((await ok(200, exchange(name, await forge.token(claims)))).access_token);
  const statusOf = async (client: Client) => (await client.get(ME)).status;
  /** Checks that it is refused as everything is, and that log and audit trail have the reason. */
  const expectRefused = async (reply: Promise<Reply> | Reply, reason: string, what = reason) => {
    const refused = await expectProblem(reply, 400, 'invalid_grant', what);
    expect(refused.json.error, what).to.equal('invalid_grant');
    expect(refused.json.detail, what).to.not.include(reason);
    expect(Object.keys(refused.json).sort(), what).to.deep.equal([
      'code',
      'detail',
      'error',
      'status',
      'title',
      'type',
    ]);
    const [entry] = await auditEntries(hawser, 'action=token.exchange_refused&take=1');
    expect(entry?.details, what).to.deep.equal({ reason });
    const lines = hawser.log().split('\n');
    const line = lines.findLast((each) => each.includes('"reason":'));
    expect(JSON.parse(line ?? '{}'), what).to.include({ reason });
    return refused;
  };

  it('gives a token of the account, for some minutes', async () => {
    const { name, federation } = await makeAccount();
    const answer = await ok(200, exchange(name, await forge.token()));
    expect(answer).to.include({
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 900,
      scope: 'nodes.read',
    });
    expect(await ok(200, bearer(answer.access_token).get(ME))).to.include({
      ...{ username: name, accountType: 'ServiceAccount', authMethod: 'Token' },
    });
    const [entry] = await auditEntries(hawser, 'action=token.created&take=1');
    expect(entry?.details).to.include({ via: 'exchange', federationId: federation.id, subject: sub });
  });

  it('is taken for issuers that are configured, within the rights of who says so', async () => {
    const { id } = await makeAccount();
    const foreign = federate(id, { issuer: 'https://third.example.org' });
    await expectProblem(foreign, 400, 'validation_failed: unknown_issuer');
    for (const fault of [
      { claims: { ref: 'refs/heads/main' } },
      { claims: { sub: '' } },
      { scopes: ['nothing'] },
      { lifetimeMinutes: 61 },
      { lifetimeMinutes: 0 },
    ])
      await expectInvalid(federate(id, fault));
    const manager = await makeUser(hawser, { username: 'max', permissions: ['users.manage'] });
    const body = { issuer: forge.issuer, claims: { sub }, scopes: ['nodes.read'] };
    await expectProblem(manager.post(federationsOf(id), body), 403, 'beyond_own_permissions');
  });

  it('must be whole, known and of our time, in a form as it is specified', async () => {
    const { name } = await makeAccount();
    const at = Math.floor(hawser.clock.now() / 1_000);
    const claimed = async (claims: Record<string, unknown>) => exchange(name, await forge.token(claims));
    const honest = async (more: Record<string, string>) => exchange(name, await forge.token(), more);
    const post = (body: string) =>
      hawser.client().call('POST', EXCHANGE, {
        ...{ headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body },
      });
    const refused: [reason: string, send: () => Promise<Reply>][] = [
      ['it has no end', () => claimed({ exp: undefined })],
      ['it has no time of issue', () => claimed({ iat: undefined })],
      ['it has no id', () => claimed({ jti: undefined })],
      ['its id is empty or no text', () => claimed({ jti: '' })],
      ['it has no subject', () => claimed({ sub: undefined })],
      ['it is not valid yet', () => claimed({ nbf: at + 3_600 })],
      ['it is of the future', () => claimed({ iat: at + 3_600, exp: at + 7_200 })],
      ['unknown issuer', () => claimed({ iss: 'https://third.example.org' })],
      ['no token', () => exchange(name, 'not a token')],
      ['no such service account', () => honest({ client_id: 'admin' })],
      ['no such service account', () => honest({ client_id: 'nobody' })],
      ['another grant or type of token', () => honest({ grant_type: 'password' })],
      ['the form is not that of RFC 8693', () => post(`grant_type=${GRANT}`)],
      ['the form is not that of RFC 8693', () => post(`grant_type=${GRANT}&grant_type=${GRANT}`)],
    ];
    for (const [reason, send] of refused) await expectRefused(send(), reason);
    expect(hawser.log()).to.not.match(/eyJ[A-Za-z0-9_-]{20}/);
    hawser.clock.advance(MINUTE);
  });

  it('must have each claim of the federation with its value and its type', async () => {
    const pinned = { sub, repository_id: '123', attempt: 1, protected: true };
    const { name } = await makeAccount({ claims: pinned });
    const near: Record<string, unknown>[] = [
      ...[{ repository_id: 123 }, { repository_id: ' 123' }, { repository_id: ['123'] }, { attempt: '1' }],
      ...[{ attempt: 2 }, { attempt: undefined }, { protected: 'true' }, { protected: false }],
      ...[{ protected: 1 }, { repository_id: null }, { sub: `${sub} ` }, { sub: sub.slice(0, -1) }],
      ...[{ sub: `${sub}x` }, { sub: 'repo:octo/*' }],
    ];
    for (const claims of near) {
      const token = await forge.token({ ...pinned, ...claims });
      const what = JSON.stringify(claims);
      await expectRefused(exchange(name, token), 'no federation has these claims', what);
      // Thirty refusals a minute are counted from one address.
      hawser.clock.advance(3_000);
    }
    expect(await statusOf(await exchanged(name, { ...pinned, more: 'of it' }))).to.equal(200);
  });

  it('must be of the issuer of the federation, whose ids are its own', async () => {
    const { id, name } = await makeAccount();
    const strange = await other.token();
    await expectRefused(exchange(name, strange), 'no federation has these claims');
    await ok(201, federate(id, { issuer: other.issuer, scopes: ['reports.read'] }));
    const [one, two] = [await forge.token({ jti: 'the-same' }), await other.token({ jti: 'the-same' })];
    expect((await ok(200, exchange(name, one))).scope).to.equal('nodes.read');
    expect((await ok(200, exchange(name, two))).scope).to.equal('reports.read');
    const forged = await other.token({ iss: forge.issuer });
    await expectRefused(exchange(name, forged), 'the issuer has no such key');
  });

  it('works once, however many send it at the same time', async () => {
    const { name } = await makeAccount();
    const token = await forge.token();
    const replies = await Promise.all([1, 2, 3, 4].map(() => exchange(name, token)));
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 400, 400, 400]);
    await expectRefused(exchange(name, token), 'it was used before');
    const second = await makeAccount();
    await expectRefused(exchange(second.name, token), 'it was used before');
    hawser.clock.advance(MINUTE);
  });

  it('may have ended half a minute ago, and not more', async () => {
    const { name } = await makeAccount();
    const status = async (claim: string, seconds: number) => {
      const time = Math.floor(hawser.clock.now() / 1_000) + seconds;
      return (await exchange(name, await forge.token({ [claim]: time }))).status;
    };
    expect([await status('exp', -20), await status('exp', -40)]).to.deep.equal([200, 400]);
    expect([await status('nbf', 20), await status('nbf', 40)]).to.deep.equal([200, 400]);
    expect([await status('iat', 20), await status('iat', 40)]).to.deep.equal([200, 400]);
    expect([await status('exp', 100.123_456_7), await status('exp', 1e300)]).to.deep.equal([200, 200]);
  });

  it('is for this server alone, by its public URL as it is written', async () => {
    const { name } = await makeAccount();
    expect(await statusOf(await exchanged(name, { aud: [PUBLIC_URL] }))).to.equal(200);
    for (const aud of [undefined, '', [], `${PUBLIC_URL}/`, PUBLIC_URL.toUpperCase(), [`${PUBLIC_URL}/x`]]) {
      const token = await forge.token({ aud });
      const reason = aud === undefined ? 'it is for nobody' : 'it is for another server';
      await expectRefused(exchange(name, token), reason, JSON.stringify(aud));
    }
    const both = await forge.token({ aud: [PUBLIC_URL, PUBLIC_URL] });
    await expectRefused(exchange(name, both), 'it is for others too');
    hawser.clock.advance(MINUTE);
  });

  it('is signed by a key of the issuer, and by no secret', async () => {
    const { name } = await makeAccount();
    for (const signWith of ['other', 'none', 'hmac', 'hmac-by-public-key'] as const) {
      const token = await forge.token({}, { signWith, secret: '' });
      const reason = signWith === 'other' ? 'its signature does not hold' : 'its algorithm is not taken';
      await expectRefused(exchange(name, token), reason, signWith);
    }
    const altered = await forge.token({ sub: 'x' }, { alter: (all) => ({ ...all, sub }) });
    await expectRefused(exchange(name, altered), 'its signature does not hold');
    for (const claims of [{ exp: 'soon' }, { iat: 'now' }, { jti: 7 }, { sub: 7 }]) {
      const reply = exchange(name, await forge.token(claims));
      await expectProblem(reply, 400, 'invalid_grant', JSON.stringify(claims));
    }
    hawser.clock.advance(MINUTE);
  });

  it('may be signed by a key that is new, once a minute has passed since the keys were fetched', async () => {
    const { name } = await makeAccount();
    const fetched = () => forge.calls.filter((path) => path.endsWith('/jwks')).length;
    expect(await statusOf(await exchanged(name))).to.equal(200);
    await later(2 * MINUTE, async () => {
      await forge.rotateKeys();
      const before = fetched();
      expect(await statusOf(await exchanged(name))).to.equal(200);
      expect(fetched() - before).to.equal(1);
      for (let turn = 0; turn < 3; turn += 1) {
        const token = await forge.token({}, { header: { kid: `other-${turn}` } });
        await expectRefused(exchange(name, token), 'the issuer has no such key');
      }
      expect(fetched() - before).to.equal(1);
    });
    // The audit trail is read by time.
    hawser.clock.advance(3 * MINUTE);
  });

  it('is worth as many minutes as the federation says, an hour at most', async () => {
    for (const [lifetimeMinutes, seconds] of [
      [undefined, 900],
      [1, 60],
      [60, 3_600],
    ] as const) {
      const { name, federation } = await makeAccount({ lifetimeMinutes });
      expect(federation.lifetimeMinutes).to.equal(seconds / 60);
      const answer = await ok(200, exchange(name, await forge.token()));
      expect(answer.expires_in).to.equal(seconds);
      const client = bearer(answer.access_token);
      hawser.clock.advance(seconds * 1_000 - 30_000);
      expect(await statusOf(client), `${seconds} before`).to.equal(200);
      hawser.clock.advance(31_000);
      expect(await statusOf(client), `${seconds} after`).to.equal(401);
    }
  });

  it('gives the scopes of the federation, as far as the account holds them', async () => {
    const { id, name } = await makeAccount({ scopes: ['nodes.read', 'reports.read'] });
    const answer = await ok(200, exchange(name, await forge.token(), { scope: 'users.manage' }));
    expect(answer.scope).to.equal('nodes.read reports.read');
    const client = bearer(answer.access_token);
    await expectProblem(client.get('/api/v1/nodes'), 403, 'forbidden');
    const roles = await ok(200, hawser.admin.get('/api/v1/roles?take=100'));
    const administrator = roles.find((role: { name: string }) => role.name === 'Administrator');
    await ok(200, hawser.admin.put(`/api/v1/users/${id}/roles`, { roleIds: [administrator.id] }));
    await ok(200, client.get('/api/v1/nodes'));
    await expectProblem(client.get('/api/v1/users'), 403, 'forbidden');
  });

  it('is worth nothing for an account that is not active, and what came of it before ends', async () => {
    const { id, name } = await makeAccount();
    const client = await exchanged(name);
    expect(await statusOf(client)).to.equal(200);
    const state = { username: name, email: 'ops@example.org' };
    await ok(200, hawser.admin.put(`/api/v1/users/${id}`, { ...state, isActive: false }));
    expect(await statusOf(client)).to.equal(401);
    await expectRefused(exchange(name, await forge.token()), 'the service account is not active');
    await ok(200, hawser.admin.put(`/api/v1/users/${id}`, { ...state, isActive: true }));
    expect(await statusOf(client), 'what was revoked').to.equal(401);
    expect(await statusOf(await exchanged(name))).to.equal(200);
  });

  it('is worth nothing once its federation is deleted, and the others of the account go on', async () => {
    const { id, name, federation } = await makeAccount();
    const build = { sub: 'repo:octo/site:ref:refs/heads/build' };
    const second = await ok(201, federate(id, { claims: build }));
    const [one, two] = [await exchanged(name), await exchanged(name, build)];
    const admin = hawser.client().with({ Cookie: hawser.session });
    const wish = { name: 'a', scopes: [], expiresAt: null };
    const own = bearer((await ok(201, admin.post(`/api/v1/users/${id}/tokens`, wish))).token);
    const elsewhere = await makeAccount();
    const misplaced = hawser.admin.delete(`${federationsOf(elsewhere.id)}/${federation.id}`);
    await expectProblem(misplaced, 404, 'not_found');
    await ok(204, hawser.admin.delete(`${federationsOf(id)}/${federation.id}`));
    expect([await statusOf(one), await statusOf(two), await statusOf(own)]).to.deep.equal([401, 200, 200]);
    await expectRefused(exchange(name, await forge.token()), 'no federation has these claims');
    expect(await statusOf(await exchanged(name, build))).to.equal(200);
    const [left, ...more] = await ok(200, hawser.admin.get(federationsOf(id)));
    expect(more).to.deep.equal([]);
    expect(left).to.deep.equal(second);
    expect(left).to.have.all.keys('id', 'issuer', 'claims', 'scopes', 'lifetimeMinutes', 'createdAt');
  });

  it('is nothing for people, who have no federations to read, to make or to delete', async () => {
    const pia = await makeUser(hawser, { username: 'pia' });
    const { federation } = await makeAccount();
    await expectProblem(federate(pia.userId), 409, 'not_a_service_account');
    const path = federationsOf(pia.userId);
    await expectProblem(hawser.admin.get(path), 409, 'not_a_service_account');
    await expectProblem(hawser.admin.delete(`${path}/${federation.id}`), 409, 'not_a_service_account');
    await expectRefused(exchange('pia', await forge.token()), 'no such service account');
  });

  it('is refused as all others while the issuer or its keys cannot be read, and taken once they can', async () => {
    const gone = await Forge.start({ audience: PUBLIC_URL });
    gone.hangsUp = true;
    const odd = await Forge.start({ audience: PUBLIC_URL });
    const fresh = await startHawser({
      ...{ HAWSER_ENV: 'development', HAWSER_PUBLIC_URL: PUBLIC_URL },
      HAWSER_FEDERATION_ISSUERS: `${gone.issuer},${odd.issuer}`,
    });
    try {
      const form = { grant_type: GRANT, subject_token_type: JWT, client_id: 'nobody' };
      const expectReason = async (issuer: Forge, reason: string, what = reason) => {
        const subject_token = await issuer.token();
        const refused = postForm(fresh.client(), EXCHANGE, { ...form, subject_token });
        await expectProblem(refused, 400, 'invalid_grant', what);
        const [entry] = await auditEntries(fresh, 'action=token.exchange_refused&take=1');
        expect(entry?.details, what).to.deep.equal({ reason });
      };
      await expectReason(gone, 'the issuer cannot be asked');
      for (const badKeys of [
        { status: 500 },
        { status: 404 },
        { status: 302 },
        { body: '<html>' },
        { body: '{"keys": 7}' },
        { body: '[]' },
      ]) {
        odd.badKeys = badKeys;
        await expectReason(odd, 'the keys of the issuer cannot be read', JSON.stringify(badKeys));
      }
      odd.badKeys = null;
      await expectReason(odd, 'no such service account');
    } finally {
      await fresh.close();
      await Promise.all([gone.close(), odd.close()]);
    }
  });
});
