// everyday: SQLite; full: PostgreSQL
/** Jobs exchange the token of their forge for one of a service account. */

import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { Forge, GITHUB_JOB } from '../support/forge.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { PUBLIC_URL } from '../support/sign-in-server.ts';

const EXCHANGE = '/api/v1/auth/token-exchange';
const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const SUB = GITHUB_JOB.sub;

describe('the exchange of tokens', () => {
  let forge: Forge;
  let hawser: Hawser;
  let account: string;
  let federation: string;

  before(async () => {
    forge = await Forge.start({ audience: PUBLIC_URL });
    hawser = await startHawser({
      ...{ HAWSER_ENV: 'development', HAWSER_PUBLIC_URL: PUBLIC_URL },
      HAWSER_FEDERATION_ISSUERS: `https://other.example.org, ${forge.issuer}`,
    });
    account = await makeAccount('deployer');
    federation = (await federate(account, { claims: { sub: SUB, ref: 'refs/heads/main' } })).id;
  });
  after(async () => {
    await hawser.close();
    await forge.close();
  });
  afterEach(() => hawser.clock.advance(5_000));

  const makeAccount = async (username: string) => {
    const body = { username, email: `${username}@example.org`, accountType: 'ServiceAccount' };
    return (await ok(201, hawser.admin.post('/api/v1/users', body))).id as string;
  };
  const federate = (id: string, body: Record<string, unknown>) =>
    ok(
      201,
      hawser.admin.post(`/api/v1/users/${id}/federations`, {
        ...{ issuer: forge.issuer, claims: { sub: SUB }, scopes: ['nodes.read'] },
        ...body,
      }),
    );
  const post = (form: Record<string, string> | string): Promise<Reply> =>
    hawser.client().call('POST', EXCHANGE, {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: Buffer.from(typeof form === 'string' ? form : new URLSearchParams(form).toString()),
    });
  const exchange = async (token: string, more: Record<string, string> = {}) =>
    post({
      ...{ grant_type: GRANT, subject_token_type: JWT, subject_token: token, client_id: 'deployer' },
      ...more,
    });
  const tokenOf = async (reply: Promise<Reply>) => (await ok(200, reply)).access_token as string;
  const bearer = (token: string) => hawser.client().with({ Authorization: `Bearer ${token}` });

  it('gives a token of the account, for some minutes', async () => {
    const answer = await ok(200, exchange(await forge.token()));
    expect(answer).to.include({
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'Bearer',
      expires_in: 900,
      scope: 'nodes.read',
    });
    const client = bearer(answer.access_token);
    expect(await ok(200, client.get('/api/v1/auth/me'))).to.include({
      username: 'deployer',
      accountType: 'ServiceAccount',
      authMethod: 'Token',
    });
    const [entry] = await auditEntries(hawser, 'action=token.created&take=1');
    expect(entry?.details).to.include({ via: 'exchange', federationId: federation, subject: SUB });
    hawser.clock.advance(15 * 60_000 + 1);
    expect((await client.get('/api/v1/auth/me')).status).to.equal(401);
    hawser.clock.advance(-15 * 60_000 - 1);
  });

  it('takes keys that were rotated, and a list of one audience', async () => {
    await tokenOf(exchange(await forge.token({ aud: [PUBLIC_URL] })));
    expect(forge.calls.filter((path) => path.includes('jwks'))).to.have.length.below(3);
  });

  it('refuses everything else in one way, and says in log and audit trail why', async () => {
    const used = await forge.token();
    await tokenOf(exchange(used));
    const now = Math.floor(Date.now() / 1_000);
    const honest = () => forge.token();
    const refused: [reason: string, reply: () => Promise<Reply>][] = [
      ['it was used before', () => exchange(used)],
      [
        'no federation has these claims',
        async () => exchange(await forge.token({ ref: 'refs/heads/other' })),
      ],
      ['no federation has these claims', async () => exchange(await forge.token({ ref: undefined }))],
      ['no federation has these claims', async () => exchange(await forge.token({ sub: SUB.toUpperCase() }))],
      [
        'the token does not hold',
        async () => exchange(await forge.token({ aud: 'https://other.example.org' })),
      ],
      [
        'it is for others too',
        async () => exchange(await forge.token({ aud: [PUBLIC_URL, 'https://b.example'] })),
      ],
      ['the token does not hold', async () => exchange(await forge.token({ exp: now - 60 }))],
      ['the token does not hold', async () => exchange(await forge.token({ exp: undefined }))],
      ['the token does not hold', async () => exchange(await forge.token({ iat: undefined }))],
      ['the token does not hold', async () => exchange(await forge.token({ jti: undefined }))],
      [
        'it is of the future',
        async () => exchange(await forge.token({ iat: now + 3_600, exp: now + 7_200 })),
      ],
      ['the token does not hold', async () => exchange(await forge.token({}, { signWith: 'other' }))],
      ['the token does not hold', async () => exchange(await forge.token({}, { signWith: 'none' }))],
      ['unknown issuer', async () => exchange(await forge.token({ iss: 'https://third.example.org' }))],
      ['no token', () => exchange('not a token')],
      ['no such service account', async () => exchange(await honest(), { client_id: 'admin' })],
      ['no such service account', async () => exchange(await honest(), { client_id: 'nobody' })],
      ['another grant or type of token', async () => exchange(await honest(), { grant_type: 'password' })],
      ['the form is not that of RFC 8693', () => post({ grant_type: GRANT })],
      ['the form is not that of RFC 8693', () => post(`grant_type=${GRANT}&grant_type=${GRANT}`)],
    ];
    for (const [reason, send] of refused) {
      const reply = await expectProblem(send(), 400, 'invalid_grant', reason);
      expect(reply.json.error).to.equal('invalid_grant');
      expect(reply.json.detail).to.not.include(reason);
      const [entry] = await auditEntries(hawser, 'action=token.exchange_refused&take=1');
      expect(entry?.details, reason).to.deep.equal({ reason });
      hawser.clock.advance(4_000);
    }
    expect(hawser.log()).to.not.match(/eyJ[A-Za-z0-9_-]{20}/);
  });

  it('ends with the federation, and is nothing for who is not active', async () => {
    const other = await makeAccount('builder');
    const { id } = await federate(other, { lifetimeMinutes: 60 });
    const client = bearer(await tokenOf(exchange(await forge.token(), { client_id: 'builder' })));
    await ok(200, client.get('/api/v1/auth/me'));
    const path = `/api/v1/users/${other}/federations`;
    expect(await ok(200, hawser.admin.get(path))).to.have.length(1);
    await ok(204, hawser.admin.delete(`${path}/${id}`));
    expect((await client.get('/api/v1/auth/me')).status).to.equal(401);
    await expectProblem(exchange(await forge.token(), { client_id: 'builder' }), 400, 'invalid_grant');
  });

  it('is set up for service accounts alone, for issuers that are configured, within one’s own rights', async () => {
    const person = await makeUser(hawser, { username: 'pia' });
    const body = { issuer: forge.issuer, claims: { sub: SUB }, scopes: ['nodes.read'] };
    const path = `/api/v1/users/${account}/federations`;
    const ofPerson = hawser.admin.post(`/api/v1/users/${person.userId}/federations`, body);
    await expectProblem(ofPerson, 409, 'not_a_service_account');
    const foreign = { ...body, issuer: 'https://third.example.org' };
    await expectProblem(hawser.admin.post(path, foreign), 400, 'validation_failed: unknown_issuer');
    for (const fault of [
      { claims: { ref: 'refs/heads/main' } },
      { claims: { sub: '' } },
      { scopes: ['nothing'] },
      { lifetimeMinutes: 61 },
      { lifetimeMinutes: 0 },
    ])
      await expectInvalid(hawser.admin.post(path, { ...body, ...fault }));
    const manager = await makeUser(hawser, { username: 'max', permissions: ['users.manage'] });
    await expectProblem(manager.client.post(path, body), 403, 'beyond_own_permissions');
    await expectProblem(person.client.get(path), 403, 'forbidden');
  });
});
