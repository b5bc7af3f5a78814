// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { isId } from '../../src/lib/ids.ts';
import type { Reply } from '../support/client.ts';
import {
  addChild,
  addCompositeDraft,
  childrenOf,
  compositeVersionOf,
  createComposite,
  publishComposite,
} from '../support/composites.ts';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  MAIN,
  publish,
  release,
  versionsOf,
} from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { grant, makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const UNKNOWN = '3f0e0000-0000-4000-8000-000000000000';

interface Item {
  id: string;
  childConfigurationName: string;
  order: number;
}

describe('the children of a composite', () => {
  const hawser = started(startHawser);
  let ada: Person;
  let draft = 0;

  before(async () => {
    ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
    for (const name of ['a', 'b', 'c', 'zz']) {
      await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: `${name}\n` } });
    }
    await ok(201, addVersion(hawser.admin, 'a', { version: '1.1.0' }));
    await ok(201, create(hawser.admin, 'unpublished'));
    await ok(201, createComposite(hawser.admin, 'site'));
  });

  /** A new empty draft of `site`. */
  const newDraft = async () => {
    draft += 1;
    const version = `${draft}.0.0`;
    await ok(201, addCompositeDraft(hawser.admin, 'site', version));
    return version;
  };
  const add = (version: string, child: string, more: Record<string, unknown> = {}) =>
    addChild(hawser.admin, 'site', version, child, more);
  const itemsOf = async (version: string): Promise<Item[]> =>
    (await ok(200, hawser.admin.get(compositeVersionOf('site', version)))).items;
  const namesOf = async (version: string) =>
    (await itemsOf(version)).map((item) => `${item.childConfigurationName} ${item.order}`);
  const itemAt = (version: string, id: string) => `${childrenOf('site', version)}/${id}`;

  it('are added with all their members, floating and behind the others by default', async () => {
    const version = await newDraft();
    const configuration = await ok(200, hawser.admin.get(`${CONFIGURATIONS}/a`));
    const reply = await add(version, 'a');
    expect(reply.status, reply.text).to.equal(201);
    const { id, ...rest } = reply.json;
    expect(isId(id)).to.equal(true);
    expect(reply.headers['location']).to.equal(itemAt(version, id));
    expect(rest).to.deep.equal({
      childConfigurationId: configuration.id,
      childConfigurationName: 'a',
      activeVersion: null,
      majorVersion: null,
      order: 0,
      pinnedToWithdrawn: false,
    });
    expect(await itemsOf(version)).to.deep.equal([reply.json]);
    expect((await ok(201, add(version, 'b', { activeVersion: null, order: null }))).order).to.equal(1);
    expect((await ok(201, add(version, 'c', { order: 7 }))).order).to.equal(7);
    expect((await ok(201, add(version, 'zz'))).order).to.equal(8);
    const { id: _, ...document } = JSON.parse(
      hawser.git('composites/site.git', 'show', `draft/${version}:composite.json`),
    ).children[0];
    expect(document).to.deep.equal({ configuration: 'a', version: null, order: 0 });
  });

  it('stand by order, and by name where that is equal', async () => {
    const version = await newDraft();
    await ok(201, add(version, 'zz', { order: 1 }));
    await ok(201, add(version, 'c', { order: 0 }));
    await ok(201, add(version, 'b', { order: 1 }));
    await ok(201, add(version, 'a', { order: 1 }));
    expect(await namesOf(version)).to.deep.equal(['c 0', 'a 1', 'b 1', 'zz 1']);
    const [first, , , last] = await itemsOf(version);
    await ok(200, hawser.admin.put(itemAt(version, first?.id ?? ''), { order: 2 }));
    await ok(200, hawser.admin.put(itemAt(version, last?.id ?? ''), { order: 0 }));
    expect(await namesOf(version)).to.deep.equal(['zz 0', 'a 1', 'b 1', 'c 2']);
    const published = await ok(200, publishComposite(hawser.admin, 'site', version));
    expect(published.items.map((item: Item) => item.childConfigurationName)).to.deep.equal([
      'zz',
      'a',
      'b',
      'c',
    ]);
  });

  it('take any order from 0 that JSON can write exactly', async () => {
    const version = await newDraft();
    const highest = Number.MAX_SAFE_INTEGER;
    expect((await ok(201, add(version, 'b', { order: highest }))).order).to.equal(highest);
    expect((await ok(201, add(version, 'a'))).order).to.equal(highest);
    expect(await namesOf(version)).to.deep.equal([`a ${highest}`, `b ${highest}`]);
    for (const order of [-1, 0.5, '1', true, 2 ** 53, [], {}]) {
      await expectProblem(add(version, 'c', { order }), 400, 'validation_failed', String(order));
      const [item] = await itemsOf(version);
      const changed = hawser.admin.put(itemAt(version, item?.id ?? ''), { order });
      await expectProblem(changed, 400, 'validation_failed', String(order));
    }
  });

  it('are pinned to any version that exists, and to no other', async () => {
    const version = await newDraft();
    const item = await ok(201, add(version, 'a', { activeVersion: '1.1.0' }));
    expect(item.activeVersion).to.equal('1.1.0');
    for (const activeVersion of ['9.9.9', 'v1.0.0', '', 'latest', '1.0.0+x', '../x', 7, {}]) {
      const replies = [
        await add(version, 'b', { activeVersion }),
        await hawser.admin.put(itemAt(version, item.id), { activeVersion }),
      ];
      for (const reply of replies) {
        await expectProblem(reply, 400, 'validation_failed', String(activeVersion));
        expect(reply.json.errors[0].path).to.equal('/activeVersion');
      }
    }
    expect(await itemsOf(version)).to.deep.equal([item]);
  });

  it('of versions that are no SemVer, where the configuration allows them', async () => {
    await ok(201, create(hawser.admin, 'seasonal'));
    await ok(200, hawser.admin.put(`${CONFIGURATIONS}/seasonal/settings`, { requireSemVer: false }));
    await release(hawser.admin, 'seasonal', '2026_spring');
    const version = await newDraft();
    const item = await ok(201, add(version, 'seasonal', { activeVersion: '2026_spring' }));
    expect(item.activeVersion).to.equal('2026_spring');
    await ok(200, publishComposite(hawser.admin, 'site', version));
    await expectProblem(addCompositeDraft(hawser.admin, 'site', '2026_spring'), 400, 'validation_failed');
  });

  it('follow one major where they are told to, which a version excludes', async () => {
    const version = await newDraft();
    const item = await ok(201, add(version, 'a', { majorVersion: 1 }));
    expect(item).to.include({ activeVersion: null, majorVersion: 1 });
    const { id, order } = item;
    const stored = { id, configuration: 'a', version: null, majorVersion: 1, order };
    const file = hawser.git('composites/site.git', 'show', `draft/${version}:composite.json`);
    expect(JSON.parse(file).children).to.deep.equal([stored]);
    const change = (body: unknown) => hawser.admin.put(itemAt(version, id), body);
    const changed = async (body: unknown) => {
      const { activeVersion, majorVersion } = await ok(200, change(body));
      return [activeVersion, majorVersion];
    };
    expect(await changed({ order: 3 })).to.deep.equal([null, 1]);
    expect(await changed({ activeVersion: null })).to.deep.equal([null, 1]);
    expect(await changed({ activeVersion: '1.1.0' })).to.deep.equal(['1.1.0', null]);
    expect(await changed({ majorVersion: 2 })).to.deep.equal([null, 2]);
    expect(await changed({ majorVersion: null })).to.deep.equal([null, null]);
    for (const majorVersion of [-1, 0.5, '1', 2 ** 53])
      for (const reply of [await add(version, 'b', { majorVersion }), await change({ majorVersion })]) {
        await expectProblem(reply, 400, 'validation_failed', String(majorVersion));
        expect(reply.json.errors[0].path).to.equal('/majorVersion');
      }
    const both = { activeVersion: '1.0.0', majorVersion: 1 };
    for (const reply of [await add(version, 'b', both), await change(both)]) {
      await expectProblem(reply, 400, 'validation_failed');
      expect(reply.json.errors[0].path).to.equal('/majorVersion');
    }
    await ok(200, change({ majorVersion: 7 }));
    const refused = await publishComposite(hawser.admin, 'site', version);
    await expectProblem(refused, 409, 'unpublished_child');
    expect(refused.json.detail).to.include('no published version of major 7');
    await ok(200, change({ majorVersion: 1 }));
    await ok(200, publishComposite(hawser.admin, 'site', version));
    await expectProblem(change({ majorVersion: 2 }), 409, 'published_version');
  });

  it('are changed in one member or both, keep their id, and are taken out', async () => {
    const version = await newDraft();
    const item = await ok(201, add(version, 'a', { activeVersion: '1.0.0', order: 4 }));
    const path = itemAt(version, item.id);
    const change = (body: unknown) => ok(200, hawser.admin.put(path, body));
    expect(await change({ activeVersion: '1.1.0', order: 5 })).to.deep.equal({
      ...item,
      activeVersion: '1.1.0',
      order: 5,
    });
    expect(await change({ order: 6 })).to.include({ activeVersion: '1.1.0', order: 6 });
    expect(await change({ activeVersion: '1.0.0' })).to.include({ activeVersion: '1.0.0', order: 6 });
    expect(await change({ activeVersion: null })).to.include({ activeVersion: null, order: 6 });
    expect(await change({})).to.include({ id: item.id, activeVersion: null, order: 6 });
    await expectProblem(hawser.admin.put(path, { more: 1 }), 400, 'validation_failed');
    await expectProblem(hawser.admin.put(path, { childConfigurationName: 'b' }), 400, 'validation_failed');
    await ok(204, hawser.admin.delete(`${path}/`));
    expect(await itemsOf(version)).to.deep.equal([]);
    await expectProblem(hawser.admin.delete(path), 404, 'not_found');
    await expectProblem(hawser.admin.put(path, { order: 1 }), 404, 'not_found');
    const again = await ok(201, add(version, 'a'));
    expect(again).to.include({ order: 0 }).and.to.not.include({ id: item.id });
  });

  it('are named by the id of the item, and nothing else', async () => {
    const version = await newDraft();
    const item = await ok(201, add(version, 'a'));
    const other = await newDraft();
    const elsewhere = await ok(201, add(other, 'a'));
    const wrong = [
      UNKNOWN,
      'x',
      '%2e%2e',
      item.id.toUpperCase(),
      item.childConfigurationId,
      elsewhere.id,
      'a',
    ];
    for (const id of wrong) {
      await expectProblem(hawser.admin.put(itemAt(version, id), { order: 1 }), 404, 'not_found', id);
      await expectProblem(hawser.admin.delete(itemAt(version, id)), 404, 'not_found', id);
    }
    expect(await itemsOf(version)).to.deep.equal([item]);
  });

  it('are configurations: a composite is refused, an unknown name is 404', async () => {
    const version = await newDraft();
    await ok(201, createComposite(hawser.admin, 'other'));
    await ok(201, createComposite(hawser.admin, 'b'));
    await expectProblem(add(version, 'other'), 400, 'nested_composite');
    await expectProblem(add(version, 'site'), 400, 'nested_composite');
    // A configuration of this name exists too, and it is meant.
    await ok(201, add(version, 'b'));
    for (const name of ['nothing', 'A', '..', '../a', 'a.git', 'ä', 'a/b']) {
      await expectProblem(add(version, name), 404, 'not_found', name);
    }
    for (const name of ['', null, 7, undefined, 'x'.repeat(129)]) {
      const reply = hawser.admin.post(childrenOf('site', version), { childConfigurationName: name });
      await expectProblem(reply, 400, 'validation_failed', String(name));
    }
    const more = hawser.admin.post(childrenOf('site', version), { childConfigurationName: 'a', id: UNKNOWN });
    await expectProblem(more, 400, 'validation_failed');
    await expectProblem(add('77.0.0', 'a'), 404, 'not_found');
    await expectProblem(addChild(hawser.admin, 'nothing', '1.0.0', 'a'), 404, 'not_found');
    expect(await namesOf(version)).to.deep.equal(['b 0']);
  });

  it('stand in it once, also when twenty add one at once', async () => {
    const version = await newDraft();
    const replies: Reply[] = await Promise.all(Array.from({ length: 20 }, () => add(version, 'a')));
    expect(replies.filter(({ status }) => status === 201)).to.have.length(1);
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      await expectProblem(reply, 409, 'child_exists');
    }
    expect(await namesOf(version)).to.deep.equal(['a 0']);
    await expectProblem(add(version, 'a', { activeVersion: '1.0.0', order: 3 }), 409, 'child_exists');
    await Promise.all(['b', 'c', 'zz'].map(async (name) => ok(201, add(version, name))));
    expect((await itemsOf(version)).map(({ order }) => order)).to.deep.equal([0, 1, 2, 3]);
  });

  it('never stand where the entry point stands, in any case', async () => {
    const children = ['main.dsc.yaml', 'Main', 'STRASSE'];
    for (const name of children) await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: 'x' } });
    const cases: [entryPoint: string, child: string][] = [
      ['main.dsc.yaml', 'main.dsc.yaml'],
      ['MAIN.dsc.YAML', 'main.dsc.yaml'],
      ['main/start.yaml', 'Main'],
      ['straße', 'STRASSE'],
    ];
    for (const [at, [entryPoint, child]] of cases.entries()) {
      await ok(201, createComposite(hawser.admin, `reserved-${at}`, { entryPoint }));
      await ok(201, addCompositeDraft(hawser.admin, `reserved-${at}`, '1.0.0'));
      const reply = addChild(hawser.admin, `reserved-${at}`, '1.0.0', child);
      await expectProblem(reply, 409, 'reserved_path', entryPoint);
      await ok(201, addChild(hawser.admin, `reserved-${at}`, '1.0.0', 'a'));
    }
  });

  it('must be published when the composite is', async () => {
    const version = await newDraft();
    const floating = await ok(201, add(version, 'unpublished'));
    await expectProblem(publishComposite(hawser.admin, 'site', version), 409, 'unpublished_child');
    await ok(204, hawser.admin.delete(itemAt(version, floating.id)));
    const pinned = await ok(201, add(version, 'a', { activeVersion: '1.1.0' }));
    await expectProblem(publishComposite(hawser.admin, 'site', version), 409, 'unpublished_child');
    expect((await ok(200, hawser.admin.get(compositeVersionOf('site', version)))).status).to.equal('Draft');
    await ok(200, hawser.admin.put(itemAt(version, pinned.id), { activeVersion: '1.0.0' }));
    await ok(201, add(version, 'unpublished', { activeVersion: '1.0.0' }));
    await expectProblem(publishComposite(hawser.admin, 'site', version), 409, 'unpublished_child');
    await ok(200, publish(hawser.admin, 'unpublished', '1.0.0'));
    await ok(200, publishComposite(hawser.admin, 'site', version));
  });

  it('and a pinned draft that was deleted counts as not published', async () => {
    await ok(201, addVersion(hawser.admin, 'b', { version: '5.0.0' }));
    const version = await newDraft();
    await ok(201, add(version, 'b', { activeVersion: '5.0.0' }));
    await ok(204, hawser.admin.delete(`${versionsOf('b')}/5.0.0`));
    await expectProblem(publishComposite(hawser.admin, 'site', version), 409, 'unpublished_child');
    expect((await itemsOf(version))[0]).to.include({ activeVersion: '5.0.0' });
  });

  it('and one that is deleted and added at once is either there in both or in neither', async () => {
    for (let round = 0; round < 8; round += 1) {
      const name = `torn-${round}`;
      await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: 'x' } });
      const version = await newDraft();
      const [deleted, ...added] = await Promise.all([
        hawser.admin.delete(`${CONFIGURATIONS}/${name}`),
        ...Array.from({ length: 3 }, () => add(version, name)),
      ]);
      const outcome = [deleted.status, ...added.map(({ status }) => status).sort()];
      const isThere = (await itemsOf(version)).length === 1;
      expect(outcome).to.deep.equal(isThere ? [409, 201, 409, 409] : [204, 404, 404, 404]);
    }
  });

  it('must be readable for who adds them, whatever may be done to the composite', async () => {
    await ok(201, createComposite(ada.client, 'adas'));
    await ok(201, addCompositeDraft(ada.client, 'adas', '1.0.0'));
    const hidden = await expectProblem(addChild(ada.client, 'adas', '1.0.0', 'c'), 404, 'not_found');
    const nothing = await expectProblem(addChild(ada.client, 'adas', '1.0.0', 'nothing'), 404, 'not_found');
    expect(hidden.json).to.deep.equal(nothing.json);
    // Nor is it told that a name is that of a composite which it may not read.
    await expectProblem(addChild(ada.client, 'adas', '1.0.0', 'site'), 404, 'not_found');
    await expectProblem(addChild(ada.client, 'adas', '1.0.0', 'adas'), 400, 'nested_composite');
    await grant(hawser, ada, 'c', 'Read');
    const blind = await ada.withToken('composite-configurations.grants');
    await expectProblem(addChild(blind, 'adas', '1.0.0', 'c'), 404, 'not_found');
    const seeing = await ada.withToken('composite-configurations.grants', 'configurations.grants');
    const item = await ok(201, addChild(seeing, 'adas', '1.0.0', 'c'));
    await grant(hawser, ada, 'c', null);
    const path = `${childrenOf('adas', '1.0.0')}/${item.id}`;
    for (const change of [{ order: 4 }, { activeVersion: null }, { activeVersion: '1.0.0' }, {}]) {
      const taken = await expectProblem(ada.client.put(path, change), 404, 'not_found');
      expect(taken.json).to.deep.equal(hidden.json);
    }
    // Which versions and drafts there are, nobody finds out who may not read them.
    const drafted = await expectProblem(ada.client.put(path, { activeVersion: '8.8.8' }), 404, 'not_found');
    expect(drafted.json).to.deep.equal(hidden.json);
    await expectProblem(blind.put(path, { order: 4 }), 404, 'not_found');
    await ok(200, hawser.admin.put(path, { order: 4 }));
    await ok(200, publishComposite(ada.client, 'adas', '1.0.0'));
    await ok(201, addCompositeDraft(ada.client, 'adas', '1.1.0'));
    const other = await ok(201, addChild(hawser.admin, 'adas', '1.1.0', 'c'));
    await ok(204, ada.client.delete(`${childrenOf('adas', '1.1.0')}/${other.id}`));
  });
});
