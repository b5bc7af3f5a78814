// full: SQLite
/**
 * What opens doors in a sign-in by a provider, or in an exchange of tokens, is shown to whom it is for and to nobody else:
 * not in the log at its lowest level, not in another answer, not in the audit trail, and not on the disk.
 */

import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { auditEntries } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { DATABASE_FILES, storedBytes } from '../support/database.ts';
import { eventually } from '../support/eventually.ts';
import { Forge, GITHUB_JOB } from '../support/forge.ts';
import type { Hawser } from '../support/hawser.ts';
import { type Lie, LyingProvider } from '../support/lying-provider.ts';
import { makeUser, type Person } from '../support/people.ts';
import { exchange as exchangeBytes } from '../support/raw-tls.ts';
import { expectProblem, ok } from '../support/replies.ts';
import {
  answerOfProvider,
  beginSignIn,
  type Cookies,
  clientWith,
  finishSignIn,
  keepCookies,
  providerIn,
} from '../support/sign-in-flow.ts';
import { PROVIDER, PUBLIC_URL, type SignInServer, startSignInServer } from '../support/sign-in-server.ts';
import type { Payload } from '../support/signing-keys.ts';

/** Refusals as JSON; where somebody gets in, there is a page. */
const JSON_FIRST = { Accept: 'application/problem+json, text/html;q=0.5' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const PASSWORD = 'a-password-of-a-test-user';
const LOGIN = `/login/oidc/${PROVIDER}`;
const CALLBACK = `${LOGIN}/callback`;
const LINK = `${LOGIN}/link`;
const LOGOUT = `${LOGIN}/backchannel-logout`;
const EXCHANGE = '/api/v1/auth/token-exchange';

/** `JSON.parse` quotes ten characters before and after a fault, so as many are a leak. */
const PIECE = 10;

interface Secret {
  what: string;
  /** The answer that hands it over. */
  handedOverBy: Reply | undefined;
}

/** All secrets that have occurred, by all of their pieces. So the signature alone of a token is found too. */
class Secrets {
  readonly kinds = new Set<string>();
  private readonly pieces = new Map<string, Secret>();

  /** @returns the secret */
  note(what: string, secret: string, handedOverBy?: Reply): string {
    if (secret.length < PIECE) throw new Error(`${what} is too short to be looked for: ${secret}`);
    this.kinds.add(what);
    for (const form of formsOf(secret))
      for (const piece of piecesOf(form))
        if (!this.pieces.has(piece)) this.pieces.set(piece, { what, handedOverBy });
    return secret;
  }

  /** A new secret of this kind, which begins as no number does. */
  make(what: string): string {
    return this.note(what, `s${randomBytes(24).toString('base64url')}`);
  }

  /** @returns each kind of secret that stands there, with what is beside it */
  foundIn(text: string, answer?: Reply): string[] {
    const found = new Map<string, string>();
    let at = 0;
    for (const piece of piecesOf(text)) {
      const secret = this.pieces.get(piece);
      const isFor = secret?.handedOverBy !== undefined && secret.handedOverBy === answer;
      if (secret !== undefined && !isFor && !found.has(secret.what))
        found.set(secret.what, `${secret.what}: ${text.slice(Math.max(0, at - 80), at + 40)}`);
      at += 1;
    }
    return [...found.values()];
  }
}

function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at + PIECE <= text.length; at += 1) yield text.slice(at, at + PIECE);
}

/** The secret as it is, and as it stands in addresses, forms and headers. */
function formsOf(secret: string): string[] {
  const form = new URLSearchParams({ '': secret }).toString().slice(1);
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]).toString('base64');
    // The characters at the edges depend on what stands beside the secret.
    return text.slice(before === 0 ? 0 : 4, -4);
  });
  return [secret, encodeURIComponent(secret), form, ...base64];
}

/** The same client. It keeps every answer. */
function recording(client: Client, replies: Reply[]): Client {
  const kept =
    <A extends unknown[]>(ask: (...call: A) => Promise<Reply>) =>
    async (...call: A) => {
      const reply = await ask(...call);
      replies.push(reply);
      return reply;
    };
  return {
    ...{ call: kept(client.call), get: kept(client.get), post: kept(client.post), put: kept(client.put) },
    ...{ delete: kept(client.delete), upload: kept(client.upload), close: client.close },
    with: (headers) => recording(client.with(headers), replies),
  };
}

function filesBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
}

const base64url = (text: string) => Buffer.from(text).toString('base64url');
const wholeOf = ({ headers, text }: Reply) => `${JSON.stringify(headers)}\n${text}`;
/** Leaves out the last third, which is within a token. */
const brokenOff = (body: unknown) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return text.slice(0, Math.ceil((text.length * 2) / 3));
};

/** What an honest token endpoint answers with. */
interface Tokens {
  access_token: string;
  refresh_token: string;
  id_token: string;
  [other: string]: unknown;
}

/** How a sign-in fails at the provider. */
interface Failure extends Lie {
  /** Makes of the tokens what the token endpoint sends. */
  shape?: (tokens: Tokens) => unknown;
}

describe('what opens doors in a sign-in by a provider, or in an exchange of tokens,', () => {
  const secrets = new Secrets();
  const replies: Reply[] = [];
  let server: SignInServer;
  let hawser: Hawser;
  let provider: LyingProvider;
  let forge: Forge;
  /** An issuer of job tokens that answers with nonsense. */
  let brokenForge: LyingProvider;
  let user: Person;

  before(async () => {
    forge = await Forge.start({ audience: PUBLIC_URL, clock: { now: () => hawser.clock.now() } });
    brokenForge = await LyingProvider.start({ clock: { now: () => hawser.clock.now() } });
    server = await startSignInServer(
      {},
      {
        HAWSER_FEDERATION_ISSUERS: `${forge.issuer},${brokenForge.issuer}`,
        // There is no lower one.
        HAWSER_LOG_LEVEL: 'debug',
      },
    );
    ({ hawser, provider } = server);
    const plain = hawser.client;
    hawser.client = (identity) => recording(plain(identity), replies);
    secrets.note('the client secret', provider.clientSecret);
    secrets.note('a password', PASSWORD);
    user = await makeUser(hawser, { username: 'uma' });
    secrets.note('a session', user.session.split('=')[1] ?? '', replies.at(-1));
    const account = { username: 'deployer', email: 'd@example.org', accountType: 'ServiceAccount' };
    const { id } = await ok(201, hawser.admin.post('/api/v1/users', account));
    const federation = { issuer: forge.issuer, claims: { sub: GITHUB_JOB.sub }, scopes: ['nodes.read'] };
    await ok(201, hawser.admin.post(`/api/v1/users/${id}/federations`, federation));
  });
  after(async () => {
    await server.close();
    await forge.close();
    await brokenForge.close();
  });

  /** Where this deed begins in the log and among the answers. */
  let begun = { log: 0, replies: 0, calls: 0 };
  beforeEach(() => {
    provider.person = { sub: 'of-ann', preferred_username: 'ann' };
    begun = { log: hawser.log().length, replies: replies.length, calls: provider.calls.length };
  });
  afterEach(() => {
    provider.lie = {};
    brokenForge.lie = {};
    // Somebody may ask thirty times a minute.
    hawser.clock.advance(20_000);
  });

  const logged = () => hawser.log().slice(begun.log);
  /** The lines of the log that have this member. */
  const lines = (member: string) =>
    logged()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .filter((line) => member in line);

  /** What the provider was sent. */
  const noteCalls = () => {
    for (const { path, body, headers } of provider.calls.slice(begun.calls)) {
      if (path !== '/token') continue;
      secrets.note('a PKCE verifier', new URLSearchParams(body).get('code_verifier') ?? '');
      const [, credentials] = headers.authorization?.split(' ') ?? [];
      if (credentials !== undefined) secrets.note('the credentials of the client', credentials);
    }
  };
  const expectNothingShown = () => {
    noteCalls();
    const shown = replies
      .slice(begun.replies)
      .flatMap((reply) => secrets.foundIn(wholeOf(reply), reply).map((found) => `an answer has ${found}`));
    const found = secrets.foundIn(logged()).map((found) => `the log has ${found}`);
    expect([...found, ...shown]).to.deep.equal([]);
  };
  const itIsNotShown = (title: string, deed: () => Promise<unknown>) =>
    it(`is not shown ${title}`, async () => {
      await deed();
      expectNothingShown();
    });

  /** Notes what a browser gets that goes to the provider. */
  const noteFlow = (reply: Reply, cookies: Cookies) => {
    const sent = providerIn(reply).searchParams;
    secrets.note('a state', sent.get('state') ?? '', reply);
    secrets.note('a nonce', sent.get('nonce') ?? '', reply);
    secrets.note('the cookie of a flow', cookies.get('__Host-hawser_oidc') ?? '', reply);
  };
  /** Goes to the provider, up to the address that leads back. */
  const go = async () => {
    const { reply, cookies, authorizeUrl } = await beginSignIn(hawser, PROVIDER);
    noteFlow(reply, cookies);
    const callback = await answerOfProvider(authorizeUrl);
    const code = callback.searchParams.get('code');
    if (code !== null && code.length >= PIECE) secrets.note('an authorization code', code);
    return { callback, cookies };
  };
  const finish = async ({ callback, cookies }: { callback: URL; cookies: Cookies }) => {
    const reply = await finishSignIn(hawser, callback, { cookies, headers: JSON_FIRST });
    const session = cookies.get('hawser_session');
    if (session !== undefined) secrets.note('a session', session, reply);
    return reply;
  };
  const noteTokens = (honest: Payload): Tokens => {
    const tokens = { ...honest, refresh_token: secrets.make('a refresh token') } as unknown as Tokens;
    secrets.note('an access token', tokens.access_token);
    if (tokens.id_token !== undefined) secrets.note('an ID token', tokens.id_token);
    return tokens;
  };
  const signIn = async ({ shape = (tokens) => tokens, ...lie }: Failure = {}) => {
    const tokenBody = (honest: Payload) => ('access_token' in honest ? shape(noteTokens(honest)) : honest);
    provider.lie = { ...lie, tokenBody };
    return finish(await go());
  };
  /** Expects that nobody got in, and that the log says so, and something of why. */
  const expectRefused = (reply: Reply) => {
    expect(reply.status, reply.text).to.be.within(400, 503);
    const { code } = reply.json;
    const refusals = lines('reason');
    if (reply.status === 503) {
      expect(refusals).to.deep.equal([]);
      const answered = lines('path').filter((line) => line.code === code);
      expect(answered).to.have.length(1);
      return answered[0];
    }
    expect(refusals).to.have.length(1);
    expect(refusals[0]).to.include({ provider: PROVIDER, reason: code });
    return refusals[0];
  };
  const expectFailure = async (failure: Failure) => {
    const refusal = expectRefused(await signIn(failure));
    expect(refusal.err.message).to.be.a('string').and.not.equal('');
    return refusal.err;
  };

  it('would be found, also where only a piece of it is shown', () => {
    const hidden = secrets.make('something');
    const [piece] = [hidden.slice(12, 24)];
    for (const text of [hidden, piece, base64url(`user:${hidden}`), encodeURIComponent(hidden)])
      expect(secrets.foundIn(`{"msg":"it was ${text}!"}`), text).to.have.length(1);
    secrets.note('something with blanks', 'two words, and 100% more');
    for (const text of ['two%20words%2C%20and', 'two+words%2C+and', 'words, and'])
      expect(secrets.foundIn(`path=${text}`), text).to.have.length(1);
    expect(secrets.foundIn(hawser.log())).to.deep.equal([]);
  });

  itIsNotShown('when somebody signs in, and out again', async () => {
    const first = await go();
    expect((await finish(first)).status).to.equal(200);
    const session = clientWith(hawser, first.cookies);
    await ok(200, session.get('/api/v1/auth/me'));
    expect((await finish(first)).status, 'again').to.equal(400);
    expect((await session.get('/api/v1/auth/logout-redirect')).status).to.equal(302);
    expect((await session.get('/api/v1/auth/me')).status).to.equal(401);
    expect(lines('path').map(({ path }) => path)).to.include(CALLBACK);
  });

  itIsNotShown('when the provider wants the client secret in a header', async () => {
    await server.change({});
    const discovery = ({ token_endpoint_auth_methods_supported: _, ...honest }: Payload) => honest;
    expect((await signIn({ discovery })).status).to.equal(200);
    const asked = provider.calls.findLast(({ path }) => path === '/token');
    expect(asked?.headers.authorization).to.match(/^Basic /);
    await server.change({});
  });

  describe('is not shown when the token endpoint', () => {
    const failures: Record<string, () => Failure> = {
      'breaks off within a token': () => ({ shape: brokenOff }),
      'breaks off within its first token': () => ({
        shape: ({ id_token, access_token }) => `{"id_token":"${id_token}","access_token":"${access_token}`,
      }),
      'writes tokens without quotes': () => ({
        shape: ({ access_token, id_token }) =>
          `{"token_type": "Bearer", "access_token": x${access_token}, "id_token": ${id_token}}`,
      }),
      'writes nothing but an access token': () => ({ shape: ({ refresh_token }) => refresh_token }),
      'writes nothing but an ID token': () => ({ shape: ({ id_token }) => id_token }),
      'writes a form': () => ({
        shape: ({ refresh_token, access_token }) => `${new URLSearchParams({ refresh_token, access_token })}`,
      }),
      'writes a page': () => ({
        shape: ({ access_token, id_token }) => `<p>${access_token}</p><p>${id_token}</p>`,
        tokenContentType: 'text/html',
      }),
      'writes an object as text': () => ({ shape: (tokens) => JSON.stringify(JSON.stringify(tokens)) }),
      'answers 400 with tokens': () => ({
        tokenStatus: 400,
        shape: (tokens) => ({ error: 'invalid_grant', ...tokens, message: tokens.access_token }),
      }),
      'answers 400 and repeats what it was sent': () => ({
        tokenStatus: 400,
        shape: ({ access_token, id_token }) => ({
          ...{ error: 'invalid_client', error_description: sent() },
          ...{ error_uri: `https://idp.example.org/?${sent()}`, message: sent(), stack: sent() },
          ...{ error_codes: [id_token], [access_token]: access_token },
        }),
      }),
      'answers 400 with a token as error': () => ({
        tokenStatus: 400,
        shape: ({ access_token, id_token }) => ({ error: access_token, error_description: id_token }),
      }),
      'answers 400 without JSON': () => ({ tokenStatus: 400, shape: ({ id_token }) => id_token }),
      'answers 400 and breaks off': () => ({
        tokenStatus: 400,
        shape: (tokens) => brokenOff({ error: 'invalid_grant', ...tokens }),
      }),
      'answers 401 with a token in a header': () => ({
        tokenStatus: 401,
        tokenHeaders: {
          'WWW-Authenticate': `Bearer error="invalid_token", error_description="${secrets.make('a token in a header')}"`,
          'Set-Cookie': `session=${secrets.make('a cookie of the provider')}`,
        },
      }),
      'answers 500 with tokens': () => ({ tokenStatus: 500 }),
      'answers 204 with tokens in its headers': () => ({
        tokenStatus: 204,
        shape: () => '',
        tokenHeaders: { 'X-Access-Token': secrets.make('a token in a header') },
      }),
      'answers 201 with tokens': () => ({ tokenStatus: 201 }),
      'leads elsewhere with a token': () => ({
        redirectTokenTo: `http://127.0.0.1:9/?access_token=${secrets.make('a token in an address')}`,
      }),
      'leaves the type of the token out': () => ({ shape: ({ token_type: _, ...tokens }) => tokens }),
      'gives the type of the token a value that is none': () => ({
        shape: (tokens) => ({ ...tokens, token_type: tokens.refresh_token }),
      }),
      'leaves the access token out': () => ({ shape: ({ access_token: _, ...tokens }) => tokens }),
      'leaves the ID token out': () => ({ shape: ({ id_token: _, ...tokens }) => tokens }),
      'gives a list of access tokens': () => ({
        shape: (tokens) => ({ ...tokens, access_token: [tokens.access_token] }),
      }),
      'gives an object as ID token': () => ({
        shape: (tokens) => ({ ...tokens, id_token: { value: tokens.id_token } }),
      }),
      'gives a list of refresh tokens': () => ({
        shape: (tokens) => ({ ...tokens, refresh_token: [tokens.refresh_token] }),
      }),
      'gives a token as end': () => ({
        shape: (tokens) => ({ ...tokens, expires_in: { at: tokens.refresh_token } }),
      }),
      'gives a list of tokens as scopes': () => ({
        shape: (tokens) => ({ ...tokens, scope: [tokens.access_token] }),
      }),
      'gives a list': () => ({ shape: (tokens) => [tokens] }),
    };
    /** What the token endpoint was sent last. */
    const sent = () => `what came was ${provider.calls.at(-1)?.body} of ${provider.clientSecret}`;

    for (const [what, failure] of Object.entries(failures))
      it(what, async () => {
        await expectFailure(failure());
        expectNothingShown();
      });

    it('refuses, of which the log has the code', async () => {
      const said = await expectFailure({
        tokenStatus: 400,
        shape: (tokens) => ({ ...tokens, error: 'invalid_grant', error_codes: [70_008] }),
      });
      expect(said).to.include({ error: 'invalid_grant', status: 400 });
      expectNothingShown();
    });
  });

  describe('is not shown when an ID token', () => {
    const inPlace = (idToken: (honest: string) => string): Failure => ({
      shape: (tokens) => ({ ...tokens, id_token: secrets.note('an ID token', idToken(tokens.id_token)) }),
    });
    const failures: Record<string, () => Failure> = {
      'has another nonce': () => ({ claims: { nonce: secrets.make('a nonce') } }),
      'has no nonce': () => ({ claims: { nonce: undefined } }),
      'has another audience': () => ({ claims: { aud: 'other' } }),
      'has several audiences': () => ({ claims: { aud: ['hawser', 'other'] } }),
      'has another issuer': () => ({ claims: { iss: 'https://other.example.org' } }),
      'has ended': () => ({ claims: { exp: 1_700_000_000 } }),
      'has an end that is no number': () => ({ claims: { exp: 'tomorrow' } }),
      'has a forged signature': () => ({ signWith: 'other' }),
      'has no signature': () => ({ signWith: 'none' }),
      'is signed with the client secret': () => ({ signWith: 'hmac' }),
      'has another algorithm': () => ({ header: { alg: 'RS512' } }),
      'has an unknown key': () => ({ header: { kid: secrets.make('the name of a key') } }),
      'wants what nobody knows': () => ({ header: { crit: ['exp'] } }),
      'is encrypted': () => inPlace((honest) => `${honest}.${secrets.make('a part of a token')}.abc`),
      'has two parts': () => inPlace((honest) => honest.split('.').slice(0, 2).join('.')),
      'has a header that is no JSON': () =>
        inPlace((honest) => honest.replace(/^[^.]+/, base64url(secrets.make('a part of a token')))),
      'has claims that are no JSON': () =>
        inPlace((honest) => honest.replace(/\.[^.]+\./, `.${base64url(secrets.make('a part of a token'))}.`)),
      'has claims that break off': () =>
        inPlace((honest) => honest.replace(/\.([^.]+)\./, (_, claims) => `.${brokenOff(claims)}.`)),
      'has claims that are no base64': () => inPlace((honest) => honest.replace(/\.[^.]+\./, '.%%%%.')),
      'has a header without a name of a key': () => ({ header: { kid: 7 } }),
    };
    for (const [what, failure] of Object.entries(failures))
      it(what, async () => {
        await expectFailure(failure());
        expectNothingShown();
      });
  });

  itIsNotShown('when the provider signs in somebody who may not have an account', async () => {
    provider.person = { sub: 'of-nobody', preferred_username: 'not a user name!' };
    provider.lie = { tokenBody: noteTokens };
    const reply = await finish(await go());
    await expectProblem(reply, 403, 'oidc_not_allowed');
    expectRefused(reply);
  });

  describe('is not shown when a browser', () => {
    const changes: Record<string, (query: URLSearchParams) => void> = {
      'comes with a made-up state': (query) => query.set('state', secrets.make('a state')),
      'comes with a made-up code': (query) => query.set('code', secrets.make('an authorization code')),
      'comes with two states': (query) => query.append('state', secrets.make('a state')),
      'comes with two codes': (query) => query.append('code', secrets.make('an authorization code')),
      'comes with an ID token in the address': (query) => query.set('id_token', secrets.make('an ID token')),
      'comes with tokens in the address': (query) => query.set('response', secrets.make('an access token')),
      'comes with another issuer': (query) => query.set('iss', 'https://other.example.org'),
      'comes with a refusal': (query) => {
        query.set('error_description', `it was ${query.get('code')} of ${query.get('state')}`);
        query.set('error_uri', `https://idp.example.org/${query.get('code')}`);
        query.set('error', 'access_denied');
      },
      'comes with a code as refusal': (query) => query.set('error', query.get('code') ?? ''),
    };
    for (const [what, change] of Object.entries(changes))
      it(what, async () => {
        const flow = await go();
        change(flow.callback.searchParams);
        const reply = await finish(flow);
        expect(reply.status, reply.text).to.equal(400);
        expect(lines('path').at(-1)).to.include({ path: CALLBACK, code: reply.json.code });
        expectNothingShown();
      });

    it('comes without its cookie, to another provider, or with another method', async () => {
      const { callback, cookies } = await go();
      const alone = await finish({ callback, cookies: new Map() });
      await expectProblem(alone, 400, 'oidc_flow_invalid');
      await eventually(async () =>
        expect(lines('path').at(-1)).to.include({ path: CALLBACK, code: 'oidc_flow_invalid' }),
      );
      const lost = `/login/oidc/other/callback${callback.search}`;
      await expectProblem(clientWith(hawser, cookies).get(lost, JSON_FIRST), 404, 'not_found');
      const posted = clientWith(hawser, cookies).call('POST', `${CALLBACK}${callback.search}`);
      expect((await posted).status).to.equal(405);
      expectNothingShown();
    });

    it('sends what is no HTTP', async () => {
      const { callback, cookies } = await go();
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      for (const fault of ['no header', 'Content-Length: x']) {
        const request = `GET ${CALLBACK}${callback.search} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n`;
        const answer = await exchangeBytes(hawser.target(), `${request}${fault}\r\n\r\n`);
        expect(answer).to.match(/^HTTP\/1\.1 400 /);
        expect(secrets.foundIn(answer)).to.deep.equal([]);
      }
      await eventually(async () => expect(lines('reason')).to.have.length(2));
      expectNothingShown();
    });
  });

  describe('is not shown when an account is linked', () => {
    const link = (body: string, type: Record<string, string>) =>
      user.client.call('POST', LINK, { headers: { ...type, ...JSON_FIRST }, body });
    const json = { 'Content-Type': 'application/json' };
    const refusals: Record<string, () => [body: string, type: Record<string, string>]> = {
      'with a wrong password': () => [
        JSON.stringify({ currentPassword: secrets.make('a wrong password') }),
        json,
      ],
      'with a wrong password in a form': () => [`currentPassword=${secrets.make('a wrong password')}`, FORM],
      'with a password without quotes': () => [`{"currentPassword": ${secrets.make('a password')}}`, json],
      'with nothing but a password': () => [secrets.make('a password'), json],
      'with a password that breaks off': () => [`{"currentPassword": "${secrets.make('a password')}`, json],
      'with a password in another member': () => [JSON.stringify({ [PASSWORD]: PASSWORD }), json],
      'with a list of passwords': () => [JSON.stringify({ currentPassword: [PASSWORD] }), json],
      'with two passwords': () => [`currentPassword=${PASSWORD}&currentPassword=${PASSWORD}`, FORM],
    };
    for (const [what, request] of Object.entries(refusals))
      it(what, async () => {
        const reply = await link(...request());
        expect(reply.status, reply.text).to.equal(400);
        expect(lines('path').at(-1)).to.include({ path: LINK, code: reply.json.code });
        expectNothingShown();
      });

    it('with the right password', async () => {
      provider.person = { sub: 'of-uma', preferred_username: 'somebody' };
      const begun = await link(JSON.stringify({ currentPassword: PASSWORD }), json);
      const cookies = new Map([user.session.split('=') as [string, string]]);
      keepCookies(cookies, begun);
      noteFlow(begun, cookies);
      const callback = await answerOfProvider(providerIn(begun));
      secrets.note('an authorization code', callback.searchParams.get('code') ?? '');
      expect((await finish({ callback, cookies })).status).to.equal(200);
      expect(await ok(200, clientWith(hawser, cookies).get('/api/v1/auth/me'))).to.include({
        username: 'uma',
      });
      expectNothingShown();
    });
  });

  describe('is not shown when a logout token', () => {
    const send = (token: string) =>
      hawser.client().call('POST', LOGOUT, {
        headers: FORM,
        body: new URLSearchParams({ logout_token: token }).toString(),
      });
    const note = (token: string) => secrets.note('a logout token', token);
    const refused: Record<string, () => Promise<string>> = {
      'has a nonce': () => provider.logoutToken({ nonce: secrets.make('a nonce') }),
      'is for another': () => provider.logoutToken({ aud: 'other' }),
      'has no id': () => provider.logoutToken({ jti: undefined }),
      'has a forged signature': () => provider.logoutToken({}, { signWith: 'other' }),
      'is signed with the client secret': () => provider.logoutToken({}, { signWith: 'hmac' }),
      'wants what nobody knows': () => provider.logoutToken({}, { header: { crit: ['x'], x: 1 } }),
      'is none': async () => secrets.make('a logout token'),
      'has claims that are no JSON': async () =>
        (await provider.logoutToken()).replace(/\.[^.]+\./, `.${base64url(secrets.make('claims'))}.`),
      'has a header that is no JSON': async () =>
        (await provider.logoutToken()).replace(/^[^.]+/, base64url(secrets.make('a header'))),
    };
    it('holds, and when it comes again', async () => {
      expect((await signIn()).status).to.equal(200);
      const iat = Math.floor(hawser.clock.now() / 1_000) + 1;
      const token = note(await provider.logoutToken({ iat, exp: iat + 300 }));
      await ok(200, send(token));
      await expectProblem(send(token), 400, 'oidc_flow_invalid');
      expectNothingShown();
    });
    for (const [what, make] of Object.entries(refused))
      it(what, async () => {
        await expectProblem(send(note(await make())), 400, 'oidc_flow_invalid');
        await eventually(async () => expect(lines('path')).to.have.length(1));
        expect(lines('path')[0]).to.include({ path: LOGOUT, code: 'oidc_flow_invalid' });
        expectNothingShown();
      });
    it('comes in a body that cannot be read', async () => {
      const token = note(await provider.logoutToken());
      for (const body of [token, `token=${token}`, `logout_token=${token}&logout_token=${token}`])
        expect((await hawser.client().call('POST', LOGOUT, { headers: FORM, body })).status).to.equal(400);
      expectNothingShown();
    });
  });

  describe('is not shown when what the provider says of itself', () => {
    const bodies: Record<string, (honest: Payload) => unknown> = {
      'breaks off': brokenOff,
      'is a token': () => secrets.make('an access token'),
      'has tokens without quotes': () => `{"issuer": ${secrets.make('an access token')}}`,
      'has a token as every address': ({ issuer }) => {
        const token = secrets.make('an access token');
        return { issuer, jwks_uri: token, token_endpoint: token, authorization_endpoint: token };
      },
    };
    const ask = async (of: 'discovery' | 'jwks', body: (honest: Payload) => unknown) => {
      provider.lie = { [of]: body };
      // What was read before is forgotten with the file.
      await server.change({});
    };
    const expectLogoutUnavailable = async () => {
      const token = secrets.note('a logout token', await provider.logoutToken());
      const sent = { headers: FORM, body: `logout_token=${token}` };
      await expectProblem(hawser.client().call('POST', LOGOUT, sent), 503, 'oidc_unavailable');
    };
    for (const [what, body] of Object.entries(bodies))
      it(what, async () => {
        await ask('discovery', body);
        await expectProblem(hawser.client().get(LOGIN, JSON_FIRST), 503, 'oidc_unavailable');
        expect(lines('path').at(-1)).to.include({ path: LOGIN, code: 'oidc_unavailable' });
        await expectLogoutUnavailable();
        expectNothingShown();
        await ask('discovery', (honest) => honest);
      });

    for (const [what, body] of Object.entries(bodies))
      it(`of its keys ${what}`, async () => {
        await ask('jwks', body);
        const tokenBody = noteTokens;
        provider.lie = { ...provider.lie, tokenBody };
        const reply = await finish(await go());
        expectRefused(reply);
        await expectProblem(reply, 503, 'oidc_unavailable');
        await expectLogoutUnavailable();
        expectNothingShown();
        await ask('jwks', (honest) => honest);
      });
  });

  itIsNotShown('when it stands in the wrong member of the file of the providers', async () => {
    const members = ['clientSecret', 'clientSecretFile', 'idTokenAlg', 'issuer', 'usernameClaim', 'caFile'];
    for (const member of members) await server.change({ [member]: secrets.make('a client secret') });
    const faults = lines('err').filter(({ level }) => level === 'error');
    expect(faults).to.have.length(members.length);
    await server.change({});
  });

  describe('is not shown when a job token', () => {
    const post = (form: Record<string, string> | string) =>
      hawser.client().call('POST', EXCHANGE, {
        headers: FORM,
        body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
      });
    const formOf = (token: string) => ({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      subject_token: secrets.note('a job token', token),
      client_id: 'deployer',
    });
    const expectNotTaken = async (reply: Promise<Reply>, reason: string) => {
      await expectProblem(reply, 400, 'invalid_grant');
      expect(lines('reason').at(-1)).to.include({ reason });
      expectNothingShown();
    };

    it('is exchanged, and when it comes again', async () => {
      const token = await forge.token();
      const reply = await post(formOf(token));
      const { access_token: given } = await ok(200, reply);
      // The first twelve characters are shown in lists, to tell tokens apart.
      secrets.note('an exchanged token', given.slice(12), reply);
      const own = hawser.client().with({ Authorization: `Bearer ${given}` });
      await ok(200, own.get('/api/v1/auth/me'));
      expect((await own.get('/api/v1/users')).status).to.equal(403);
      await expectNotTaken(post(formOf(token)), 'it was used before');
    });

    const refused: Record<string, [reason: string, make: () => Promise<string>]> = {
      'has a forged signature': ['its signature does not hold', () => forge.token({}, { signWith: 'other' })],
      'has no signature': ['its algorithm is not taken', () => forge.token({}, { signWith: 'none' })],
      'has ended': ['it has ended', () => forge.token({ exp: 1_700_000_000 })],
      'is for another': ['it is for another server', () => forge.token({ aud: 'other' })],
      'has no id': ['it has no id', () => forge.token({ jti: undefined })],
      'is of another job': ['no federation has these claims', () => forge.token({ sub: 'other' })],
      'is of an unknown issuer': ['unknown issuer', () => forge.token({ iss: 'https://other.example.org' })],
      'has an unknown key': [
        'the issuer has no such key',
        () => forge.token({}, { header: { kid: 'other' } }),
      ],
      'wants what nobody knows': [
        'the token does not hold',
        () => forge.token({}, { header: { crit: ['x'], x: 1 } }),
      ],
      'is none': ['no token', async () => secrets.make('a job token')],
      'has claims that are no JSON': [
        'no token',
        async () => (await forge.token()).replace(/\.[^.]+\./, `.${base64url(secrets.make('claims'))}.`),
      ],
      'has claims that break off': [
        'no token',
        async () => (await forge.token()).replace(/\.([^.]+)\./, (_, claims) => `.${brokenOff(claims)}.`),
      ],
      'has a header that is no JSON': [
        'the token does not hold',
        async () => (await forge.token()).replace(/^[^.]+/, base64url(secrets.make('a header'))),
      ],
    };
    for (const [what, [reason, make]] of Object.entries(refused))
      it(what, async () => expectNotTaken(post(formOf(await make())), reason));

    it('comes for nobody, in a form of another kind, or in the address', async () => {
      const form = formOf(await forge.token());
      await expectNotTaken(
        post({ ...form, client_id: secrets.make('a job token') }),
        'no such service account',
      );
      await expectNotTaken(
        post({ ...form, grant_type: form.subject_token }),
        'another grant or type of token',
      );
      await expectNotTaken(post(form.subject_token), 'the form is not that of RFC 8693');
      const body = `${new URLSearchParams(form)}&subject_token=${form.subject_token}`;
      await expectNotTaken(post(body), 'the form is not that of RFC 8693');
      const inAddress = hawser
        .client()
        .call('POST', `${EXCHANGE}?${new URLSearchParams(form)}`, { headers: FORM, body: 'a=b' });
      await expectNotTaken(inAddress, 'the form is not that of RFC 8693');
      const asJson = await hawser.client().post(EXCHANGE, form);
      expect(asJson.status, asJson.text).to.equal(415);
      expectNothingShown();
    });

    const bodies: Record<string, (honest: Payload) => unknown> = {
      'breaks off': brokenOff,
      'is a token': () => secrets.make('an access token'),
      'is a token without quotes': () => `{"issuer": ${secrets.make('an access token')}}`,
    };
    // The keys come last, because what the issuer says of itself is kept once it was understood.
    for (const [of, reason] of [
      ['discovery', 'the issuer cannot be asked'],
      ['jwks', 'the keys of the issuer cannot be read'],
    ] as const)
      for (const [what, body] of Object.entries(bodies))
        it(`is of an issuer whose ${of} ${what}`, async () => {
          brokenForge.lie = { [of]: body };
          const token = await brokenForge.logoutToken({ aud: PUBLIC_URL });
          await expectNotTaken(post(formOf(token)), reason);
        });
  });

  describe('after all of that', () => {
    it('has occurred in every kind', () => {
      expect([...secrets.kinds]).to.include.members([
        ...['the client secret', 'the credentials of the client', 'an authorization code', 'a state'],
        ...['the cookie of a flow', 'a PKCE verifier', 'a nonce', 'an ID token', 'an access token'],
        ...['a refresh token', 'a session', 'a password', 'a wrong password', 'a logout token'],
        ...['a job token', 'an exchanged token'],
      ]);
    });

    it('stands nowhere in the log, and in no answer but that which hands it over', () => {
      const shown = replies.flatMap((reply) => secrets.foundIn(wholeOf(reply), reply));
      expect([...secrets.foundIn(hawser.log()), ...shown]).to.deep.equal([]);
    });

    it('stands nowhere in the audit trail', async () => {
      const entries = await auditEntries(hawser, 'take=1000');
      expect(entries.map(({ action }) => action)).to.include.members([
        ...['session.created', 'session.refused', 'session.ended', 'identity.linked'],
        ...['token.created', 'token.exchange_refused'],
      ]);
      expect(secrets.foundIn(JSON.stringify(entries))).to.deep.equal([]);
    });

    it('stands nowhere on the disk', async () => {
      const places = new Map(await storedBytes(hawser));
      for (const path of filesBelow(hawser.folder)) places.set(path, readFileSync(path));
      expect([...places.keys()].map((path) => path.replace(/.*\//, ''))).to.include.members([
        ...DATABASE_FILES,
      ]);
      expect(Buffer.concat([...places.values()]).includes('of-ann'), 'what is no secret').to.equal(true);
      for (const [place, bytes] of places)
        expect(secrets.foundIn(bytes.toString('latin1')), place).to.deep.equal([]);
    });
  });
});
