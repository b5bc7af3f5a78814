// full: SQLite
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { grant, grantThroughGroup, makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

describe('who sees and changes a configuration', () => {
  const hawser = started(startHawser);
  let ada: Person;
  let bob: Person;

  before(async () => {
    ada = await makeUser(hawser, { username: 'ada', roles: ['Author'] });
    bob = await makeUser(hawser, { username: 'bob', roles: ['Viewer'] });
    await ok(201, create(ada.client, 'adas'));
  });

  const namesSeenBy = async (client: Client, query = '') =>
    (await ok(200, client.get(CONFIGURATIONS + query))).map((entry: { name: string }) => entry.name);

  const readingPaths = (name: string, version = '1.0.0') => [
    `${CONFIGURATIONS}/${name}`,
    versionsOf(name),
    fileOf(name, version, MAIN),
  ];

  it('its creator may read, draft and publish it', async () => {
    for (const path of readingPaths('adas')) await ok(200, ada.client.get(path));
    const draft = await ok(201, addVersion(ada.client, 'adas', { version: '1.1.0' }));
    expect(draft.createdBy).to.equal('ada');
    const published = await ok(200, publish(ada.client, 'adas', '1.1.0'));
    expect(published.publishedBy).to.equal('ada');
  });

  it('anybody else gets the answer for what does not exist', async () => {
    const paths = readingPaths('adas');
    for (const path of paths) {
      const theirs = await expectProblem(bob.client.get(path), 404, 'not_found', path);
      const nobodys = await expectProblem(bob.client.get(path.replace('adas', 'nobodys')), 404, 'not_found');
      expect(theirs.json).to.deep.equal(nobodys.json);
    }
    await expectProblem(addVersion(bob.client, 'adas'), 404, 'not_found');
    await expectProblem(publish(bob.client, 'adas', '1.0.0'), 404, 'not_found');
    await expectProblem(create(bob.client, 'bobs'), 403, 'forbidden');
  });

  it("a group's grant counts, and the highest of several", async () => {
    const cleo = await makeUser(hawser, { username: 'cleo', roles: ['Viewer'] });
    await grant(hawser, cleo, 'adas', 'Read');
    await grantThroughGroup(hawser, cleo, 'adas', 'Modify');
    expect(await namesSeenBy(cleo.client)).to.deep.equal(['adas']);
    await ok(201, addVersion(cleo.client, 'adas'));
  });

  it('a token needs configurations.grants to use them, and admin-override for the rest', async () => {
    await ok(201, create(hawser.admin, 'admins'));
    const blind = await ada.withToken('configurations.create', 'nodes.read');
    await expectProblem(blind.get(`${CONFIGURATIONS}/adas`), 404, 'not_found');
    expect(await namesSeenBy(blind)).to.deep.equal([]);
    const made = await ok(201, create(blind, 'through-a-token'));
    expect(made.name).to.equal('through-a-token');
    await expectProblem(blind.get(`${CONFIGURATIONS}/through-a-token`), 404, 'not_found');
    await ok(200, ada.client.get(`${CONFIGURATIONS}/through-a-token`));

    const seeing = await ada.withToken('configurations.grants');
    expect(await namesSeenBy(seeing)).to.deep.equal(['adas', 'through-a-token']);
    await ok(201, addVersion(seeing, 'adas'));
    await expectProblem(create(seeing, 'x'), 403, 'forbidden');

    // A scope that the owner does not hold has no effect.
    const overreaching = await ada.withToken('configurations.admin-override');
    expect(await namesSeenBy(overreaching)).to.deep.equal([]);
    await expectProblem(overreaching.get(`${CONFIGURATIONS}/admins`), 404, 'not_found');
    const scopeless = await ada.withToken();
    await expectProblem(scopeless.get(CONFIGURATIONS), 403, 'forbidden');
    await expectProblem(scopeless.get(`${CONFIGURATIONS}/adas`), 403, 'forbidden');
  });

  it("an administrator sees all; the administrator's token only with the override named", async () => {
    const root = await makeUser(hawser, { username: 'root', roles: ['Administrator'] });
    expect(await namesSeenBy(root.client)).to.include.members(['adas', 'admins']);
    const override = await root.withToken('configurations.admin-override');
    expect(await namesSeenBy(override)).to.include.members(['adas', 'admins']);
    await ok(201, addVersion(override, 'adas'));
    const grants = await root.withToken('configurations.grants', 'configurations.create');
    expect(await namesSeenBy(grants)).to.deep.equal([]);
  });

  it('lists go by name, page by page, counting only what the caller may read', async () => {
    const dora = await makeUser(hawser, { username: 'dora', roles: ['Author'] });
    for (const name of ['d', 'b', 'e', 'a', 'c']) await ok(201, create(dora.client, `dora-${name}`));
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => `dora-${name}`);
    const whole = await dora.client.get(CONFIGURATIONS);
    expect(whole.json.map((entry: { name: string }) => entry.name)).to.deep.equal(all);
    expect(whole.headers['x-total-count']).to.equal('5');
    expect(whole.headers['link']).to.equal(undefined);
    const seen: string[] = [];
    let next: string | undefined = `${CONFIGURATIONS}?take=2`;
    while (next !== undefined) {
      const reply = await dora.client.get(next);
      expect(reply.headers['x-total-count']).to.equal('5');
      seen.push(...reply.json.map((entry: { name: string }) => entry.name));
      next = /^<([^>]+)>; rel="next"$/.exec(String(reply.headers['link']))?.[1];
    }
    expect(seen).to.deep.equal(all);
    expect(await namesSeenBy(dora.client, '?skip=4')).to.deep.equal(['dora-e']);
    expect(await namesSeenBy(dora.client, '?skip=5')).to.deep.equal([]);
  });
});
