/** One request of every kind that changes the database and no repository. */

import { makeClientCertificate } from './client-certificates.ts';
import { CONFIGURATIONS, MAIN } from './configurations.ts';
import { testedService, testOutput } from './dsc-results.ts';
import type { Write } from './fault-sweep.ts';
import {
  ADMIN_PASSWORD,
  createKey,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
} from './hawser.ts';
import { assign, configurationPath } from './parameter-files.ts';
import { ok } from './replies.ts';
import { NOTHING_KEPT, RETENTION } from './retention.ts';
import { announce } from './rotation.ts';
import { createScopeType, createScopeValue, SCOPE_TYPES, tagNode } from './scopes.ts';

const SETTINGS = '/api/v1/settings';
const USERS = '/api/v1/users';
const GROUPS = '/api/v1/groups';
const KEYS = '/api/v1/admin/registration-keys';

type Change = Omit<Write, 'shownAt'>;

/** @param node must be assigned to a configuration that is not changed here */
export function databaseWrites(hawser: Hawser, node: NodeUnderTest): Write[] {
  const changes = [
    ...nodeChanges(hawser, node),
    ...operatorChanges(hawser, node),
    ...peopleChanges(hawser),
    ...settingsChanges(hawser),
  ];
  return changes.map((change) => ({ ...change, shownAt: [] }));
}

function nodeChanges(hawser: Hawser, node: NodeUnderTest): Change[] {
  const own = `/api/v1/nodes/${node.nodeId}`;
  let registrationKey = '';
  let identity: Awaited<ReturnType<typeof makeClientCertificate>>;
  const newIdentity = async (n: number) => {
    identity = await makeClientCertificate({ commonName: `new-${n}.example.org` });
  };
  return [
    {
      what: 'registration',
      status: 200,
      setUp: async () => {
        registrationKey = await createKey(hawser.admin);
      },
      prepare: newIdentity,
      send: (n) =>
        hawser
          .client(identity)
          .post('/api/v1/nodes/register', { registrationKey, fqdn: `new-${n}.example.org` }),
    },
    {
      what: 'rotation',
      status: 200,
      prepare: newIdentity,
      send: () => node.client.post(`${own}/rotate-certificate`, announce(identity)),
    },
    {
      what: 'a report',
      status: 201,
      send: (n) => {
        const result = testOutput([testedService(n % 2 === 0)]);
        return node.client.post(`${own}/reports`, { operation: 'Test', result });
      },
    },
    {
      what: 'the state of the LCM',
      status: 204,
      send: (n) => node.client.put(`${own}/lcm-status`, { lcmStatus: n % 2 === 0 ? 'Idle' : 'Testing' }),
    },
    {
      what: 'what the LCM is set to',
      status: 204,
      send: (n) =>
        node.client.put(`${own}/reported-config`, { configurationModeInterval: `00:${10 + (n % 50)}:00` }),
    },
  ];
}

function operatorChanges(hawser: Hawser, node: NodeUnderTest): Change[] {
  const { admin } = hawser;
  const own = `/api/v1/nodes/${node.nodeId}`;
  let site = '';
  let tag = '';
  return [
    {
      what: 'an assignment',
      status: 204,
      setUp: () =>
        publishConfiguration(admin, 'assigned', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } }),
      prepare: () => assign(hawser, node, 'polled'),
      send: () => admin.put(configurationPath(node), { configurationName: 'assigned' }),
    },
    {
      what: 'the end of an assignment',
      status: 204,
      prepare: () => assign(hawser, node, 'assigned'),
      send: () => admin.delete(configurationPath(node)),
    },
    {
      what: 'a scope type',
      status: 201,
      send: (n) => admin.post(SCOPE_TYPES, { name: `Type${n}` }),
    },
    {
      what: 'a scope value',
      status: 201,
      setUp: async () => {
        site = await createScopeType(hawser, 'Site');
      },
      send: (n) => admin.post(`${SCOPE_TYPES}/${site}/values`, { value: `value-${n}` }),
    },
    {
      what: 'a tag',
      status: 201,
      prepare: async (n) => {
        if (tag !== '') await admin.delete(`${own}/tags/${tag}`);
        tag = await createScopeValue(hawser, site, `tag-${n}`);
      },
      send: () => admin.post(`${own}/tags`, { scopeValueId: tag }),
    },
    {
      what: 'the end of a tag',
      status: 204,
      prepare: async (n) => {
        if (tag !== '') await admin.delete(`${own}/tags/${tag}`);
        tag = await createScopeValue(hawser, site, `gone-${n}`);
        await tagNode(hawser, node.nodeId, tag);
      },
      send: () => admin.delete(`${own}/tags/${tag}`),
    },
    {
      what: 'what the LCM is to be set to',
      status: 200,
      send: (n) => admin.put(`${own}/lcm-config`, { configurationModeInterval: `00:${10 + (n % 50)}:00` }),
    },
    {
      what: "a configuration's description",
      status: 200,
      send: (n) => admin.call('PATCH', `${CONFIGURATIONS}/assigned`, { json: { description: `${n}` } }),
    },
    {
      what: 'a cleanup of reports',
      status: 200,
      send: () => admin.post(`${RETENTION}/reports/cleanup`, NOTHING_KEPT_OF_RECORDS),
    },
  ];
}

const NOTHING_KEPT_OF_RECORDS = { keepCount: 0, keepDays: NOTHING_KEPT.keepDays };

function peopleChanges(hawser: Hawser): Change[] {
  const { admin } = hawser;
  const session = () => hawser.client().with({ Cookie: hawser.session });
  let user = '';
  const addUser = async (n: number) => {
    const body = { username: `user-${n}`, email: `u${n}@example.org`, password: 'four words chosen freely' };
    const reply = await admin.post(USERS, body);
    user = (await ok(201, reply)).id;
  };
  return [
    {
      what: 'sign-in',
      status: 200,
      // The server limits the sign-ins of an address per minute.
      prepare: async () => hawser.clock.advance(61_000),
      send: () => hawser.client().post('/api/v1/auth/login', { username: 'admin', password: ADMIN_PASSWORD }),
    },
    {
      what: 'a token',
      status: 201,
      send: (n) => session().post('/api/v1/auth/tokens', { name: `t${n}`, scopes: ['nodes.read'] }),
    },
    {
      what: 'a user',
      status: 201,
      send: (n) =>
        admin.post(USERS, {
          username: `new-${n}`,
          email: 'n@example.org',
          password: 'four words chosen freely',
        }),
    },
    {
      what: "a user's other address",
      status: 200,
      prepare: addUser,
      send: (n) =>
        admin.put(`${USERS}/${user}`, { username: `user-${n}`, email: 'other@example.org', isActive: false }),
    },
    {
      what: 'the end of a user',
      status: 204,
      prepare: addUser,
      send: () => admin.delete(`${USERS}/${user}`),
    },
    {
      what: 'a group',
      status: 201,
      send: (n) => admin.post(GROUPS, { name: `Group ${n}` }),
    },
    {
      what: 'a role',
      status: 201,
      send: (n) => admin.post('/api/v1/roles', { name: `Role ${n}`, permissions: ['nodes.read'] }),
    },
    {
      what: 'a registration key',
      status: 201,
      send: () => admin.post(KEYS, {}),
    },
  ];
}

function settingsChanges({ admin }: Hawser): Change[] {
  const web = `${CONFIGURATIONS}/assigned`;
  return [
    {
      what: 'settings of the server',
      status: 200,
      send: (n) => admin.put(SETTINGS, { stalenessMultiplier: 2 + (n % 100) }),
    },
    {
      what: 'settings of the LCM',
      status: 200,
      send: (n) =>
        admin.put(`${SETTINGS}/lcm-defaults`, { defaultConfigurationModeInterval: `00:${10 + (n % 50)}:00` }),
    },
    {
      what: 'settings of cleanups',
      status: 200,
      send: (n) => admin.put(`${SETTINGS}/retention`, { keepDays: 10 + n }),
    },
    {
      what: "a configuration's own settings",
      status: 200,
      send: (n) => admin.put(`${web}/settings`, { requireSemVer: n % 2 === 0 }),
    },
    {
      what: "a configuration's own cleanup",
      status: 200,
      send: (n) => admin.put(`${web}/settings/retention`, { keepVersions: n }),
    },
  ];
}
