/** A forge that gives its jobs tokens, as GitHub Actions and GitLab do. Its issuer is on loopback. */

import { randomUUID } from 'node:crypto';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../../src/lib/clock.ts';
import { type Payload, type Signing, SigningKeys } from './signing-keys.ts';

const KEYS_PATH = '/.well-known/jwks';
/** Seconds in which a token can be used. */
const LIFETIME = 300;

/** What GitHub Actions says of a job on the main branch. */
export const GITHUB_JOB = {
  sub: 'repo:octo/site:ref:refs/heads/main',
  repository: 'octo/site',
  repository_owner: 'octo',
  ref: 'refs/heads/main',
  ref_type: 'branch',
  event_name: 'push',
  job_workflow_ref: 'octo/site/.github/workflows/publish.yml@refs/heads/main',
};

export interface ForgeOptions {
  /** For whom a token is unless a test says otherwise: Hawser's public URL. */
  audience?: string;
  /** What a token says of its job unless a test says otherwise. */
  job?: Payload;
  clock?: Clock;
  /** Key and certificate for `localhost`, in PEM. With them the issuer is on https. */
  tls?: { key: string; cert: string };
}

export class Forge {
  readonly issuer: string;
  /** The paths asked for, in order. */
  readonly calls: string[] = [];
  audience: string;
  job: Payload;
  /** What is answered in place of the keys: another status, or a body of another form. */
  badKeys: { status?: number; body?: string } | null = null;
  /** Whether it ends every connection without an answer. A port that was closed may be that of another program soon. */
  hangsUp = false;
  private readonly server: http.Server;
  private readonly keys: SigningKeys;
  private readonly clock: Clock;

  private constructor(server: http.Server, keys: SigningKeys, options: ForgeOptions) {
    this.server = server;
    this.keys = keys;
    const { port } = server.address() as AddressInfo;
    this.issuer = options.tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
    this.audience = options.audience ?? 'https://hawser.example.org';
    this.job = options.job ?? GITHUB_JOB;
    this.clock = options.clock ?? systemClock;
  }

  static async start(options: ForgeOptions = {}): Promise<Forge> {
    const keys = await SigningKeys.make();
    const server = options.tls ? https.createServer(options.tls) : http.createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const forge = new Forge(server, keys, options);
    server.on('request', async (request, response) => {
      const path = request.url ?? '';
      forge.calls.push(path);
      if (forge.hangsUp) return void request.socket.destroy();
      const answer = await forge.answerTo(path);
      const bad = path === KEYS_PATH ? forge.badKeys : null;
      response.writeHead(bad?.status ?? (answer === null ? 404 : 200), {
        'Content-Type': 'application/json',
      });
      response.end(bad?.body ?? JSON.stringify(answer));
    });
    return forge;
  }

  /**
   * @param claims laid over those of `job` and of the issuer. A member that is undefined is left out.
   * @param signing for tokens that are signed badly
   */
  token(claims: Payload = {}, signing: Signing = {}): Promise<string> {
    const now = Math.floor(this.clock.now() / 1000);
    const honest = {
      ...{ iss: this.issuer, aud: this.audience, jti: randomUUID() },
      ...{ iat: now, nbf: now, exp: now + LIFETIME },
    };
    return this.keys.sign({ ...this.job, ...honest, ...claims }, signing);
  }

  /** A new key takes the place of the old one. */
  rotateKeys(): Promise<void> {
    return this.keys.rotate();
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  private async answerTo(path: string): Promise<unknown> {
    if (path === KEYS_PATH) return this.keys.published();
    if (path !== '/.well-known/openid-configuration') return null;
    return {
      issuer: this.issuer,
      jwks_uri: this.issuer + KEYS_PATH,
      subject_types_supported: ['public'],
      response_types_supported: ['id_token'],
      id_token_signing_alg_values_supported: ['RS256'],
      scopes_supported: ['openid'],
    };
  }
}
