// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import type { Client } from '../support/client.ts';
import { createComposite } from '../support/composites.ts';
import { create } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const PATH = '/api/v1/search';

interface Hit {
  kind: string;
  id: string;
  name: string;
  detail: string | null;
}

describe('the search', () => {
  const hawser = started(startHawser);
  let admin: Client;
  let node: NodeUnderTest;

  before(async () => {
    admin = hawser.admin;
    node = await hawser.registerNode('web-01.example.org');
    await hawser.registerNode('old-web.example.org');
    await publishConfiguration(admin, 'web-server', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    await ok(201, create(admin, 'Webmail', { description: 'Mail for all' }));
    await ok(201, create(admin, 'my-WEB_1.x'));
    await ok(201, createComposite(admin, 'web-farm', { description: 'The farm' }));
    await ok(
      204,
      admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, { configurationName: 'web-server' }),
    );
    const typeId = await createScopeType(hawser, 'Role');
    await createScopeValue(hawser, typeId, 'Webserver');
    await createScopeValue(hawser, await createScopeType(hawser, 'Site'), 'the-web');
    await ok(201, admin.post('/api/v1/groups', { name: 'Die Webmeister (süß)', description: 'They watch' }));
    await makeUser(hawser, { username: 'webber' });
  });

  const search = (text: string, client = admin): Promise<Hit[]> =>
    ok(200, client.get(`${PATH}?q=${encodeURIComponent(text)}`));
  const shortly = (hits: readonly Hit[]) =>
    hits.map(({ kind, name, detail }) => `${kind} ${name}: ${detail}`);
  const kindsOf = async (client: Client) => [
    ...new Set((await search('web', client)).map(({ kind }) => kind)),
  ];

  it('finds whatever has the text in its name, those first that begin with it, then by name', async () => {
    expect(shortly(await search('web'))).to.deep.equal([
      'Node web-01.example.org: web-server',
      'Composite web-farm: The farm',
      'Configuration web-server: null',
      'User webber: webber@example.org',
      'Configuration Webmail: Mail for all',
      'ScopeValue Webserver: Role',
      'Group Die Webmeister (süß): They watch',
      'Configuration my-WEB_1.x: null',
      'Node old-web.example.org: null',
      'ScopeValue the-web: Site',
    ]);
  });

  it('names things by the ids that their routes know', async () => {
    const hits = await search('we');
    const idOf = (kind: string, name: string) =>
      hits.find((hit) => hit.kind === kind && hit.name === name)?.id;
    expect(idOf('Node', 'web-01.example.org')).to.equal(node.nodeId);
    expect(idOf('Configuration', 'Webmail')).to.equal(
      (await ok(200, admin.get('/api/v1/configurations/Webmail'))).id,
    );
    await ok(200, admin.get(`/api/v1/users/${idOf('User', 'webber')}`));
    await ok(200, admin.get(`/api/v1/groups/${idOf('Group', 'Die Webmeister (süß)')}`));
  });

  it('takes the text as it is written, in any case', async () => {
    expect(await search('WEB')).to.deep.equal(await search('web'));
    expect(shortly(await search('SÜSS'))).to.deep.equal(['Group Die Webmeister (süß): They watch']);
    expect(shortly(await search('b_1.'))).to.deep.equal(['Configuration my-WEB_1.x: null']);
    for (const text of ['b_f', 'w%b', 'web*', 'web ', '  web', '.*', '"web"', "web' or 1=1 --", 'we\\b'])
      expect(await search(text), text).to.deep.equal([]);
  });

  it('looks in names alone', async () => {
    for (const text of ['Mail for', 'They watch', '@example', 'Administrator role', 'Role', node.nodeId])
      expect(await search(text), text).to.deep.equal([]);
  });

  it('shows of each kind what the caller may list', async () => {
    const grant = (on: 'configuration' | 'composite' | 'parameters', name: string) =>
      ({ on, name, level: 'Read' }) as const;
    const nobody = await makeUser(hawser, { username: 'nobody' });
    expect(await kindsOf(nobody)).to.deep.equal(['ScopeValue']);
    expect(await kindsOf(await makeUser(hawser, { username: 'viewer', roles: ['Viewer'] }))).to.deep.equal([
      'Node',
      'ScopeValue',
    ]);
    const reader = await makeUser(hawser, {
      username: 'reader',
      grants: [
        grant('configuration', 'Webmail'),
        grant('composite', 'web-farm'),
        grant('parameters', 'web-server'),
      ],
    });
    const names = (await search('web', reader)).map(({ name }) => name);
    expect(names).to.deep.equal(['web-farm', 'Webmail', 'Webserver', 'the-web']);
    expect(await kindsOf(await reader.withToken('nodes.read'))).to.deep.equal(['ScopeValue']);
    expect(await kindsOf(await reader.withToken('composite-configurations.grants'))).to.deep.equal([
      'Composite',
      'ScopeValue',
    ]);
    const managers = [
      ['users.manage', 'User'],
      ['groups.manage', 'Group'],
      ['nodes.read', 'Node'],
    ] as const;
    for (const [permission, kind] of managers) {
      const person = await makeUser(hawser, { username: `with-${kind}`, permissions: [permission] });
      expect(await kindsOf(person), permission).to.have.members([kind, 'ScopeValue']);
    }
    await expectProblem((await nobody.withToken()).get(`${PATH}?q=web`), 403, 'forbidden');
    await expectProblem(node.client.get(`${PATH}?q=web`), 403, 'forbidden');
    await expectProblem(hawser.client().get(`${PATH}?q=web`), 401, 'unauthenticated');
  });

  it('takes 2 to 100 characters, and nothing else', async () => {
    const long = 'x'.repeat(100);
    for (const text of [long, '\u{1F600}'.repeat(100), '%', 'ü!']) {
      const query = `${PATH}?q=${encodeURIComponent(text)}`;
      if ([...text].length > 1) await ok(200, admin.get(query));
      else await expectProblem(admin.get(query), 400, 'validation_failed', text);
    }
    for (const query of [
      '',
      '?q=',
      '?q=a',
      `?q=${long}x`,
      '?q=%F0%9F%98%80',
      '?q=web&take=5',
      '?q=web&skip=1',
      '?q=a%00b',
      '?q=web&q=db',
      '?text=web',
    ])
      await expectProblem(admin.get(`${PATH}${query}`), 400, 'validation_failed', query);
  });

  it('gives 20 at most, of thousands too, and finds what is new and not what is gone', async () => {
    const values = { status: 'Unknown', lcm_status: 'Unknown', created_at: 1 };
    await withDatabase(hawser, ({ write }) =>
      write.transaction().execute(async (trx) => {
        for (let index = 0; index < 3_000; index += 1) {
          const number = String((index * 7919) % 3_000).padStart(4, '0');
          await trx
            .insertInto('nodes')
            .values({ ...values, id: newId(), fqdn: `srv-${number}.rack-${index % 300}.many.net` })
            .execute();
        }
      }),
    );
    const numbers = Array.from({ length: 20 }, (_, index) => `srv-${String(index).padStart(4, '0')}`);
    const heads = (hits: readonly Hit[]) => hits.map(({ name }) => name.split('.', 1)[0]);
    expect(heads(await search('srv-'))).to.deep.equal(numbers);
    expect(heads(await search('.MANY.'))).to.deep.equal(numbers);
    const rack = await search('.rack-299.');
    expect(rack).to.have.length(10);
    expect(heads(rack)).to.deep.equal([...heads(rack)].sort());
    const late = await hawser.registerNode('the-rack-299.example.org');
    expect(heads(await search('rack-299'))).to.include('the-rack-299');
    await ok(204, admin.delete(`/api/v1/nodes/${late.nodeId}`));
    expect(await search('the-rack')).to.deep.equal([]);
    expect(await search('rack-299')).to.have.length(10);
  });
});
