// full: SQLite
import { expect } from 'chai';
import { newId } from '../../src/lib/ids.ts';
import { entriesDuring, entriesOf, expectNoEntry, onlyEntry, shortly } from '../support/audit-table.ts';
import type { Client, Reply } from '../support/client.ts';
import {
  addChild,
  addCompositeDraft,
  childrenOf,
  compositeOf,
  compositeVersionOf,
  createComposite,
  publishComposite,
} from '../support/composites.ts';
import { create, MAIN } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { itOnSqlite } from '../support/engine.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { grant, makeUser, type Person } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

describe('the audit trail of composites', () => {
  const hawser = started(startHawser);
  let ada: Person;
  let bob: Person;

  before(async () => {
    ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
    bob = await makeUser(hawser, { username: 'bob', roles: ['Viewer'] });
    for (const name of ['a', 'b']) {
      await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: `${name}\n` } });
      for (const person of [ada, bob]) await grant(hawser, person, name, 'Read');
    }
    await ok(201, create(ada.client, 'unpublished'));
  });

  /** Makes a composite of ada's with an empty draft 1.0.0 and gives its id. */
  const made = async (name: string): Promise<string> => {
    const { id } = await ok(201, createComposite(ada.client, name));
    await ok(201, addCompositeDraft(ada.client, name, '1.0.0'));
    return id;
  };
  const expectNoEntries = async (status: number, ...calls: (() => Promise<Reply>)[]) => {
    for (const call of calls) await expectNoEntry(hawser, status, call);
  };
  /** Ada's call and what there is of it, all of one composite. */
  const expecting =
    (id: string, name: string) =>
    async (action: string, call: (client: Client) => Promise<Reply>, details: object) => {
      const entry = await onlyEntry(hawser, ada.client, call);
      expect(entry).to.include({ actor_type: 'User', actor_id: ada.userId, actor_name: 'ada' });
      expect(entry.ip_address).to.match(/127\.0\.0\.1$|^::1$/);
      expect(shortly(entry)).to.deep.equal({
        action: `composite.${action}`,
        resource_type: 'CompositeConfiguration',
        resource_id: id,
        details: { name, ...details },
      });
    };

  it('has their creation, versions and end', async () => {
    const created = await onlyEntry(hawser, ada.client, (client) =>
      createComposite(client, 'site', { description: 'All of it', entryPoint: 'all.dsc.yaml' }),
    );
    const { id } = await ok(200, ada.client.get(compositeOf('site')));
    expect(shortly(created)).to.deep.equal({
      action: 'composite.created',
      resource_type: 'CompositeConfiguration',
      resource_id: id,
      details: { name: 'site', description: 'All of it', entryPoint: 'all.dsc.yaml' },
    });
    const expectEntry = expecting(id, 'site');
    const version = '1.0.0';
    const head = (ref: string) => hawser.git('composites/site.git', 'rev-parse', `${ref}^{commit}`).trim();
    const { entries } = await entriesDuring(hawser, () => addCompositeDraft(ada.client, 'site', version));
    expect(entries.map(shortly)).to.deep.equal([
      {
        action: 'composite.version_created',
        resource_type: 'CompositeConfiguration',
        resource_id: id,
        details: { name: 'site', version, commit: head('draft/1.0.0') },
      },
    ]);
    const commit = head('draft/1.0.0');
    const draft = compositeVersionOf('site', version);
    await expectEntry('version_deleted', (client) => client.delete(draft), { version, commit });
    await ok(201, addCompositeDraft(ada.client, 'site', version));
    await ok(201, addChild(ada.client, 'site', version, 'a'));
    const published = await onlyEntry(hawser, ada.client, (client) =>
      publishComposite(client, 'site', version),
    );
    expect(published.action).to.equal('composite.version_published');
    expect(published.details).to.deep.equal({ name: 'site', version, commit: head('v1.0.0') });
    await expectEntry('deleted', (client) => client.delete(compositeOf('site')), {});
    const kept = (await entriesOf(hawser)).filter((entry) => entry.resource_id === id);
    expect(kept.map((entry) => entry.action.replace('composite.', ''))).to.deep.equal([
      ...['created', 'version_created', 'version_deleted', 'version_created', 'child_added'],
      ...['version_published', 'deleted'],
    ]);
  });

  it('has their children, with what changed of them, and nothing where nothing did', async () => {
    const id = await made('children');
    const version = '1.0.0';
    const head = () => hawser.git('composites/children.git', 'rev-parse', 'draft/1.0.0').trim();
    let from = head();
    /** Every change of the children is a commit, which the entry names beside the one before it. */
    const expectEntry = (action: string, call: (client: Client) => Promise<Reply>, details: object) => {
      const told = { ...details, commit: { from, to: '' } };
      const calling = async (client: Client) => {
        const reply = await call(client);
        told.commit.to = head();
        from = told.commit.to;
        return reply;
      };
      return expecting(id, 'children')(action, calling, told);
    };
    const added = await onlyEntry(hawser, ada.client, (client) =>
      addChild(client, 'children', version, 'a', { order: 2 }),
    );
    const afterAdding = { from, to: head() };
    from = afterAdding.to;
    const [item] = (await ok(200, ada.client.get(compositeVersionOf('children', version)))).items;
    const child = { version, childId: item.id, childConfigurationName: 'a' };
    expect(shortly(added)).to.deep.equal({
      action: 'composite.child_added',
      resource_type: 'CompositeConfiguration',
      resource_id: id,
      details: { name: 'children', ...child, activeVersion: null, order: 2, commit: afterAdding },
    });
    const address = `${childrenOf('children', version)}/${item.id}`;
    const put = (json: unknown) => (client: Client) => client.put(address, json);
    await expectEntry('child_changed', put({ activeVersion: '1.0.0' }), {
      ...child,
      activeVersion: { from: null, to: '1.0.0' },
    });
    const pinned = { activeVersion: '1.0.0', order: 2 };
    const { commit } = await ok(200, ada.client.get(compositeVersionOf('children', version)));
    hawser.clock.advance(2_000);
    await expectNoEntries(
      200,
      () => put(pinned)(ada.client),
      () => put({})(ada.client),
    );
    expect((await ok(200, put({ order: 2 })(ada.client))).activeVersion).to.equal('1.0.0');
    expect((await ok(200, ada.client.get(compositeVersionOf('children', version)))).commit).to.equal(commit);
    await expectEntry('child_changed', put({ activeVersion: null, order: 0 }), {
      ...child,
      activeVersion: { from: '1.0.0', to: null },
      order: { from: 2, to: 0 },
    });
    await expectEntry('child_removed', (client) => client.delete(address), {
      ...child,
      activeVersion: null,
      order: 0,
    });
  });

  it('has their grants', async () => {
    const id = await made('granted');
    const expectEntry = expecting(id, 'granted');
    const holder = { principalType: 'User', principalId: bob.userId };
    const grants = `${compositeOf('granted')}/permissions`;
    const put = (level: string) => (client: Client) => client.put(grants, { ...holder, level });
    await expectEntry('granted', put('Modify'), { ...holder, level: 'Modify', before: null });
    await expectNoEntries(204, () => put('Modify')(ada.client));
    const revoke = (client: Client) => client.delete(`${grants}/User/${bob.userId}`);
    await expectEntry('grant_revoked', revoke, { ...holder, level: null, before: 'Modify' });
    await expectNoEntries(404, () => revoke(ada.client));
  });

  it('has nothing of what was refused', async () => {
    await made('refused');
    const { client } = ada;
    const item = await ok(201, addChild(client, 'refused', '1.0.0', 'a'));
    const children = childrenOf('refused', '1.0.0');
    await expectNoEntries(
      409,
      () => createComposite(client, 'Refused'),
      () => addChild(client, 'refused', '1.0.0', 'a'),
    );
    await expectNoEntries(
      400,
      () => addCompositeDraft(client, 'refused', 'v1'),
      () => client.put(`${children}/${item.id}`, { activeVersion: '9.9.9' }),
    );
    await expectNoEntries(
      404,
      () => client.delete(`${children}/${newId()}`),
      () => bob.client.delete(compositeOf('refused')),
    );
    await ok(201, addChild(client, 'refused', '1.0.0', 'unpublished'));
    await expectNoEntries(409, () => publishComposite(client, 'refused', '1.0.0'));
  });

  itOnSqlite('names the server itself where its start adopts one', async () => {
    const id = await made('lost');
    await withDatabase(hawser, ({ write }) => write.deleteFrom('composites').where('id', '=', id).execute());
    const { entries } = await entriesDuring(hawser, () => hawser.restart());
    expect(entries).to.have.length(1);
    expect(entries[0]).to.include({
      ...{ actor_type: 'System', actor_id: null, actor_name: 'hawser' },
      ...{ action: 'composite.adopted', resource_type: 'CompositeConfiguration', resource_id: id },
      ...{ ip_address: null, request_id: null },
    });
    expect(entries[0]?.details).to.include({ name: 'lost' });
  });
});
