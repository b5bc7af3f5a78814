// full: SQLite
import { expect } from 'chai';
import {
  type Entry,
  entriesDuring,
  entriesOf,
  expectNoEntry,
  onlyEntry,
  shortly,
} from '../support/audit-table.ts';
import type { Client, Reply } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish, versionsOf } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { startHawser } from '../support/hawser.ts';
import { grant, makeUser, type Person } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const configurationOf = (name: string) => `${CONFIGURATIONS}/${name}`;
const settingsOf = (name: string) => `${configurationOf(name)}/settings`;
const retentionOf = (name: string) => `${settingsOf(name)}/retention`;
const grantsOf = (name: string) => `${configurationOf(name)}/permissions`;
const SERVER = '/api/v1/settings/validation';
const FORM = { form: { files: { [MAIN]: '$schema: x\nresources: [] # other\n' } } };

describe('the audit trail of changes', () => {
  const hawser = started(startHawser);
  let ada: Person;
  let bob: Person;

  before(async () => {
    ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
    bob = await makeUser(hawser, { username: 'bob', roles: ['Viewer'] });
  });

  /** Makes a configuration of ada's and gives its id. */
  const made = async (name: string): Promise<string> => (await ok(201, create(ada.client, name))).id;
  const told = (action: string, id: string, details: object) => ({
    action: `configuration.${action}`,
    resource_type: 'Configuration',
    resource_id: id,
    details,
  });
  const entryOf = (client: Client, call: (client: Client) => Promise<Reply>) =>
    onlyEntry(hawser, client, call);
  const expectNoEntries = async (status: number, ...calls: (() => Promise<Reply>)[]) => {
    for (const call of calls) await expectNoEntry(hawser, status, call);
  };

  it('tells who created a configuration, from where, when and in which request', async () => {
    const before = Date.now();
    const fields = { description: 'For the web', version: '0.1.0' };
    const entry = await entryOf(ada.client, (client) => create(client, 'who', fields));
    const { id } = await ok(200, ada.client.get(configurationOf('who')));
    expect(entry).to.include({ actor_type: 'User', actor_id: ada.userId, actor_name: 'ada' });
    expect(entry.ip_address).to.match(/^(::ffff:)?127\.0\.0\.1$|^::1$/);
    expect(entry.timestamp).to.be.within(before, Date.now());
    expect(shortly(entry)).to.deep.equal(
      told('created', id, {
        name: 'who',
        description: 'For the web',
        useServerManagedParameters: true,
        version: '0.1.0',
        commit: hawser.git('configurations/who.git', 'rev-parse', 'draft/0.1.0').trim(),
      }),
    );
  });

  it('names the token that was used', async () => {
    const client = await ada.withToken('configurations.create', 'configurations.grants');
    const [token] = await ok(200, ada.client.get('/api/v1/auth/tokens'));
    const entry = await entryOf(client, (caller) => create(caller, 'by-token'));
    expect(entry).to.include({ actor_type: 'User', actor_id: ada.userId, actor_name: 'ada' });
    expect(entry.details).to.include({ name: 'by-token', tokenId: token.id });
    const published = await entryOf(client, (caller) => publish(caller, 'by-token', '1.0.0'));
    expect(published.details).to.include({ version: '1.0.0', tokenId: token.id });
  });

  it('has every change of a version, with its commit', async () => {
    const id = await made('steps');
    const version = `${versionsOf('steps')}/2.0.0`;
    const commitNow = async () => (await ok(200, ada.client.get(version))).commit;
    const expectEntry = (entry: Entry, action: string, commit: unknown) =>
      expect(shortly(entry)).to.deep.equal(told(action, id, { name: 'steps', version: '2.0.0', commit }));
    const created = await entryOf(ada.client, (client) => addVersion(client, 'steps', { version: '2.0.0' }));
    const first = await commitNow();
    expectEntry(created, 'version_created', first);
    const replaced = await entryOf(ada.client, (client) => client.call('PUT', version, FORM));
    const second = await commitNow();
    expect(second).to.not.equal(first);
    expectEntry(replaced, 'version_replaced', { from: first, to: second });
    expectEntry(await entryOf(ada.client, (client) => client.delete(version)), 'version_deleted', second);
    await ok(201, addVersion(ada.client, 'steps', { version: '2.0.0' }));
    const published = await entryOf(ada.client, (client) => client.put(`${version}/publish`));
    expectEntry(published, 'version_published', await commitNow());
    expect(hawser.git('configurations/steps.git', 'rev-parse', 'v2.0.0^{commit}').trim()).to.equal(
      published.details.commit,
    );
  });

  it('has old and new values of description and flags', async () => {
    const id = await made('flags');
    const change = { description: 'new', useServerManagedParameters: false };
    const patch = (client: Client, json: unknown) => client.call('PATCH', configurationOf('flags'), { json });
    const entry = await entryOf(ada.client, (client) => patch(client, change));
    expect(shortly(entry)).to.deep.equal(
      told('updated', id, {
        name: 'flags',
        description: { from: null, to: 'new' },
        useServerManagedParameters: { from: true, to: false },
      }),
    );
    const { updatedAt } = await ok(200, ada.client.get(configurationOf('flags')));
    hawser.clock.advance(1_000);
    const again = () => patch(ada.client, change);
    await expectNoEntries(
      200,
      again,
      () => patch(ada.client, {}),
      () => patch(ada.client, { description: 'new' }),
    );
    expect((await ok(200, again())).updatedAt).to.equal(updatedAt);
    const { details } = await entryOf(ada.client, (client) =>
      patch(client, { ...change, description: null }),
    );
    expect(details).to.deep.equal({ name: 'flags', description: { from: 'new', to: null } });
  });

  it("has a configuration's own settings and retention, and nothing where they stay", async () => {
    const id = await made('own');
    const [settings, retention] = [settingsOf('own'), retentionOf('own')];
    const { client } = ada;
    const expectEntry = async (call: (client: Client) => Promise<Reply>, action: string, details: object) =>
      expect(shortly(await entryOf(client, call))).to.deep.equal(
        told(action, id, { name: 'own', ...details }),
      );
    await expectNoEntries(
      204,
      () => client.delete(settings),
      () => client.delete(retention),
    );
    await expectNoEntries(
      200,
      () => client.put(settings, { requireSemVer: null }),
      () => client.put(retention, {}),
    );
    const loose = { requireSemVer: false };
    await expectEntry((caller) => caller.put(settings, loose), 'settings_changed', {
      requireSemVer: { from: null, to: false },
    });
    const kept = { enabled: true, keepVersions: 3 };
    await expectEntry((caller) => caller.put(retention, kept), 'retention_changed', {
      enabled: { from: null, to: true },
      keepVersions: { from: null, to: 3 },
    });
    await expectNoEntries(
      200,
      () => client.put(settings, loose),
      () => client.put(retention, kept),
    );
    await expectEntry((caller) => caller.put(retention, { ...kept, keepVersions: 4 }), 'retention_changed', {
      keepVersions: { from: 3, to: 4 },
    });
    await expectEntry((caller) => caller.delete(settings), 'settings_changed', {
      requireSemVer: { from: false, to: null },
    });
    await expectEntry((caller) => caller.delete(retention), 'retention_changed', {
      enabled: { from: true, to: null },
      keepVersions: { from: 4, to: null },
    });
    await expectNoEntries(
      204,
      () => client.delete(settings),
      () => client.delete(retention),
    );
  });

  it('has each grant with the level before it', async () => {
    const id = await made('granted');
    const holder = { principalType: 'User', principalId: bob.userId };
    const put = (level: string) => (client: Client) => client.put(grantsOf('granted'), { ...holder, level });
    const revoke = (client: Client) => client.delete(`${grantsOf('granted')}/User/${bob.userId}`);
    const expectEntry = async (call: (client: Client) => Promise<Reply>, action: string, levels: object) =>
      expect(shortly(await entryOf(ada.client, call))).to.deep.equal(
        told(action, id, { name: 'granted', ...holder, ...levels }),
      );
    await expectEntry(put('Read'), 'granted', { level: 'Read', before: null });
    const grants = await ok(200, ada.client.get(grantsOf('granted')));
    hawser.clock.advance(1_000);
    await expectNoEntries(
      204,
      () => put('Read')(ada.client),
      () => put('read')(hawser.admin),
    );
    expect(await ok(200, ada.client.get(grantsOf('granted')))).to.deep.equal(grants);
    await expectEntry(put('Manage'), 'granted', { level: 'Manage', before: 'Read' });
    await expectEntry(revoke, 'grant_revoked', { level: null, before: 'Manage' });
    await expectNoEntries(404, () => revoke(ada.client));
  });

  it('has nothing of what was refused', async () => {
    await made('refused');
    await ok(200, publish(ada.client, 'refused', '1.0.0'));
    const [{ client }, version] = [ada, `${versionsOf('refused')}/1.0.0`];
    await expectNoEntries(
      409,
      () => create(client, 'REFUSED'),
      () => client.put(`${version}/publish`),
      () => client.delete(version),
    );
    await expectNoEntries(
      400,
      () => client.call('PATCH', configurationOf('refused'), { json: { description: 1 } }),
      () => hawser.admin.put(SERVER, { requireSemVer: 1 }),
    );
    await expectNoEntries(
      404,
      () => bob.client.delete(configurationOf('refused')),
      () => client.delete(configurationOf('nothing')),
    );
    await grant(hawser, bob, 'refused', 'Read');
    await expectNoEntries(
      403,
      () => create(bob.client, 'refused-too'),
      () => bob.client.delete(configurationOf('refused')),
    );
    await ok(200, hawser.admin.put(SERVER, { allowConfigurationOverride: false }));
    await expectNoEntries(409, () => client.put(settingsOf('refused'), { requireSemVer: false }));
  });

  it('keeps the order of changes when many are made at once', async () => {
    const id = await made('many');
    const { entries } = await entriesDuring(hawser, async () => {
      const wishes = Array.from({ length: 20 }, () => addVersion(ada.client, 'many'));
      for (const reply of await Promise.all(wishes)) await ok(201, reply);
    });
    expect(entries.map((entry) => entry.resource_id)).to.deep.equal(Array(20).fill(id));
    // Each took the next patch, so the versions tell in which order they were made.
    expect(entries.map((entry) => entry.details.version)).to.deep.equal(
      Array.from({ length: 20 }, (_, at) => `1.0.${at + 1}`),
    );
  });

  it('keeps what was written of a configuration that is deleted, over a restart too', async () => {
    const id = await made('short-lived');
    await ok(200, publish(ada.client, 'short-lived', '1.0.0'));
    const entry = await entryOf(ada.client, (client) => client.delete(configurationOf('short-lived')));
    expect(shortly(entry)).to.deep.equal(told('deleted', id, { name: 'short-lived' }));
    const before = await entriesOf(hawser);
    await hawser.restart();
    const after = await entriesOf(hawser);
    expect(after).to.deep.equal(before);
    expect(after.filter((of) => of.resource_id === id).map((of) => of.action)).to.deep.equal([
      'configuration.created',
      'configuration.version_published',
      'configuration.deleted',
    ]);
  });

  itOnSqlite('names the server itself where its start adopts a repository', async () => {
    await ok(201, create(hawser.admin, 'lost'));
    const { id } = await ok(200, hawser.admin.get(configurationOf('lost')));
    await withDatabase(hawser, ({ write }) =>
      write.deleteFrom('configurations').where('id', '=', id).execute(),
    );
    const { entries } = await entriesDuring(hawser, () => hawser.restart());
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({
      ...{ actor_type: 'System', actor_id: null, actor_name: 'hawser' },
      ...{ action: 'configuration.adopted', resource_type: 'Configuration', resource_id: id },
      ...{ ip_address: null, request_id: null },
    });
    expect(entries[0]?.details).to.include({ name: 'lost' });
    expect((await entriesDuring(hawser, () => hawser.restart())).entries).to.deep.equal([]);
  });
});
