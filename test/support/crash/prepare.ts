/** What the clients need before they can work on a new server: a token and a registration key. */

import { type Client, makeClient, type Target } from '../client.ts';
import { ADMIN_PASSWORD, ALL_SCOPES, createKey, createToken, signIn } from '../hawser.ts';
import { ok } from '../replies.ts';
import type { Model } from './model.ts';

export interface Credentials {
  /** It has every scope. */
  token: string;
  registrationKey: string;
}

/** Makes both on a new server, and the scope type of the rings. Tells the model of it, and of the roles that are there. */
export async function prepareSite(target: Target, model: Model): Promise<Credentials> {
  const client = makeClient(target);
  try {
    const session = await signIn(client, 'admin', ADMIN_PASSWORD);
    const token = await createToken(client, session, ALL_SCOPES);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    const registrationKey = await createKey(admin);
    const roles = (await admin.get('/api/v1/roles')).json;
    model.roleIds.push(...roles.map((role: { id: string }) => role.id));
    await makeRings(admin, model);
    return { token, registrationKey };
  } finally {
    client.close();
  }
}

async function makeRings(admin: Client, model: Model): Promise<void> {
  const change = model.begin('create a scope type', { 'scope-types/Ring': { precedence: 1 } });
  const { id } = await ok(201, admin.post('/api/v1/scope-types', { name: 'Ring', valueMode: 'Restricted' }));
  model.acknowledge(change);
  model.ids.set('scope-types/Ring', id);
  await ok(200, admin.put('/api/v1/settings/rollouts', { rolloutScopeType: 'Ring' }));
}
