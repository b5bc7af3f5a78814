/** Makes keys with a profile, and registers nodes by them. */

import type { Reply } from './client.ts';
import { makeClientCertificate } from './client-certificates.ts';
import { createKey, type Hawser, type NodeUnderTest } from './hawser.ts';
import { ok } from './replies.ts';
import { createScopeType, createScopeValue } from './scopes.ts';

export const KEYS = '/api/v1/admin/registration-keys';
export const REGISTER = '/api/v1/nodes/register';
export const RULES = '/api/v1/settings/joining-rules';

/** The ids of the values of two Restricted scope types, Environment and Region. */
export type JoiningValues = Record<'prod' | 'test' | 'eu' | 'us', string>;

/** @returns the id of Environment, and those of the values of both scope types */
export async function makeScopes(hawser: Hawser): Promise<{ environment: string; values: JoiningValues }> {
  const environment = await createScopeType(hawser, 'Environment', { valueMode: 'Restricted' });
  const region = await createScopeType(hawser, 'Region', { valueMode: 'Restricted' });
  const values = {
    prod: await createScopeValue(hawser, environment, 'prod'),
    test: await createScopeValue(hawser, environment, 'test'),
    eu: await createScopeValue(hawser, region, 'eu'),
    us: await createScopeValue(hawser, region, 'us'),
  };
  return { environment, values };
}

let count = 0;

/** A name that no node has yet. */
export const newName = (prefix = 'node') => `${prefix}-${++count}.example.org`;

/** A key that gives this. @returns its secret */
export const keyGiving = (hawser: Hawser, profile: object, more: object = {}): Promise<string> =>
  createKey(hawser.admin, { profile, ...more });

/** A registration as it is answered, by a certificate of its own. */
export async function tryRegister(hawser: Hawser, registrationKey: string, fqdn: string): Promise<Reply> {
  const identity = await makeClientCertificate({ commonName: fqdn });
  return hawser.client(identity).post(REGISTER, { registrationKey, fqdn });
}

export async function registerBy(
  hawser: Hawser,
  registrationKey: string,
  fqdn = newName(),
): Promise<NodeUnderTest> {
  const identity = await makeClientCertificate({ commonName: fqdn });
  const client = hawser.client(identity);
  const { nodeId } = await ok(200, client.post(REGISTER, { registrationKey, fqdn }));
  return { nodeId, fqdn, identity, client };
}

/** What a node has: the name of what is assigned, and the ids of its tags. */
export async function belongings(hawser: Hawser, nodeId: string) {
  const { assignment, tags } = await ok(200, hawser.admin.get(`/api/v1/nodes/${nodeId}`));
  return {
    assigned: assignment?.configurationName ?? null,
    tags: tags.map((tag: { scopeValueId: string }) => tag.scopeValueId).sort(),
  };
}
