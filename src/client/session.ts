/** Signs in with a password, for what a token may not do. */

import { Api } from './api.ts';
import type { Connection } from './connection.ts';
import { NotHawser } from './errors.ts';

/**
 * Opens a session of the server. Whoever opens it ends it by POST /api/v1/auth/logout.
 * @param headers go with every call
 * @throws ApiProblem `invalid_credentials`, and what all calls throw
 */
export async function openSession(
  connection: Connection,
  headers: Record<string, string>,
  credentials: { username: string; password: string },
): Promise<Api> {
  const answer = await new Api(connection, headers).raw('POST', '/api/v1/auth/login', {
    headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
    body: Buffer.from(JSON.stringify(credentials)),
  });
  const [cookie] = answer.headers['set-cookie']?.map((each) => each.split(';', 1)[0] ?? '') ?? [];
  if (cookie === undefined) throw new NotHawser(connection.url.origin);
  return new Api(connection, { ...headers, Cookie: cookie });
}
