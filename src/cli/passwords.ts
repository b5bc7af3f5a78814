/** Passwords come from a file, from stdin, or from whoever is asked. They are never arguments. */

import type { Api } from '../client/api.ts';
import { openSession } from '../client/session.ts';
import type { Context } from './declaration.ts';
import { type Destination, findDestination, openApi, ownHeaders } from './destination.ts';
import { Failure, UsageError } from './errors.ts';
import { readSecretLine } from './input.ts';

export const PASSWORD_FILE = {
  'password-file': { value: 'FILE', summary: 'read the password from this file, - for stdin' },
} as const;

type Surroundings = Pick<Context, 'ask' | 'stdin' | 'cwd'>;

/** @returns the password that somebody has @throws UsageError where there is no file and nobody to ask */
export async function readPassword(
  file: string | undefined,
  username: string,
  surroundings: Surroundings,
): Promise<string> {
  if (file === undefined) return surroundings.ask.secret(`Password of ${username}`, 'say --password-file');
  const password = await readSecretLine(surroundings, file);
  if (password === '') throw new UsageError('The file of the password is empty.');
  return password;
}

/**
 * @param option what names the file
 * @returns a password that is new; it is asked for twice, because nobody sees what was typed
 */
export async function readNewPassword(
  file: string | undefined,
  username: string,
  surroundings: Surroundings,
  option = '--password-file',
): Promise<string> {
  if (file !== undefined) return readPassword(file, username, surroundings);
  const { ask } = surroundings;
  const password = await ask.secret(`New password of ${username}`, `say ${option}`);
  const again = await ask.secret('The same again', `say ${option}`);
  if (again !== password) throw new Failure('The two passwords differ. Nothing was done.');
  return password;
}

/**
 * Signs in with a password for as long as `work` takes: tokens may not make or revoke tokens.
 * @param file of the password of whoever runs the command
 */
export async function withSession<T>(
  context: Surroundings & Pick<Context, 'api' | 'env' | 'hosts'>,
  file: string | undefined,
  work: (session: Api) => Promise<T>,
): Promise<T> {
  const { username } = await context.api.get('/api/v1/auth/me');
  const password = await readPassword(file, username, context);
  return signedIn(findDestination(context), { username, password }, work);
}

/** Signs in for as long as `work` takes. */
export async function signedIn<T>(
  { url, trust }: Pick<Destination, 'url' | 'trust'>,
  credentials: { username: string; password: string },
  work: (session: Api) => Promise<T>,
): Promise<T> {
  const { connection } = openApi({ url, trust, token: null });
  try {
    const session = await openSession(connection, ownHeaders(), credentials);
    try {
      return await work(session);
    } finally {
      await session.post('/api/v1/auth/logout');
    }
  } finally {
    connection.close();
  }
}
