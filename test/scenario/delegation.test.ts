// full: SQLite
/** Nobody hands out more than they hold: each deed that hands something out, by each kind of giver. */

import { expect } from 'chai';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { GRANT_RULES, type GrantKind, type GrantLevel } from '../../src/domain/permissions.ts';
import { auditedDuring } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { createComposite } from '../support/composites.ts';
import { MAIN } from '../support/configurations.ts';
import { type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { give, type Holder, type Holding, insertGroup, insertUser, takeAll } from '../support/holdings.ts';
import { configurationId } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';

const USERS = '/api/v1/users';
const GROUPS = '/api/v1/groups';
const NEW_PASSWORD = 'another-password-worth-having';
const MANAGING = ['users.manage', 'groups.manage'];

/** What the one has on whom the deed is done. Names of resources are such that no other word contains them. */
const HELD = {
  'a permission': 'permission',
  'a grant on a configuration': 'configuration',
  'a grant on a composite': 'composite',
  'a grant on parameters': 'parameters',
} as const;
type What = (typeof HELD)[keyof typeof HELD];

const KIND_WORDS: Record<GrantKind, RegExp> = {
  configuration: /configuration/,
  composite: /composite configuration/,
  parameters: /parameters of/,
};

interface Giver {
  /** What the giver holds of it, and through what; nothing else but users.manage and groups.manage. */
  holds: { level: GrantLevel; by: 'User' | 'Group' } | 'override' | null;
  /** Whether a token is used, and names what is needed. */
  token?: 'naming it' | 'naming nothing of it';
  isEnough: boolean;
  /** Of a grant: whether the giver may read the resource, so that the answer names it. */
  isTold?: boolean;
}

const GIVERS: Record<string, Giver> = {
  'holds none of it': { holds: null, isEnough: false },
  'holds as much': { holds: { level: 'Modify', by: 'User' }, isEnough: true },
  'holds as much by a group': { holds: { level: 'Modify', by: 'Group' }, isEnough: true },
  'holds more': { holds: { level: 'Manage', by: 'User' }, isEnough: true },
  'holds less': { holds: { level: 'Read', by: 'User' }, isEnough: false, isTold: true },
  'holds less by a group': { holds: { level: 'Read', by: 'Group' }, isEnough: false, isTold: true },
  'has the override': { holds: 'override', isEnough: true },
  'has a token for it': { holds: { level: 'Manage', by: 'User' }, token: 'naming it', isEnough: true },
  'has a token for the override': { holds: 'override', token: 'naming it', isEnough: true },
  'has a token for nothing of it': {
    ...{ holds: { level: 'Manage', by: 'User' }, isEnough: false },
    token: 'naming nothing of it',
  },
  'has a token without the override': { holds: 'override', token: 'naming nothing of it', isEnough: false },
};

interface Target {
  userId: string;
  username: string;
  /** The group that the deed is about, or by which the user holds what it has. */
  groupId: string;
  isActive: boolean;
}

type Deed = (client: Client, target: Target) => Promise<Reply>;
const stateOf = ({ username, isActive }: Target) => ({ username, email: 'x@example.org', isActive });

const ON_USERS: Record<string, Deed> = {
  'resetting a password': (client, { userId }) =>
    client.post(`${USERS}/${userId}/reset-password`, { newPassword: NEW_PASSWORD }),
  unlocking: (client, { userId }) => client.post(`${USERS}/${userId}/unlock`),
  renaming: (client, target) =>
    client.put(`${USERS}/${target.userId}`, { ...stateOf(target), username: `${target.username}-2` }),
  deleting: (client, { userId }) => client.delete(`${USERS}/${userId}`),
};
/** Those that could let it in again, and one more for all the others. */
const ON_INACTIVE: Record<string, Deed> = {
  unlocking: (client, { userId }) => client.post(`${USERS}/${userId}/unlock`),
  reactivating: (client, target) =>
    client.put(`${USERS}/${target.userId}`, { ...stateOf(target), isActive: true }),
};
const ON_GROUPS: Record<string, Deed> = {
  'adding a member': (client, { groupId, userId }) =>
    client.put(`${GROUPS}/${groupId}/members`, { userIds: [userId] }),
  'mapping an external group': (client, { groupId, username }) =>
    client.post(`${GROUPS}/external-mappings`, { provider: 'entra', externalGroupId: username, groupId }),
};

describe('what somebody hands out they must hold themselves', () => {
  let hawser: Hawser;
  let database: Database;
  let giver: Person;
  let giversGroup: string;
  const tokens = new Map<string, Client>();
  const ids = { configuration: '', composite: '', parameters: '' };
  const NAMES: Record<GrantKind, string> = {
    configuration: 'zebra',
    composite: 'quagga',
    parameters: 'zebra',
  };
  let serial = 0;

  before(async () => {
    hawser = await startHawser();
    database = await openDatabase(hawser);
    for (const name of ['zebra', 'okapi']) {
      await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    }
    ids.configuration = await configurationId(hawser.admin, 'zebra');
    ids.parameters = ids.configuration;
    ids.composite = (await ok(201, createComposite(hawser.admin, 'quagga'))).id;
    giver = await makeUser(hawser, { username: 'giver' });
    giversGroup = await insertGroup(database, 'givers', giver.userId);
  });
  after(async () => {
    await database.close();
    await hawser.close();
  });

  const holdingOf = (what: What, level: GrantLevel = 'Modify'): Holding =>
    what === 'permission' ? { permission: 'audit.read' } : { on: what, resourceId: ids[what], level };

  const equip = async (holds: readonly [Holder['type'], Holding][]) => {
    const givers = { User: giver.userId, Group: giversGroup };
    for (const type of ['User', 'Group'] as const) await takeAll(database, { type, id: givers[type] });
    for (const permission of MANAGING)
      await give(database, { type: 'User', id: giver.userId }, { permission });
    for (const [type, holding] of holds) await give(database, { type, id: givers[type] }, holding);
  };

  const clientWith = async (...scopes: string[]) => {
    const key = scopes.join(' ');
    const client = tokens.get(key) ?? (await giver.withToken(...MANAGING, ...scopes));
    tokens.set(key, client);
    return client;
  };

  /** Lets the giver be such a one, and gives what the deed is called with. */
  const become = async ({ holds, token }: Giver, what: What): Promise<Client> => {
    const override = what === 'permission' ? 'audit.read' : GRANT_RULES[what].override;
    const scope = what === 'permission' || holds === 'override' ? override : GRANT_RULES[what].scope;
    if (holds === 'override') await equip([['User', { permission: override }]]);
    else await equip(holds === null ? [] : [[holds.by, holdingOf(what, holds.level)]]);
    if (token === undefined) return giver.client;
    return token === 'naming it' ? clientWith(scope) : clientWith();
  };

  const makeTarget = async (isActive = true): Promise<Target> => {
    serial += 1;
    const username = `target-${serial}`;
    const userId = await insertUser(database, username, { isActive });
    return { userId, username, groupId: await insertGroup(database, `group-${serial}`), isActive };
  };

  const join = ({ groupId, userId }: Target) =>
    database.write.insertInto('group_members').values({ group_id: groupId, user_id: userId }).execute();

  /** All that a deed could have changed. */
  const stateIn = async ({ userId, groupId }: Target) => [
    await database.read.selectFrom('users').selectAll().where('id', '=', userId).execute(),
    await database.read.selectFrom('group_members').selectAll().where('group_id', '=', groupId).execute(),
    await database.read
      .selectFrom('external_group_mappings')
      .selectAll()
      .where('group_id', '=', groupId)
      .execute(),
  ];

  const expectRefusal = async (reply: Reply, what: What, isTold: boolean, why: string) => {
    const { json } = await expectProblem(reply, 403, 'beyond_own_permissions', why);
    if (what === 'permission') {
      expect(json.detail, why).to.include('audit.read');
      return;
    }
    expect(json.detail, why).to.match(KIND_WORDS[what]);
    if (isTold) expect(json.detail, why).to.include(NAMES[what]).and.to.include('Modify');
    else expect(reply.text, why).to.not.match(new RegExp(`${NAMES[what]}|${ids[what]}|Modify`));
  };

  /** Each giver does the deed on a target made for it, with what the target is to hold. */
  const expectRightsToDecide = async (
    deed: Deed,
    why: string,
    what: What,
    prepare: () => Promise<Target>,
  ) => {
    for (const [name, wish] of Object.entries(GIVERS)) {
      // A permission is held or not.
      if (what === 'permission' && wish.isTold) continue;
      const target = await prepare();
      const client = await become(wish, what);
      const before = await stateIn(target);
      const about = `${why}, by one who ${name}`;
      const entries = await auditedDuring(hawser, async () => {
        const reply = await deed(client, target);
        if (!wish.isEnough) await expectRefusal(reply, what, wish.isTold ?? false, about);
        else expect(reply.status, `${about} ${reply.text}`).to.be.oneOf([200, 201, 204]);
      });
      if (wish.isEnough) continue;
      expect(entries, about).to.deep.equal([]);
      expect(await stateIn(target), about).to.deep.equal(before);
    }
  };

  for (const [state, deeds] of [
    ['active', ON_USERS],
    ['inactive', ON_INACTIVE],
  ] as const) {
    for (const [name, deed] of Object.entries(deeds)) {
      it(`${name}, of an ${state} user who has it directly or by a group`, async () => {
        for (const [label, what] of Object.entries(HELD)) {
          await expectRightsToDecide(deed, `${name} with ${label}`, what, async () => {
            const target = await makeTarget(state === 'active');
            await give(database, { type: 'User', id: target.userId }, holdingOf(what));
            return target;
          });
          await expectRightsToDecide(deed, `${name} with ${label} by a group`, what, async () => {
            const target = await makeTarget(state === 'active');
            await join(target);
            await give(database, { type: 'Group', id: target.groupId }, holdingOf(what));
            return target;
          });
        }
      });
    }
  }

  for (const [name, deed] of Object.entries(ON_GROUPS)) {
    it(`${name}, of a group that has it`, async () => {
      for (const [label, what] of Object.entries(HELD)) {
        await expectRightsToDecide(deed, `${name} with ${label}`, what, async () => {
          const target = await makeTarget();
          await give(database, { type: 'Group', id: target.groupId }, holdingOf(what));
          return target;
        });
      }
    });
  }

  it('a grant on a configuration is one on its parameters too, where there is no other on these', async () => {
    const target = await makeTarget();
    await give(database, { type: 'Group', id: target.groupId }, holdingOf('configuration'));
    const add = () => ON_GROUPS['adding a member']?.(giver.client, target) as Promise<Reply>;
    const bounded: [Holder['type'], Holding][] = [
      ['User', holdingOf('configuration', 'Manage')],
      ['Group', holdingOf('parameters', 'Read')],
    ];
    await equip(bounded);
    const refused = await expectProblem(add(), 403, 'beyond_own_permissions');
    expect(refused.json.detail).to.include('Modify on the parameters of the configuration zebra');
    await give(database, { type: 'Group', id: target.groupId }, holdingOf('parameters', 'Read'));
    await ok(200, add());
    // Nor does the override on configurations lift what is bounded by a grant on parameters.
    const other = await makeTarget();
    const permission = 'configurations.admin-override';
    await give(database, { type: 'User', id: other.userId }, { permission });
    await equip([...bounded, ['User', { permission }]]);
    const unlock = () => giver.client.post(`${USERS}/${other.userId}/unlock`);
    const lifted = await expectProblem(unlock(), 403, 'beyond_own_permissions');
    expect(lifted.json.detail).to.include('Manage on the parameters of the configuration zebra');
    await equip([['User', { permission }]]);
    await ok(204, unlock());
  });

  it('the first grant that the giver may read is named, and no other', async () => {
    const target = await makeTarget();
    const okapi = await configurationId(hawser.admin, 'okapi');
    const user = { type: 'User', id: target.userId } as const;
    await give(database, user, { on: 'configuration', resourceId: okapi, level: 'Manage' });
    await give(database, user, holdingOf('configuration'));
    await give(database, user, holdingOf('composite'));
    await equip([['User', holdingOf('configuration', 'Read')]]);
    const reply = await giver.client.delete(`${USERS}/${target.userId}`);
    await expectProblem(reply, 403, 'beyond_own_permissions');
    expect(reply.json.detail).to.include('Modify on the configuration zebra');
    expect(reply.text).to.not.match(/okapi|quagga|Manage/);
  });

  it('what hands nothing out is asked no more than before', async () => {
    const target = await makeTarget();
    await give(database, { type: 'Group', id: target.groupId }, holdingOf('composite'));
    await give(database, { type: 'User', id: target.userId }, holdingOf('configuration'));
    await give(database, { type: 'User', id: target.userId }, holdingOf('permission'));
    await equip([]);
    const { client } = giver;
    const members = (userIds: string[]) => client.put(`${GROUPS}/${target.groupId}/members`, { userIds });
    await join(target);
    await ok(200, members([target.userId]));
    await ok(200, members([]));
    const state = stateOf(target);
    await ok(200, client.put(`${USERS}/${target.userId}`, { ...state, email: 'y@example.org' }));
    await ok(200, client.put(`${USERS}/${target.userId}`, { ...state, isActive: false }));
    await ok(
      200,
      client.put(`${USERS}/${target.userId}`, { ...state, isActive: false, email: 'z@example.org' }),
    );
    await ok(200, client.put(`${USERS}/${target.userId}/roles`, { roleIds: [] }));
    const empty = await makeTarget();
    await ok(
      200,
      client.put(`${GROUPS}/${empty.groupId}/members`, { userIds: [empty.userId, giver.userId] }),
    );
    const [users, left] = await stateIn(target);
    expect(users?.[0]).to.include({ email: 'z@example.org', is_active: 0 });
    expect(left).to.deep.equal([]);
  });
});
