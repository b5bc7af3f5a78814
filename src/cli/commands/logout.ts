/** `hawserctl logout`: forgets the token of a server, and revokes there the one that `login` made. */

import { ApiProblem } from '../../client/errors.ts';
import { type Context, command } from '../declaration.ts';
import { readUrl } from '../destination.ts';
import { Failure, UsageError } from '../errors.ts';
import type { Host } from '../hosts.ts';
import { PASSWORD_FILE, readPassword, signedIn } from '../passwords.ts';

type LogoutContext = Pick<Context<readonly [], typeof PASSWORD_FILE>, 'ask' | 'options' | 'stdin' | 'cwd'>;

export const logout = command({
  path: 'logout',
  summary: 'forget the token of a server, and revoke it there',
  description:
    'Forgets the token of the current server, or of the one that is named. The server lets no token revoke itself. So one that "login" made with your password is revoked with your password: it is asked for at a terminal, or read from --password-file. Without it, and where "login" was given a token, the token stays valid at the server.',
  arguments: [{ name: 'url', summary: 'the server, if it is not the current one', isOptional: true }],
  options: PASSWORD_FILE,
  examples: ['hawserctl logout', 'hawserctl logout https://hawser.example:8443 --password-file password.txt'],
  async run(context) {
    const { out, hosts } = context;
    const { url } = context.arguments;
    const origin = url === undefined ? hosts.read().current : readUrl(url, 'The URL').origin;
    const host = origin === null ? null : hosts.find(origin);
    if (origin === null || host === null)
      throw new Failure(`You are not signed in to ${origin ?? 'any server'}.`);
    const isRevoked = await revokeOwn(origin, host, context);
    await hosts.forget(origin);
    const { current } = hosts.read();
    out.answer({ url: origin, current, isRevoked }, () => {
      out.text(
        isRevoked
          ? `Forgot the token for ${origin}, and revoked it there.`
          : `Forgot the token for ${origin}. There it stays valid until you revoke it under your account at ${origin}/ui.`,
      );
    });
  },
});

/** @returns whether the token is valid no more */
async function revokeOwn(
  origin: string,
  { username, trust, tokenId }: Host,
  context: LogoutContext,
): Promise<boolean> {
  if (tokenId === null) {
    if (context.options['password-file'] === undefined) return false;
    throw new UsageError(
      '--password-file is for a token that "login" made. This one was given to it, and may be used elsewhere.',
    );
  }
  const password = await passwordFor(username, context);
  if (password === null) return false;
  await signedIn({ url: new URL(origin), trust }, { username, password }, async (session) => {
    try {
      await session.delete('/api/v1/auth/tokens/{id}', { path: { id: tokenId } });
    } catch (error) {
      if (!(error instanceof ApiProblem && error.code === 'not_found')) throw error;
    }
  });
  return true;
}

/** @returns null where whoever is asked says nothing, or nobody can be asked: signing out must be possible all the same */
async function passwordFor(username: string, context: LogoutContext): Promise<string | null> {
  const { ask, options } = context;
  const file = options['password-file'];
  if (file !== undefined) return readPassword(file, username, context);
  if (!ask.canAsk) return null;
  const question = `Password of ${username} to revoke the token, or nothing to leave it valid`;
  return (await ask.secret(question, 'say --password-file')) || null;
}
