/** The provider `oidc-provider`, with its own pages for a real browser: any password is right. On loopback, without TLS. */

import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import type { Configuration } from 'oidc-provider';
import { Agent, fetch as fetchBy } from 'undici';

export interface RealProviderOptions {
  /** Where the provider sends the browser back to. */
  redirectUri: string;
  /** Claims by login name. The name itself is the subject. Who is not among them cannot sign in. */
  accounts: Record<string, Record<string, unknown>>;
  /** Where the provider may send the browser after a sign-out. */
  postLogoutRedirectUri?: string;
  /** Where the provider posts logout tokens to. Their ID tokens and they carry a `sid`. */
  backchannelLogoutUri?: string;
  /** The authority behind the certificate of that address, in PEM. */
  ca?: string;
}

export interface RealProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  close(): Promise<void>;
}

/** @throws Error when `oidc-provider` refuses the options */
export async function startRealProvider(options: RealProviderOptions): Promise<RealProvider> {
  silence();
  // Loading it writes a warning too.
  const { Provider } = await import('oidc-provider');
  const client = { clientId: 'hawser', clientSecret: randomBytes(24).toString('base64url') };
  const agent = new Agent({ connect: options.ca === undefined ? {} : { ca: options.ca } });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, await configurationOf(options, client, agent));
  server.on('request', provider.callback());
  return {
    issuer,
    ...client,
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      await agent.close();
    },
  };
}

async function configurationOf(
  { redirectUri, accounts, postLogoutRedirectUri, backchannelLogoutUri }: RealProviderOptions,
  { clientId, clientSecret }: Pick<RealProvider, 'clientId' | 'clientSecret'>,
  agent: Agent,
): Promise<Configuration> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        ...(postLogoutRedirectUri !== undefined && { post_logout_redirect_uris: [postLogoutRedirectUri] }),
        ...(backchannelLogoutUri !== undefined && {
          backchannel_logout_uri: backchannelLogoutUri,
          backchannel_logout_session_required: true,
        }),
      },
    ],
    findAccount: (_context, name) => {
      const claims = Object.hasOwn(accounts, name) ? accounts[name] : undefined;
      return claims && { accountId: name, claims: () => ({ sub: name, ...claims }) };
    },
    // The server reads claims in the ID token alone, where this provider puts none unless it is told to.
    conformIdTokenClaims: false,
    claims: {
      openid: ['sub', 'groups'],
      profile: ['preferred_username', 'name'],
      email: ['email', 'email_verified'],
    },
    scopes: ['openid'],
    features: { devInteractions: { enabled: true }, backchannelLogout: { enabled: true } },
    pkce: { required: () => true },
    cookies: { keys: [randomBytes(24).toString('base64url')] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    fetch: fetchFor(agent),
  };
}

/** The provider's own way to post logout tokens calls neither loopback nor a server with a private authority. */
function fetchFor(agent: Agent): NonNullable<Configuration['fetch']> {
  const call = (input: unknown, init: object | undefined) =>
    fetchBy(input as string, { ...init, dispatcher: agent });
  return call as unknown as NonNullable<Configuration['fetch']>;
}

const OWN_LINE = /oidc-provider (NOTICE|WARNING):/;
let isSilent = false;

/** From now on what the provider says about a use in production, some of it at the first request, is not printed. */
function silence(): void {
  if (isSilent) return;
  isSilent = true;
  for (const level of ['info', 'warn'] as const) {
    // biome-ignore lint/suspicious/noConsole: the provider has no other way to be silent
    const print = console[level];
    console[level] = (...args: unknown[]) => {
      if (!OWN_LINE.test(String(args[0]))) print(...args);
    };
  }
}
