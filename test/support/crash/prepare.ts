/** What the clients need before they can work on a new server: a token and a registration key. */

import { makeClient, type Target } from '../client.ts';
import { ADMIN_PASSWORD, ALL_SCOPES, createKey, createToken, signIn } from '../hawser.ts';
import type { Model } from './model.ts';

export interface Credentials {
  /** It has every scope. */
  token: string;
  registrationKey: string;
}

/** Makes both on a new server, and tells the model of the roles that are there. */
export async function prepareSite(target: Target, model: Model): Promise<Credentials> {
  const client = makeClient(target);
  try {
    const session = await signIn(client, 'admin', ADMIN_PASSWORD);
    const token = await createToken(client, session, ALL_SCOPES);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    const registrationKey = await createKey(admin);
    const roles = (await admin.get('/api/v1/roles')).json;
    model.roleIds.push(...roles.map((role: { id: string }) => role.id));
    return { token, registrationKey };
  } finally {
    client.close();
  }
}
