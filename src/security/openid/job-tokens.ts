/** Reads tokens that forges and other issuers give to their jobs. */

import { MINUTE, SECOND } from '../../lib/clock.ts';
import { isSafeUrl } from '../../lib/safe-url.ts';
import { boundedFetch, ProviderAway } from './bounded-fetch.ts';
import { isText } from './claims.ts';
import { CLOCK_TOLERANCE } from './provider.ts';
import { forLog } from './provider-faults.ts';
import { ALGORITHMS } from './providers-file.ts';

/** What a token says, once its signature, issuer, audience and times were checked. */
export interface JobClaims {
  iss: string;
  sub: string;
  jti: string;
  /** Seconds since the epoch. */
  exp: number;
  [claim: string]: unknown;
}

/** Why a token is not taken. It is for the log and the audit trail, and holds nothing of the token. */
export class JobTokenFault extends Error {
  override readonly name = 'JobTokenFault';

  constructor(message: string, { cause }: { cause?: unknown } = {}) {
    super(message, { cause: forLog(cause) });
  }
}

/** In characters; a token is not longer. */
const LONGEST_ID = 16_384;

type Keys = ReturnType<typeof import('jose').createRemoteJWKSet>;

export class JobTokens {
  private readonly issuers: readonly string[];
  private readonly audience: string;
  private readonly isDevelopment: boolean;
  private readonly keys = new Map<string, Promise<Keys>>();

  /** @param audience what a token must be for: the public URL of this server */
  constructor(options: { issuers: readonly string[]; audience: string; isDevelopment: boolean }) {
    this.issuers = options.issuers;
    this.audience = options.audience;
    this.isDevelopment = options.isDevelopment;
  }

  /**
   * @param now epoch milliseconds
   * @throws JobTokenFault
   */
  async read(token: string, now: number): Promise<JobClaims> {
    const { decodeJwt, jwtVerify } = await import('jose');
    const issuer = this.issuers.find((each) => each === issuerOf(decodeJwt, token));
    // The token may say anything, so nothing is asked of an issuer that is not configured.
    if (issuer === undefined) throw new JobTokenFault('unknown issuer');
    const { payload } = await jwtVerify(token, await this.keysOf(issuer), {
      issuer,
      audience: this.audience,
      algorithms: [...ALGORITHMS],
      clockTolerance: CLOCK_TOLERANCE,
      currentDate: new Date(now),
      requiredClaims: ['exp', 'iat', 'jti', 'sub'],
    }).catch((error: unknown) => {
      throw new JobTokenFault(reasonOf(error), { cause: error });
    });
    const { aud, iat, exp, jti, sub } = payload;
    // A token for several servers could be used at one by another.
    if (Array.isArray(aud) && aud.length !== 1) throw new JobTokenFault('it is for others too');
    if (typeof iat !== 'number' || iat * SECOND > now + CLOCK_TOLERANCE * SECOND)
      throw new JobTokenFault('it is of the future');
    if (typeof exp !== 'number' || typeof sub !== 'string')
      throw new JobTokenFault('it has no end or no subject');
    // Without an id it could not be told from another one, and so would be taken twice.
    if (!isText(jti, LONGEST_ID)) throw new JobTokenFault('its id is empty or no text');
    return { ...payload, iss: issuer, exp, jti, sub };
  }

  private keysOf(issuer: string): Promise<Keys> {
    const known = this.keys.get(issuer) ?? this.discover(issuer);
    this.keys.set(issuer, known);
    return known.catch((error: unknown) => {
      this.keys.delete(issuer);
      throw new JobTokenFault('the issuer cannot be asked', { cause: error });
    });
  }

  private async discover(issuer: string): Promise<Keys> {
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const fetch = await boundedFetch(null);
    const reply = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    if (reply.status !== 200) throw new Error(`The issuer answers ${reply.status}`);
    const { issuer: named, jwks_uri: keys } = (await reply.json()) as Record<string, unknown>;
    if (named !== issuer) throw new Error('The issuer says that it is another one');
    if (typeof keys !== 'string' || !isSafeUrl(keys, this.isDevelopment))
      throw new Error('The issuer names no keys');
    return createRemoteJWKSet(new URL(keys), { [customFetch]: fetch, cooldownDuration: MINUTE });
  }
}

/** It says nothing of the token, which may hold. */
const KEYS_UNREAD = 'the keys of the issuer cannot be read';

/** Why a token does not hold, by the code of what jose has thrown. */
const REASONS: Record<string, string> = {
  ERR_JWT_EXPIRED: 'it has ended',
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'its signature does not hold',
  ERR_JOSE_ALG_NOT_ALLOWED: 'its algorithm is not taken',
  ERR_JWKS_NO_MATCHING_KEY: 'the issuer has no such key',
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'it does not say which of the keys of the issuer it is signed with',
  ERR_JWKS_TIMEOUT: KEYS_UNREAD,
  ERR_JWKS_INVALID: KEYS_UNREAD,
  ERR_JWK_INVALID: KEYS_UNREAD,
  // So it calls an answer other than 200.
  ERR_JOSE_GENERIC: KEYS_UNREAD,
};

/** The claims that are looked at. Names come from here, so that no reason has words of the token. */
const FAULTS_OF_CLAIMS: Record<string, { missing: string; other: string }> = {
  aud: { missing: 'it is for nobody', other: 'it is for another server' },
  exp: { missing: 'it has no end', other: 'its end is no time' },
  iat: { missing: 'it has no time of issue', other: 'its time of issue is no time' },
  nbf: { missing: 'it has no beginning', other: 'it is not valid yet' },
  jti: { missing: 'it has no id', other: 'its id is empty or no text' },
  sub: { missing: 'it has no subject', other: 'its subject is no text' },
};

/** The reason for people who look after pipelines: each cause has its own. */
function reasonOf(error: unknown): string {
  if (error instanceof ProviderAway) return KEYS_UNREAD;
  const { code, claim, reason } = error as { code?: unknown; claim?: unknown; reason?: unknown };
  const faults = code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' ? FAULTS_OF_CLAIMS[String(claim)] : undefined;
  if (faults !== undefined) return reason === 'missing' ? faults.missing : faults.other;
  return REASONS[String(code)] ?? 'the token does not hold';
}

function issuerOf(decodeJwt: typeof import('jose').decodeJwt, token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    throw new JobTokenFault('no token');
  }
}
