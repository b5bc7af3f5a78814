/** Makes one of everything that a path can name, so that a matrix of callers and routes gets no accidental 404. */

import type { Route } from '../../src/http/route.ts';
import { proposed } from './change-sets.ts';
import type { Reply } from './client.ts';
import { publishWithChildren } from './composites.ts';
import { consoleValues } from './console-files.ts';
import { eventually } from './eventually.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration } from './hawser.ts';
import { prepareParameters } from './parameter-files.ts';
import { preparePreview } from './previews.ts';
import { told } from './proof.ts';
import { prepareRings, rollOutToAll } from './rollouts.ts';
import { prepareScopes } from './scopes.ts';
import { FORGE_SETTINGS, PROVIDER, type SignInServer, startSignInServer } from './sign-in-server.ts';
import { prepareWebhook, stopSending } from './webhooks.ts';

/** The composite's version that is no draft. */
const PUBLISHED = '0.9.0';

export interface AccessWorld {
  hawser: Hawser;
  node: NodeUnderTest;
  /** A value for each parameter of the route's path. */
  valuesOf(route: Route): Record<string, string>;
  close(): Promise<void>;
}

/** Starts a server at which everything is possible, and makes one of everything there. */
export async function startAccessWorld(settings: Record<string, string> = {}): Promise<AccessWorld> {
  const server = await startSignInServer({}, { ...FORGE_SETTINGS, ...settings });
  const { hawser, close } = server;
  const node = await hawser.registerNode('web-01.example.org');
  return { hawser, node, close, valuesOf: await makeAll(server, node) };
}

/** Somebody who signed in by a provider, and a service account whose tokens come from jobs. */
async function prepareSignIn(
  { hawser, signIn }: SignInServer,
  account: { id: string },
): Promise<{ provider: string; userId: string; identityId: string; federationId: string }> {
  const person = await signIn({ sub: 'p-1', preferred_username: 'person', email: 'person@example.org' });
  const { userId } = (await person.get('/api/v1/auth/me')).json;
  const identities = await hawser.admin.get(`/api/v1/users/${userId}/identities`);
  const made = await hawser.admin.post(`/api/v1/users/${account.id}/federations`, {
    ...{ issuer: FORGE_SETTINGS.HAWSER_FEDERATION_ISSUERS, claims: { sub: 'the job' }, scopes: [] },
  });
  if (made.status !== 201) throw new Error(`the federation was answered ${made.status} ${made.text}`);
  return { provider: PROVIDER, userId, identityId: identities.json[0].id, federationId: made.json.id };
}

/** Makes a configuration and a composite `web`, assigned to the node, and one user, group, role and so on. */
async function makeAll(server: SignInServer, node: NodeUnderTest): Promise<AccessWorld['valuesOf']> {
  const { hawser } = server;
  const { admin } = hawser;
  await publishConfiguration(admin, 'web', {
    '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\nparameters: {}' },
  });
  await admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, { configurationName: 'web' });
  const make = async (path: string, body: unknown): Promise<Reply['json']> => {
    const reply = await admin.post(path, body);
    if (reply.status !== 201) throw new Error(`${path} answered ${reply.status} ${reply.text}`);
    return reply.json;
  };
  const composites = '/api/v1/composite-configurations';
  await make(composites, { name: 'web' });
  await make(`${composites}/web/versions`, { version: '1.0.0' });
  const child = await make(`${composites}/web/versions/1.0.0/children`, { childConfigurationName: 'web' });
  await publishWithChildren(admin, 'web', PUBLISHED, ['web']);
  const key = await make('/api/v1/admin/registration-keys', {});
  const makeUser = (username: string) =>
    make('/api/v1/users', {
      ...{ username, email: `${username}@example.org`, password: 'a-password-of-somebody' },
    });
  // The user holds no grant, because only somebody who holds the same grant could manage a user who does.
  const user = await makeUser('somebody');
  const grantee = await makeUser('grantee');
  const group = await make('/api/v1/groups', { name: 'some group' });
  const role = await make('/api/v1/roles', { name: 'some role', permissions: [] });
  const external = { provider: 'entra', externalGroupId: 'g-1', externalGroupName: 'G 1', groupId: group.id };
  const mapping = await make('/api/v1/groups/external-mappings', external);
  const tokens = await admin.get('/api/v1/auth/tokens');
  const robot = { username: 'robot', email: 'robot@example.org', accountType: 'ServiceAccount' };
  const account = await make('/api/v1/users', robot);
  const accountToken = await hawser
    .client()
    .with({ Cookie: hawser.session })
    .post(`/api/v1/users/${account.id}/tokens`, { name: 'script', scopes: [] });
  await admin.put('/api/v1/configurations/web/permissions', {
    ...{ principalType: 'User', principalId: grantee.id, level: 'Read' },
  });
  await admin.put(`${composites}/web/permissions`, {
    ...{ principalType: 'User', principalId: grantee.id, level: 'Read' },
  });
  const { userId, ...ofSignIn } = await prepareSignIn(server, account);
  await prepareRings(hawser);
  await rollOutToAll(admin, 'web', '1.0.0');
  await rollOutToAll(admin, 'web', PUBLISHED, composites);
  const scopes = await prepareScopes(hawser, node.nodeId);
  const parameters = await prepareParameters(hawser, 'web');
  const report = await node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, {
    ...{ operation: 'Test', result: { hadErrors: false } },
  });
  const checksum = await told(node);
  // The node has called. Once this is written, nothing changes by itself any more.
  await eventually(async () => {
    const { json } = await admin.get(`/api/v1/nodes/${node.nodeId}`);
    if (json.lastCheckIn === null) throw new Error('the check-in is not written yet');
    if (json.running === null) throw new Error('what the node runs is not written yet');
  });
  const { webhookId, deliveryId } = await prepareWebhook(admin);
  await stopSending(admin, webhookId);
  const ofConsole = await consoleValues(admin);
  const previewed = await preparePreview(admin, node.nodeId, 'web');
  const set = await proposed(admin, [{ kind: 'Unassign', nodeIds: [node.nodeId] }]);
  const ids: readonly [prefix: string, id: string][] = [
    ['/api/v1/change-sets/', String(set.id)],
    ['/api/v1/auth/tokens/', tokens.json[0].id],
    ['/api/v1/users/{id}/tokens', account.id],
    ['/api/v1/users/{id}/federations', account.id],
    ['/api/v1/users/{id}/identities', userId],
    ['/api/v1/users/', user.id],
    ['/api/v1/groups/external-mappings/', mapping.id],
    ['/api/v1/groups/', group.id],
    ['/api/v1/roles/', role.id],
    ['/api/v1/reports/', report.json.id],
    ['/api/v1/webhooks/', webhookId],
  ];
  return ({ path }) => ({
    ...{ nodeId: node.nodeId, name: 'web', filePath: 'main.dsc.yaml', checksum },
    ...ofConsole,
    // Children belong to a draft, and proofs and rollouts to what is published.
    version: path.startsWith(composites) && /\/(proof|rollouts)/.test(path) ? PUBLISHED : '1.0.0',
    ...{ principalType: 'User', principalId: grantee.id, childId: child.id, keyId: key.id },
    tokenId: accountToken.json.tokenId,
    ...scopes,
    ...parameters,
    ...previewed,
    ...ofSignIn,
    deliveryId,
    id: ids.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'undefined',
  });
}
