// full: PostgreSQL
/** Another program makes a row of the same name while a request makes one: the rules of the tables find it. */

import { expect } from 'chai';
import type { Client, Reply } from '../support/client.ts';
import { COMPOSITES } from '../support/composites.ts';
import { create } from '../support/configurations.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { startHawser } from '../support/hawser.ts';
import { type OtherProgram, otherProgram } from '../support/postgres/other-program.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

interface Making {
  what: string;
  table: string;
  /** The columns that hold the name, and what they hold. */
  named(name: string): Record<string, string>;
  send(name: string): Promise<Reply>;
}

const MAPPINGS = 'external_group_mappings';
const withKey = (name: string) => ({ name, name_key: name });

describeOnPostgres('a name that is taken while a request is under way', () => {
  const hawser = started(startHawser);
  let admin: Client;
  let site: string;
  let group: string;

  before(async () => {
    admin = hawser.admin;
    site = await createScopeType(hawser, 'Site');
    group = (await ok(201, admin.post('/api/v1/groups', { name: 'mapped' }))).id;
  });

  const MAKINGS: Making[] = [
    {
      ...{ what: 'a group', table: 'groups', named: withKey },
      send: (name) => admin.post('/api/v1/groups', { name }),
    },
    {
      ...{ what: 'a role', table: 'roles', named: withKey },
      send: (name) => admin.post('/api/v1/roles', { name, permissions: ['nodes.read'] }),
    },
    {
      ...{ what: 'a user', table: 'users' },
      named: (name) => ({ username: name, username_key: name }),
      send: (username) =>
        admin.post('/api/v1/users', {
          ...{ username, email: 'one@example.org', password: 'four words chosen freely' },
        }),
    },
    {
      ...{ what: 'a scope type', table: 'scope_types', named: withKey },
      send: (name) => admin.post(SCOPE_TYPES, { name }),
    },
    {
      ...{ what: 'a scope value', table: 'scope_values' },
      named: (value) => ({ value, value_key: value }),
      send: (value) => admin.post(`${SCOPE_TYPES}/${site}/values`, { value }),
    },
    {
      ...{ what: 'a mapping', table: MAPPINGS },
      named: (name) => ({ external_group_id: name }),
      send: (externalGroupId) =>
        admin.post('/api/v1/groups/external-mappings', {
          ...{ provider: 'entra', externalGroupId, externalGroupName: 'x', groupId: group },
        }),
    },
    {
      ...{ what: 'a configuration', table: 'configurations', named: withKey },
      send: (name) => create(admin, name),
    },
    {
      ...{ what: 'a composite', table: 'composites', named: withKey },
      send: (name) => admin.post(COMPOSITES, { name }),
    },
  ];

  /** Makes a copy of a row of the name `old`, as long as the transaction of the other program lasts. */
  async function copyRow(other: OtherProgram, { table, named }: Making, name: string): Promise<void> {
    const [column = '', old] = Object.entries(named('old'))[0] ?? [];
    const changed = JSON.stringify({ ...named(name), id: crypto.randomUUID() });
    await other.query(`begin; insert into ${table} select made.* from ${table} one
      cross join lateral jsonb_populate_record(one, '${changed}') made where one.${column} = '${old}'`);
  }

  for (const making of MAKINGS)
    it(`is refused for ${making.what} as one that was taken before`, async () => {
      await ok(201, making.send('old'));
      const known = await expectProblem(
        making.send('old'),
        409,
        making.table === MAPPINGS ? 'mapping_exists' : 'name_taken',
      );
      const other = await otherProgram(hawser.databaseUrl ?? '');
      try {
        await copyRow(other, making, 'new');
        const sent = making.send('new');
        await other.waitedFor();
        await other.query('commit');
        const { status, json } = await sent;
        expect({ status, ...json }).to.deep.equal({ status: known.status, ...known.json });
      } finally {
        await other.end();
      }
    });
});
