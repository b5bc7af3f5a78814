// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import { addEntries } from '../support/audit-table.ts';
import type { Client } from '../support/client.ts';
import { publishWithChildren } from '../support/composites.ts';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const PATH = '/api/v1/activity';
const NODES = '/api/v1/nodes';

interface Entry {
  id: string;
  timestamp: string;
  actorName: string | null;
  action: string;
  resourceType: string;
  resourceId: string;
  resourceName: string | null;
  summary: string;
}

describe('the activity', () => {
  const hawser = started(startHawser);
  let admin: Client;
  let node: NodeUnderTest;
  /** The id of the node that has been deleted. */
  let goneId: string;

  before(async () => {
    admin = hawser.admin;
    node = await hawser.registerNode('web-01.example.org');
    for (const name of ['web', 'db', 'gone']) {
      await ok(201, create(admin, name));
      await ok(200, publish(admin, name, '1.0.0'));
    }
    await ok(
      204,
      admin.put(`${NODES}/${node.nodeId}/configuration`, { configurationName: 'web', majorVersion: 1 }),
    );
    const typeId = await createScopeType(hawser, 'Environment');
    await tagNode(hawser, node.nodeId, await createScopeValue(hawser, typeId, 'production'));
    await ok(204, admin.delete(`${CONFIGURATIONS}/gone`));
    const other = await hawser.registerNode('old-01.example.org');
    goneId = other.nodeId;
    await ok(204, admin.delete(`${NODES}/${goneId}`));
    await saveParameters(hawser, {
      configuration: 'web',
      scopeType: 'Environment',
      value: 'production',
      content: 'parameters: {}',
    });
    await saveParameters(hawser, { configuration: 'db', content: 'parameters: {}' });
    await publishWithChildren(admin, 'farm', '1.0.0', ['web']);
    await ok(201, addVersion(admin, 'web', { version: '1.1.0' }));
    await ok(
      201,
      admin.call('PUT', fileOf('web', '1.1.0', 'docs/notes.txt'), {
        body: 'new',
        headers: { 'Content-Type': 'text/plain' },
      }),
    );
    await ok(200, admin.put(`${versionsOf('web')}/1.0.0/withdraw`, { reason: 'It breaks.' }));
  });

  const activity = (client: Client, query = '?take=1000'): Promise<Entry[]> =>
    ok(200, client.get(`${PATH}${query}`));
  const shortly = (entries: readonly Entry[]) =>
    entries.map(({ action, resourceName }) => `${action} ${resourceName}`);
  const summaries = (entries: readonly Entry[]) => entries.map(({ summary }) => summary);
  const kindsOf = (entries: readonly Entry[]) =>
    [...new Set(entries.map((entry) => `${entry.resourceType} ${entry.resourceName}`))].sort();

  it('tells in sentences what was done, the newest first', async () => {
    const entries = await activity(admin);
    expect(summaries(entries).slice(0, 8)).to.deep.equal([
      'Version 1.0.0 of web was withdrawn',
      'docs/notes.txt was saved in draft 1.1.0 of web',
      'Draft 1.1.0 of web was made',
      'Version 1.0.0 of farm was published',
      'web was added to draft 1.0.0 of farm',
      'Draft 1.0.0 of farm was made',
      'farm was created',
      'The parameters Default 1.0.0 of db were published',
    ]);
    expect(summaries(entries)).to.include.members([
      'web-01.example.org was registered',
      'web (major version 1) was assigned to web-01.example.org',
      'web-01.example.org was tagged with Environment production',
      'The parameters Environment/production 1.0.0 of web were published',
      'old-01.example.org was deleted',
    ]);
    const times = entries.map(({ timestamp }) => timestamp);
    expect(times).to.deep.equal([...times].sort().reverse());
  });

  it('has the ids, times and names of the audit trail, and nothing about other things', async () => {
    await hawser
      .client()
      .post(`${NODES}/register`, { registrationKey: 'wrong', fqdn: 'stranger.example.org' });
    const TYPES = ['Node', 'Configuration', 'Parameters', 'CompositeConfiguration'];
    const trail: (Omit<Entry, 'summary'> & { details: { name?: string; fqdn?: string } })[] = await ok(
      200,
      admin.get('/api/v1/audit?take=1000'),
    );
    const expected = trail
      .filter(({ action, resourceType }) => TYPES.includes(resourceType) && !action.endsWith('refused'))
      .map(({ id, timestamp, actorName, action, resourceType, resourceId, details }) => {
        // The entries of tags do not name the node.
        const resourceName = details.fqdn ?? details.name ?? node.fqdn;
        return {
          id,
          timestamp,
          actorName,
          action,
          resourceType,
          resourceId,
          resourceName,
          changeSetId: null,
        };
      });
    const entries = await activity(admin);
    expect(entries.map(({ summary: _summary, ...entry }) => entry)).to.deep.equal(expected);
    expect(JSON.stringify(entries)).to.not.match(/127\.0\.0\.1|stranger|Address|thumbprint|token|It breaks/);
  });

  it('is about what the caller may read, and about nodes for whoever may read those', async () => {
    const grantOf = (on: 'configuration' | 'composite' | 'parameters', name: string) =>
      ({ on, name, level: 'Read' }) as const;
    const seen = async (username: string, wish: Partial<Parameters<typeof makeUser>[1]>) =>
      kindsOf(await activity(await makeUser(hawser, { username, ...wish })));
    expect(await seen('nobody', {})).to.deep.equal([]);
    const nodes = ['Node old-01.example.org', 'Node web-01.example.org'];
    expect(await seen('viewer', { roles: ['Viewer'] })).to.deep.equal(nodes);
    expect(await seen('reader', { grants: [grantOf('configuration', 'web')] })).to.deep.equal([
      'Configuration web',
      'Parameters web',
    ]);
    expect(await seen('values', { grants: [grantOf('parameters', 'db')] })).to.deep.equal(['Parameters db']);
    expect(await seen('farmer', { grants: [grantOf('composite', 'farm')] })).to.deep.equal([
      'CompositeConfiguration farm',
    ]);
    expect(await seen('all-values', { permissions: ['parameters.admin-override'] })).to.deep.equal([
      'Parameters db',
      'Parameters web',
    ]);
    const configurations = [
      'Configuration db',
      'Configuration gone',
      'Configuration web',
      'Parameters db',
      'Parameters web',
    ];
    expect(await seen('author', { permissions: ['configurations.admin-override'] })).to.deep.equal(
      configurations,
    );
    expect(kindsOf(await activity(admin))).to.deep.equal(
      [...configurations, ...nodes, 'CompositeConfiguration farm'].sort(),
    );
  });

  it('is no more to a token than its scopes allow', async () => {
    const grants = [{ on: 'configuration', name: 'db', level: 'Manage' } as const];
    const person = await makeUser(hawser, { username: 'scripted', roles: ['Viewer'], grants });
    const seen = async (...scopes: string[]) => kindsOf(await activity(await person.withToken(...scopes)));
    expect(await seen('reports.read')).to.deep.equal([]);
    expect(await seen('configurations.grants')).to.deep.equal(['Configuration db', 'Parameters db']);
    expect(await seen('nodes.read')).to.have.length(2);
  });

  it('ends with a right, and begins with one', async () => {
    const person = await makeUser(hawser, { username: 'late' });
    const holder = { principalType: 'User', principalId: person.userId };
    expect(await activity(person)).to.deep.equal([]);
    await ok(204, admin.put(`${CONFIGURATIONS}/db/permissions`, { ...holder, level: 'Modify' }));
    const entries = await activity(person);
    expect(summaries(entries)[0]).to.equal('A user was given Modify on db');
    expect(shortly(entries)).to.include('configuration.created db');
    await ok(204, admin.delete(`${CONFIGURATIONS}/db/permissions/User/${person.userId}`));
    expect(await activity(person)).to.deep.equal([]);
    expect(summaries(await activity(admin))[0]).to.equal('A user lost Modify on db');
    expect(JSON.stringify(await activity(admin)))
      .to.not.include(person.userId)
      .and.not.include('late');
  });

  it('is paged by the id of the last entry', async () => {
    const all = await activity(admin);
    const found: Entry[] = [];
    for (let query = '?take=7'; ; ) {
      const page = await activity(admin, query);
      found.push(...page);
      if (page.length < 7) break;
      query = `?take=7&before=${page.at(-1)?.id.toUpperCase()}`;
    }
    expect(found).to.deep.equal(all);
    const last = all.at(-1)?.id;
    expect(await activity(admin, `?before=${last}`)).to.deep.equal([]);
    expect((await activity(admin, '')).length).to.equal(Math.min(100, all.length));
    const reply = await admin.get(PATH);
    expect(reply.headers).to.not.have.any.keys('x-total-count', 'link');
  });

  it('refuses what names no entry that the caller sees, and what it does not know', async () => {
    const person = await makeUser(hawser, {
      username: 'narrow',
      grants: [{ on: 'configuration', name: 'db', level: 'Read' }],
    });
    const hidden = (await activity(admin)).find(({ resourceName }) => resourceName === 'farm');
    const [session] = await ok(200, admin.get('/api/v1/audit?resourceType=User&take=1'));
    for (const before of [newId(), 'nonsense', '', hidden?.id, session.id]) {
      const { json } = await expectProblem(person.get(`${PATH}?before=${before}`), 400, 'validation_failed');
      expect(json.errors[0].path).to.equal('/before');
    }
    await expectProblem(admin.get(`${PATH}?before=${session.id}`), 400, 'validation_failed');
    for (const query of ['skip=1', 'take=0', 'take=1001', 'from=2026-01-01T00:00:00Z', 'before=%00'])
      await expectProblem(admin.get(`${PATH}?${query}`), 400, 'validation_failed', query);
  });

  it('of little is found among very much, and of much in pages', async () => {
    const reader = await makeUser(hawser, {
      username: 'patient',
      grants: [{ on: 'configuration', name: 'web', level: 'Read' }],
    });
    const before = await activity(reader);
    const overrider = await makeUser(hawser, {
      username: 'overrider',
      permissions: ['composite-configurations.admin-override'],
    });
    const resources = Array.from({ length: 300 }, newId);
    const kind = { action: 'composite.created', resource_type: 'CompositeConfiguration' };
    await addEntries(
      hawser,
      Array.from({ length: 6_000 }, (_, index) => ({
        ...{ ...kind, actor_name: 'somebody', resource_id: resources[index % 300] ?? null },
        timestamp: Date.now() + Math.floor(index / 3),
      })),
    );
    expect(await activity(reader)).to.deep.equal(before);
    const seen: Entry[] = [];
    for (let query = '?take=1000'; ; ) {
      const page = await activity(overrider, query);
      seen.push(...page);
      if (page.length < 1_000) break;
      query = `?take=1000&before=${page.at(-1)?.id}`;
    }
    expect(new Set(seen.map(({ id }) => id)).size).to.equal(seen.length);
    const many = seen.filter(({ actorName }) => actorName === 'somebody');
    expect(many).to.have.length(6_000);
    expect(many[0]).to.include({
      resourceName: null,
      summary: 'A deleted composite configuration was created',
    });
  });
});
