/** `hawserctl token`: tokens of one's own, and those of service accounts. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { TOKEN_SCOPES } from '../../domain/permissions.ts';
import { command, YES } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { dateTime } from '../formats.ts';
import { findAllNamed, findNamed } from '../names.ts';
import { PASSWORD_FILE, withSession } from '../passwords.ts';
import { confirmSeveral, doEach } from '../resource.ts';
import { readTime } from '../values.ts';
import { USER } from './user.ts';

type Token = Schemas['Token'];

const ACCOUNT = {
  account: { value: 'NAME', summary: 'a service account, whose tokens are meant instead of your own' },
} as const;

const SESSION =
  'The server lets no token make or revoke tokens, so it asks for your password, and signs in with it for this alone. Who has no password makes and revokes them in the console.';

const namesOf = ({ name, tokenPrefix }: Token) => [name, tokenPrefix];

/** @returns null for one's own tokens */
async function findAccount(api: Api, name: string | undefined): Promise<string | null> {
  return name === undefined ? null : findNamed(await USER.list(api), name, 'user', USER.namesOf).id;
}

function listTokens(api: Api, account: string | null): Promise<Token[]> {
  return account === null
    ? api.all('/api/v1/auth/tokens')
    : api.all('/api/v1/users/{id}/tokens', { path: { id: account } });
}

const list = command({
  path: 'token list',
  summary: 'list your tokens, or those of a service account',
  options: ACCOUNT,
  examples: ['hawserctl token list', 'hawserctl token list --account builds'],
  async run({ api, out, options }) {
    const tokens = await listTokens(api, await findAccount(api, options.account));
    out.answer(tokens, () => {
      out.table(
        tokens,
        [
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'PREFIX', cell: ({ tokenPrefix }) => tokenPrefix },
          { title: 'STATE', cell: stateOf },
          { title: 'EXPIRES', cell: ({ expiresAt }) => dateTime(expiresAt) ?? 'never' },
          { title: 'LAST USED', cell: ({ lastUsedAt }) => dateTime(lastUsedAt) },
          { title: 'SCOPES', cell: ({ scopes }) => scopes.join(', ') },
          { title: 'ID', cell: ({ id }) => id },
        ],
        'There are no tokens.',
      );
    });
  },
});

function stateOf({ isRevoked, expiresAt }: Token): string {
  if (isRevoked) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';
}

const create = command({
  path: 'token create',
  summary: 'make a token, which is shown this once',
  description: `Makes a token, and prints it, this once. ${SESSION}`,
  arguments: [{ name: 'name', summary: 'what it is for' }],
  options: {
    scope: {
      value: 'SCOPE',
      isRepeatable: true,
      choices: [...TOKEN_SCOPES],
      summary: 'a permission that it may use; may be said several times',
    },
    expires: { value: 'TIME', summary: 'such as 30d or 2026-12-31, or never; without it in 90 days' },
    ...ACCOUNT,
    ...PASSWORD_FILE,
  },
  examples: [
    'hawserctl token create dashboard --scope nodes.read --expires 30d',
    'hawserctl token create deploys --account builds --scope configurations.grants',
  ],
  async run(context) {
    const { api, out, options, arguments: given } = context;
    const json = newToken(given.name, options.scope, options.expires);
    const account = await findAccount(api, options.account);
    const made = await withSession(context, options['password-file'], (session) =>
      account === null
        ? session.post('/api/v1/auth/tokens', { json })
        : session.post('/api/v1/users/{id}/tokens', { path: { id: account }, json }),
    );
    out.answer(made, () => {
      out.note(
        `Made the token ${made.name}. It ends ${dateTime(made.expiresAt) ?? 'never'}, and is shown this once:`,
      );
      out.text(made.token);
    });
  },
});

function newToken(name: string, scopes: readonly string[], expires: string | undefined): Schemas['NewToken'] {
  if (scopes.length === 0)
    throw new UsageError(
      'Say what it may do, such as --scope nodes.read; a token without a scope does nothing.',
    );
  return {
    name,
    scopes: scopes as Schemas['NewToken']['scopes'],
    ...(expires !== undefined && {
      expiresAt: expires === 'never' ? null : readTime(expires, '--expires', 1),
    }),
  };
}

const revoke = command({
  path: 'token revoke',
  summary: 'revoke tokens',
  description: `Revokes tokens, which nobody can use afterwards. ${SESSION}`,
  arguments: [{ name: 'token', summary: 'names, prefixes or ids', isVariadic: true }],
  options: { ...ACCOUNT, ...PASSWORD_FILE, ...YES },
  examples: ['hawserctl token revoke dashboard', 'hawserctl token revoke deploys --account builds'],
  async run(context) {
    const { api, out, ask, options, arguments: given } = context;
    const account = await findAccount(api, options.account);
    const tokens = await listTokens(api, account);
    // Revoked ones stay listed, and may have the name of one that is valid.
    const valid = tokens.filter(({ isRevoked }) => !isRevoked);
    const chosen = findAllNamed(valid, given.token, 'token', namesOf);
    await confirmSeveral(ask, 'Revoke', 'token', chosen);
    return withSession(context, options['password-file'], (session) =>
      doEach(out, 'Revoked the token', chosen, (id) =>
        account === null
          ? session.delete('/api/v1/auth/tokens/{id}', { path: { id } })
          : session.delete('/api/v1/users/{id}/tokens/{tokenId}', { path: { id: account, tokenId: id } }),
      ),
    );
  },
});

export const TOKEN_COMMANDS = [list, create, revoke];
