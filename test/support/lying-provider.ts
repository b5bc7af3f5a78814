/**
 * An OpenID provider made by hand, on loopback, so that it can lie in every way. It shows no page: whoever comes is
 * `person`.
 */

import { hash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { steadyPort } from './ports.ts';
import { type Algorithm, type Payload, type Signing, SigningKeys, type SignWith } from './signing-keys.ts';

/** Stands in each refusal. Nothing that the server shows may repeat it. */
export const SAID_BY_PROVIDER = 'said by the provider <b onclick="alert(1)">so</b>';

/**
 * What the provider says from now on, where it is not honest. Claims and header members are laid over the honest ones,
 * and those that are undefined are left out. A text as body is sent as it is, anything else as JSON. Delays are in
 * milliseconds.
 */
export interface Lie {
  claims?: Payload;
  header?: Record<string, unknown>;
  signWith?: SignWith;
  /** Changes the payload of the ID token but leaves the signature. */
  alterAfterSigning?: (payload: Payload) => Payload;
  noIdToken?: boolean;
  tokenStatus?: number;
  tokenBody?: string | ((honest: Payload) => unknown);
  tokenContentType?: string;
  /** More headers of the token endpoint. */
  tokenHeaders?: Record<string, string>;
  tokenDelay?: number;
  /** The token endpoint sends about so many bytes of JSON without any meaning. */
  tokenBytes?: number;
  /** The token endpoint redirects there with 307, by which the body goes along. */
  redirectTokenTo?: string;
  discovery?: (honest: Payload) => unknown;
  discoveryStatus?: number;
  discoveryDelay?: number;
  jwks?: (honest: Payload) => unknown;
  jwksStatus?: number;
  /** The authorization endpoint refuses with this error. */
  refuse?: string;
  /** What the redirect back says; null leaves it out. */
  state?: string | null;
  iss?: string | null;
  code?: string | null;
}

/** The claims of somebody who signs in. */
export type Person = Payload & { sub: string; preferred_username?: string; email?: string; groups?: unknown };

export interface ProviderCall {
  path: string;
  query: URLSearchParams;
  method: string;
  body: string;
  headers: http.IncomingHttpHeaders;
}

export interface ProviderOptions {
  clientId?: string;
  clientSecret?: string;
  algorithm?: Algorithm;
  /** Says when a token is issued. */
  clock?: Clock;
  /** Key and certificate for `localhost`, in PEM. With them the issuer is on https. */
  tls?: { key: string; cert: string };
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
}

/** A sign-in whose code is not redeemed yet. */
interface Begun {
  person: Person;
  asked: Record<string, string | undefined>;
}

/** Seconds in which a token can be used. */
const LIFETIME = 300;
/** Nobody may wait for a late answer, so it must not keep the process. */
const UNHELD = { ref: false };

export class LyingProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The requests seen, in order. */
  readonly calls: ProviderCall[] = [];
  /** Who signs in next. */
  person: Person = { sub: 'subject-of-ann', preferred_username: 'ann', email: 'ann@example.org' };
  lie: Lie = {};
  /** The `sid` of the last ID token. */
  sessionId = '';
  private readonly options: ProviderOptions;
  private readonly port: number;
  private readonly keys: SigningKeys;
  private readonly codes = new Map<string, Begun>();
  private readonly server: http.Server;

  private constructor(port: number, keys: SigningKeys, options: ProviderOptions) {
    this.options = options;
    this.port = port;
    this.keys = keys;
    this.server = options.tls ? https.createServer(options.tls) : http.createServer();
    this.server.on('request', (request, response) => {
      this.serve(request, response).catch((error) => response.writeHead(500).end(String(error)));
    });
    this.issuer = options.tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
    this.clientId = options.clientId ?? 'hawser';
    // These characters show whether the credentials are encoded as RFC 6749 2.3.1 wants it.
    this.clientSecret = options.clientSecret ?? 'the:secret of a 100% client+';
  }

  static async start(options: ProviderOptions = {}): Promise<LyingProvider> {
    const keys = await SigningKeys.make(options.algorithm);
    const provider = new LyingProvider(await steadyPort(), keys, options);
    await provider.resume();
    return provider;
  }

  /** Comes back on the same port. */
  async resume(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
  }

  /** From now on connections are refused. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  readonly close = () => this.stop();

  /** A new key with a new name takes the place of the old one. */
  readonly rotateKeys = () => this.keys.rotate();

  /**
   * A logout token. The honest one names `person`, and no session.
   * @param claims laid over the honest ones. A member that is undefined is left out.
   */
  logoutToken(claims: Payload = {}, signing: Signing = {}): Promise<string> {
    const honest = {
      ...this.claimsOfIssuer(),
      jti: randomUUID(),
      sub: this.person.sub,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    const header = { typ: 'logout+jwt', ...signing.header };
    return this.keys.sign({ ...honest, ...claims }, { secret: this.clientSecret, ...signing, header });
  }

  private claimsOfIssuer(): Payload {
    const { clock = systemClock } = this.options;
    const now = Math.floor(clock.now() / 1000);
    return { iss: this.issuer, aud: this.clientId, iat: now, exp: now + LIFETIME };
  }

  private async serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', this.issuer);
    const { method = '', headers } = request;
    const call = { path, query, method, headers, body: await text(request) };
    this.calls.push(call);
    const { status, headers: more, body } = await this.answerTo(call);
    const written = typeof body === 'string' ? body : JSON.stringify(body);
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...more });
    response.end(written);
  }

  private async answerTo(call: ProviderCall): Promise<Answer> {
    const { lie } = this;
    switch (`${call.method} ${call.path}`) {
      case 'GET /.well-known/openid-configuration':
        await sleep(lie.discoveryDelay ?? 0, undefined, UNHELD);
        return liedAbout({ status: 200, body: this.discovery() }, lie.discoveryStatus, lie.discovery);
      case 'GET /jwks':
        return liedAbout({ status: 200, body: await this.keys.published() }, lie.jwksStatus, lie.jwks);
      case 'GET /authorize':
        return this.authorize(call.query);
      case 'POST /token':
        return this.lyingToken(call);
      case 'GET /logout':
        return redirectTo(call.query.get('post_logout_redirect_uri') ?? this.issuer);
      default:
        return { status: 404, body: {} };
    }
  }

  private discovery(): Payload {
    const { issuer } = this;
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      end_session_endpoint: `${issuer}/logout`,
      ...{ response_types_supported: ['code'], subject_types_supported: ['public'] },
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: [this.keys.algorithm],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
      ...{ backchannel_logout_supported: true, backchannel_logout_session_supported: true },
    };
  }

  /** Answers 400 to what an honest provider refuses without a redirect. */
  private authorize(query: URLSearchParams): Answer {
    const { lie, person } = this;
    const asked: Begun['asked'] = Object.fromEntries(query);
    const { state, redirect_uri: redirectUri } = asked;
    const isFit =
      asked['client_id'] === this.clientId &&
      asked['response_type'] === 'code' &&
      asked['scope']?.split(' ').includes('openid') &&
      asked['code_challenge_method'] === 'S256' &&
      asked['code_challenge']?.length === 43;
    if (!isFit || redirectUri === undefined) return refusal(400, 'invalid_request');
    const code = randomUUID();
    this.codes.set(code, { person, asked });
    const answer = {
      state: lie.state === undefined ? state : lie.state,
      iss: lie.iss === undefined ? this.issuer : lie.iss,
      code: lie.code === undefined ? code : lie.code,
    };
    if (lie.refuse === undefined) return redirectTo(redirectUri, answer);
    return redirectTo(redirectUri, { ...answer, code: lie.code, ...errorOf(lie.refuse) });
  }

  private async lyingToken(call: ProviderCall): Promise<Answer> {
    const { tokenStatus, tokenBody, tokenContentType, tokenDelay, tokenBytes, redirectTokenTo } = this.lie;
    const { tokenHeaders = {} } = this.lie;
    await sleep(tokenDelay ?? 0, undefined, UNHELD);
    if (redirectTokenTo !== undefined) return { status: 307, headers: { Location: redirectTokenTo } };
    if (tokenBytes !== undefined) return { status: 200, body: { nonsense: 'n'.repeat(tokenBytes) } };
    const type = tokenContentType === undefined ? {} : { 'Content-Type': tokenContentType };
    const answer = liedAbout(await this.token(call), tokenStatus, tokenBody);
    return { ...answer, headers: { ...answer.headers, ...tokenHeaders, ...type } };
  }

  private async token({ headers, body }: ProviderCall): Promise<Answer> {
    const form = new URLSearchParams(body);
    const basic = basicCredentials(headers.authorization);
    const [id, secret] = basic ?? [form.get('client_id'), form.get('client_secret')];
    if (id !== this.clientId || secret !== this.clientSecret) {
      const challenge = basic && { headers: { 'WWW-Authenticate': 'Basic realm="provider"' } };
      return { ...refusal(401, 'invalid_client'), ...challenge };
    }
    const code = form.get('code') ?? '';
    const begun = this.codes.get(code);
    this.codes.delete(code);
    const isKept =
      form.get('grant_type') === 'authorization_code' &&
      form.get('redirect_uri') === begun?.asked['redirect_uri'] &&
      hash('sha256', form.get('code_verifier') ?? '', 'base64url') === begun?.asked['code_challenge'];
    if (begun === undefined || !isKept) return refusal(400, 'invalid_grant');
    const token = { access_token: randomUUID(), token_type: 'Bearer', expires_in: LIFETIME };
    const idToken = this.lie.noIdToken ? undefined : await this.idToken(begun);
    return { status: 200, body: { ...token, id_token: idToken } };
  }

  private idToken({ person, asked }: Begun): Promise<string> {
    const { claims, header, signWith, alterAfterSigning } = this.lie;
    this.sessionId = randomUUID();
    const honest = { ...this.claimsOfIssuer(), nonce: asked['nonce'], sid: this.sessionId, ...person };
    const signing = { signWith, header, secret: this.clientSecret, alter: alterAfterSigning };
    return this.keys.sign({ ...honest, ...claims }, signing);
  }
}

type Told = string | ((honest: Payload) => unknown) | undefined;

function liedAbout(honest: Answer, status: number | undefined, told: Told): Answer {
  const body = typeof told === 'function' ? told(honest.body as Payload) : (told ?? honest.body);
  return { ...honest, status: status ?? honest.status, body };
}

/** @param values parameters, without those that are null or undefined */
function redirectTo(address: string, values: Record<string, string | null | undefined> = {}): Answer {
  const url = new URL(address);
  for (const [name, value] of Object.entries(values)) if (value != null) url.searchParams.set(name, value);
  return { status: 302, headers: { Location: url.href } };
}

const errorOf = (error: string) => ({ error, error_description: SAID_BY_PROVIDER });
const refusal = (status: number, error: string): Answer => ({ status, body: errorOf(error) });

/** @returns name and password, or null where there is no such header */
function basicCredentials(header: string | undefined): [string, string] | null {
  if (!header?.startsWith('Basic ')) return null;
  const parts = Buffer.from(header.slice(6), 'base64').toString().split(':');
  const [name = '', password = ''] = parts.map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
  return [name, password];
}
