/** `hawserctl login`: learns to trust a server, takes or makes a token for it, and keeps both. */

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import type { Connection } from '../../client/connection.ts';
import { ApiProblem } from '../../client/errors.ts';
import { openSession } from '../../client/session.ts';
import { readFingerprint, type Trust, trustByFingerprint } from '../../client/trust.ts';
import { type Context, command } from '../declaration.ts';
import { openApi, ownHeaders, readToken, readUrl, trustFile } from '../destination.ts';
import { UsageError } from '../errors.ts';
import { readSecretLine } from '../input.ts';
import { PASSWORD_FILE, readNewPassword, readPassword } from '../passwords.ts';

const INSTEAD = 'say --token-file, or --user with --password-file';

/** Scopes of a token beside the permissions: it may use the grants of its owner. */
const GRANTS = ['configurations.grants', 'composite-configurations.grants', 'parameters.grants'] as const;

const ARGUMENTS = [{ name: 'url', summary: 'the server, such as https://hawser.example:8443' }] as const;

const OPTIONS = {
  'ca-file': { value: 'FILE', summary: 'trust the authorities in this file, in PEM' },
  fingerprint: { value: 'SHA256', summary: "trust this certificate: the server's own, or its authority's" },
  'token-file': { value: 'FILE', summary: 'read the token from this file, - for stdin' },
  user: { value: 'NAME', summary: 'sign in with the password of this user, and make a token' },
  ...PASSWORD_FILE,
  'new-password-file': {
    value: 'FILE',
    summary: 'the new password, for a user who must change it before anything else',
  },
} as const;

type LoginContext = Context<typeof ARGUMENTS, typeof OPTIONS>;

export const login = command({
  path: 'login',
  summary: 'sign in to a server, and keep a token for it',
  description: `Signs in to a server, and makes it the one that commands are for. It asks for a token, or for a user and the password, with which it makes a token of its own that does all that the user may, for 90 days. A user who must change the password first is asked for the new one. The token is kept in hosts.json, which only you can read: in the folder hawser of XDG_CONFIG_HOME, on Windows of APPDATA.`,
  arguments: ARGUMENTS,
  options: OPTIONS,
  examples: [
    'hawserctl login https://hawser.example:8443 --ca-file ca.pem',
    'hawserctl login https://hawser.example:8443 --fingerprint 5F:1C:... --user alice',
  ],
  async run(context) {
    const { options, out, hosts, env } = context;
    const url = readUrl(context.arguments.url, 'The URL');
    checkOptions(options);
    const trust = await chooseTrust(url, context);
    const { token, tokenId } = await obtainToken(url, trust, context);
    const { api, connection } = openApi({ url, trust, token });
    try {
      const me = await api.get('/api/v1/auth/me');
      await hosts.keep(url.origin, { trust, token, username: me.username, tokenId });
      if (out.isJson) out.json(me);
      else out.text(`Signed in to ${url.origin} as ${me.username}.`);
      for (const name of ['HAWSER_URL', 'HAWSER_TOKEN'])
        if (env[name]) out.note(`${name} is set, and goes before what was kept now.`);
    } finally {
      connection.close();
    }
  },
});

function checkOptions(options: LoginContext['options']): void {
  if (options['ca-file'] !== undefined && options.fingerprint !== undefined)
    throw new UsageError('--ca-file and --fingerprint are two ways to say the same; say one of them.');
  const { user } = options;
  for (const name of ['password-file', 'new-password-file'] as const)
    if (options[name] !== undefined && user === undefined) throw new UsageError(`--${name} needs --user.`);
  if (options['token-file'] !== undefined && user !== undefined)
    throw new UsageError('--token-file and --user are two ways to sign in; say one of them.');
}

/** What is said, else what was kept for this server, else the authorities that Node knows. */
async function chooseTrust(url: URL, { options, env, cwd, hosts }: LoginContext): Promise<Trust> {
  const file = options['ca-file'] ?? (options.fingerprint === undefined ? env['HAWSER_CA_FILE'] : undefined);
  if (file) return trustFile(resolve(cwd, file));
  if (options.fingerprint === undefined) return hosts.find(url.origin)?.trust ?? { kind: 'system' };
  const fingerprint = readFingerprint(options.fingerprint);
  if (fingerprint === null)
    throw new UsageError('--fingerprint is a SHA-256: 64 hexadecimal digits, with or without colons.');
  return trustByFingerprint(url, fingerprint);
}

async function obtainToken(
  url: URL,
  trust: Trust,
  context: LoginContext,
): Promise<{ token: string; tokenId: string | null }> {
  const { options, ask } = context;
  const { api, connection } = openApi({ url, trust, token: null });
  try {
    // Before anything secret is sent or asked for, this says whether the server is one.
    await api.get('/api/v1/settings/public');
    const file = options['token-file'];
    if (file !== undefined) {
      const name = file === '-' ? 'Stdin' : file;
      return { token: readToken(await readSecretLine(context, file), name), tokenId: null };
    }
    if (options.user !== undefined) return await makeToken(connection, options.user, context);
    const token = await ask.secret('Token, or nothing to sign in with a password', INSTEAD);
    if (token.trim() !== '') return { token: readToken(token, 'What was typed'), tokenId: null };
    return await makeToken(connection, await ask.text('User', INSTEAD), context);
  } finally {
    connection.close();
  }
}

/** Signs in for as long as it takes to make a token. */
async function makeToken(
  connection: Connection,
  username: string,
  context: LoginContext,
): Promise<{ token: string; tokenId: string }> {
  const password = await readPassword(context.options['password-file'], username, context);
  const session = await openSession(connection, ownHeaders(), { username, password });
  try {
    const { permissions, requirePasswordChange } = await session.get('/api/v1/auth/me');
    if (requirePasswordChange) await changePassword(session, { username, password }, context);
    const scopes = [...permissions, ...GRANTS] as Schemas['NewToken']['scopes'];
    const name = `hawserctl on ${hostname()}`.slice(0, 128);
    const made = await session.post('/api/v1/auth/tokens', { json: { name, scopes } });
    await revokeFormer(session, context);
    return { token: made.token, tokenId: made.tokenId };
  } finally {
    await session.post('/api/v1/auth/logout');
  }
}

/** Until this is done, the server allows nothing else. */
async function changePassword(
  session: Api,
  { username, password }: { username: string; password: string },
  context: LoginContext,
): Promise<void> {
  const { options, out } = context;
  out.note(`The server asks ${username} for a new password before anything else.`);
  const file = options['new-password-file'];
  const newPassword = await readNewPassword(file, username, context, '--new-password-file');
  await session.post('/api/v1/auth/change-password', {
    json: { currentPassword: password, newPassword },
  });
  out.note(`The password of ${username} is changed.`);
}

/** So that signing in again does not leave one token more each time. */
async function revokeFormer(session: Api, { hosts }: LoginContext): Promise<void> {
  const former = hosts.find(session.url);
  if (former === null || former.tokenId === null) return;
  try {
    await session.delete('/api/v1/auth/tokens/{id}', { path: { id: former.tokenId } });
  } catch (error) {
    // It is gone already, or belongs to another user.
    if (!(error instanceof ApiProblem)) throw error;
  }
}
