/**
 * One identity provider. The protocol is that of `openid-client`, which is loaded with the first sign-in. Nothing is asked
 * of a provider before that, so that one that is away keeps nobody else from anything.
 */

import { createHmac } from 'node:crypto';
import type { Configuration, CustomFetch } from 'openid-client';
import { SECOND } from '../../lib/clock.ts';
import { isSafeUrl } from '../../lib/safe-url.ts';
import { boundedFetch, type Fetch } from './bounded-fetch.ts';
import { isText } from './claims.ts';
import { flowInvalid, providerFault, unavailable } from './provider-faults.ts';
import type { ProviderSettings } from './providers-file.ts';

/** How far the clocks of both sides may differ, in seconds. */
export const CLOCK_TOLERANCE = 30;
/** In characters (OpenID Connect Core 1.0, 2). */
const LONGEST_SUBJECT = 255;

/** A sign-in on its way. The browser keeps the secret, and the provider sends the state back. */
export interface Flow {
  browser: string;
  state: string;
}

/** What a provider says of who signs in. Every member was checked to be of this provider, this client and this flow. */
export interface Claims {
  iss: string;
  sub: string;
  sid?: unknown;
  [claim: string]: unknown;
}

interface Known {
  configuration: Configuration;
  fetch: Fetch;
}

export class Provider {
  readonly settings: ProviderSettings;
  private readonly publicUrl: string;
  private readonly isDevelopment: boolean;
  private known: Promise<Known> | null = null;
  private endSession: string | null = null;
  private logoutKeys: ReturnType<typeof import('jose').createRemoteJWKSet> | undefined;

  /** @param publicUrl where browsers reach this server; the redirect URI is made from it */
  constructor(
    settings: ProviderSettings,
    { publicUrl, isDevelopment }: { publicUrl: string; isDevelopment: boolean },
  ) {
    this.settings = settings;
    this.publicUrl = publicUrl;
    this.isDevelopment = isDevelopment;
  }

  /**
   * The address at the provider to which a browser goes to sign in.
   * @throws HawserError unavailable `oidc_unavailable`
   */
  async addressFor(flow: Flow): Promise<string> {
    const { configuration } = await this.ask();
    const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import('openid-client');
    const challenge = await calculatePKCECodeChallenge(derived(flow, 'verifier'));
    try {
      return buildAuthorizationUrl(configuration, {
        redirect_uri: this.redirectUri,
        scope: this.settings.scopes.join(' '),
        state: flow.state,
        nonce: derived(flow, 'nonce'),
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }).href;
    } catch (error) {
      // The provider names no address, or one that is none.
      throw unavailable(error);
    }
  }

  /**
   * Takes what the provider has sent back, and asks it who has signed in.
   * @param query what the browser came back with, with its question mark
   * @throws HawserError invalid `oidc_flow_invalid`, unavailable `oidc_unavailable`
   */
  async claimsOf(flow: Flow, query: string): Promise<Claims> {
    const { configuration } = await this.ask();
    const { authorizationCodeGrant } = await import('openid-client');
    try {
      const tokens = await authorizationCodeGrant(configuration, new URL(this.redirectUri + query), {
        expectedState: flow.state,
        expectedNonce: derived(flow, 'nonce'),
        pkceCodeVerifier: derived(flow, 'verifier'),
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined || !this.isForUs(claims)) throw flowInvalid();
      return claims;
    } catch (error) {
      throw providerFault(error);
    }
  }

  /** Where somebody signs out of the provider too; null where the provider has no such page, or was not asked yet. */
  get signOutAddress(): string | null {
    return this.endSession;
  }

  /**
   * Reads a logout token (OpenID Connect Back-Channel Logout 1.0, 2.4).
   * @throws HawserError invalid `oidc_flow_invalid`, unavailable `oidc_unavailable`
   */
  async readLogoutToken(token: string): Promise<Record<string, unknown>> {
    const { configuration, fetch } = await this.ask();
    const { createRemoteJWKSet, customFetch, jwtVerify } = await import('jose');
    const { jwks_uri: keys = '', issuer } = configuration.serverMetadata();
    if (!isSafeUrl(keys, this.isDevelopment)) throw unavailable(new Error('The provider names no keys'));
    this.logoutKeys ??= createRemoteJWKSet(new URL(keys), {
      [customFetch]: fetch,
      cooldownDuration: 60 * SECOND,
    });
    try {
      const { payload } = await jwtVerify(token, this.logoutKeys, {
        issuer,
        audience: this.settings.clientId,
        algorithms: [this.settings.idTokenAlg],
        clockTolerance: CLOCK_TOLERANCE,
        requiredClaims: ['iat', 'jti', 'events'],
      });
      return payload;
    } catch (error) {
      throw providerFault(error);
    }
  }

  /** What the library leaves open: whose token it is where it names a party, and that it is not of the future. */
  private isForUs({ azp, iat, sub }: Claims & { azp?: unknown; iat?: unknown }): boolean {
    const isOurs = azp === undefined || azp === this.settings.clientId;
    const isOfNow = typeof iat === 'number' && iat <= Date.now() / SECOND + CLOCK_TOLERANCE;
    return isOurs && isOfNow && isText(sub, LONGEST_SUBJECT);
  }

  private get redirectUri(): string {
    return `${this.publicUrl}/login/oidc/${this.settings.name}/callback`;
  }

  /**
   * Asks what the provider says of itself, once. Whoever comes after a failure asks again.
   * @throws HawserError unavailable `oidc_unavailable`
   */
  ask(): Promise<Known> {
    this.known ??= this.discover().catch((error: unknown) => {
      this.known = null;
      throw unavailable(error);
    });
    return this.known;
  }

  private async discover(): Promise<Known> {
    const { issuer, clientId, clientSecret, idTokenAlg, ca } = this.settings;
    const openid = await import('openid-client');
    const fetch = await boundedFetch(ca);
    const configuration = await openid.discovery(
      new URL(issuer),
      clientId,
      { id_token_signed_response_alg: idTokenAlg, [openid.clockTolerance]: CLOCK_TOLERANCE },
      (server, ...call) => {
        // Without a word of the provider it takes the secret in the header (OpenID Connect Discovery 1.0, 3).
        const takes = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
        const isPosted = takes.includes('client_secret_post');
        const method = isPosted ? openid.ClientSecretPost : openid.ClientSecretBasic;
        return method(clientSecret)(server, ...call);
      },
      {
        [openid.customFetch]: fetch as CustomFetch,
        execute: [
          // Without this an ID token with a forged signature is taken.
          openid.enableNonRepudiationChecks,
          ...(this.isDevelopment ? [openid.allowInsecureRequests] : []),
        ],
      },
    );
    const { issuer: named, end_session_endpoint: endSession } = configuration.serverMetadata();
    if (named !== issuer) throw new Error('The provider says that it is another issuer');
    if (endSession !== undefined && isSafeUrl(endSession, this.isDevelopment))
      this.endSession = signOutAddress(endSession, { clientId, back: `${this.publicUrl}/login` });
    return { configuration, fetch };
  }
}

/** A secret of the flow that nobody has to keep: whoever has the browser's secret and the state makes it again. */
function derived({ browser, state }: Flow, purpose: 'nonce' | 'verifier'): string {
  return createHmac('sha256', browser).update(`${purpose} ${state}`).digest('base64url');
}

function signOutAddress(address: string, { clientId, back }: { clientId: string; back: string }): string {
  const url = new URL(address);
  url.searchParams.set('client_id', clientId);
  url.searchParams.set('post_logout_redirect_uri', back);
  return url.href;
}
