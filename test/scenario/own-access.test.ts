// full: SQLite
import { expect } from 'chai';
import type { Client } from '../support/client.ts';
import { COMPOSITES, compositeOf, createComposite } from '../support/composites.ts';
import { CONFIGURATIONS, create } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { type Grant, grantThroughGroup, makeUser, type UserWish } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

describe('what the caller may do', () => {
  const hawser = started(startHawser);

  before(async () => {
    await ok(201, create(hawser.admin, 'web'));
    await ok(201, create(hawser.admin, 'db'));
    await ok(201, createComposite(hawser.admin, 'farm'));
  });

  const grant = (on: Grant['on'], name: string, level: Grant['level']): Grant => ({ on, name, level });
  const person = (username: string, wish: Partial<UserWish>) => makeUser(hawser, { username, ...wish });

  /** The levels on each configuration that the caller may read, once the list and the single reads have said the same. */
  async function levelsOf(client: Client): Promise<Record<string, [string | null, string | null]>> {
    const listed = await ok(200, client.get(CONFIGURATIONS));
    const levels: Record<string, [string | null, string | null]> = {};
    for (const configuration of listed) {
      expect(await ok(200, client.get(`${CONFIGURATIONS}/${configuration.name}`))).to.deep.equal(
        configuration,
      );
      levels[configuration.name] = [configuration.access, configuration.parametersAccess];
    }
    return levels;
  }

  async function levelOnFarm(client: Client): Promise<string | null> {
    const [listed] = await ok(200, client.get(COMPOSITES));
    const single = await ok(200, client.get(compositeOf('farm')));
    expect(single.access).to.equal(listed.access);
    return single.access;
  }

  it('stands with each configuration and composite, in lists and alone', async () => {
    const author = await person('author', {
      grants: [grant('configuration', 'web', 'Modify'), grant('composite', 'farm', 'Read')],
    });
    expect(await levelsOf(author)).to.deep.equal({ web: ['Modify', 'Modify'] });
    expect(await levelOnFarm(author)).to.equal('Read');
    const both = await person('both', {
      grants: [
        grant('configuration', 'web', 'Manage'),
        grant('parameters', 'web', 'Read'),
        grant('configuration', 'db', 'Read'),
        grant('parameters', 'db', 'Manage'),
        grant('composite', 'farm', 'Manage'),
      ],
    });
    expect(await levelsOf(both)).to.deep.equal({ db: ['Read', 'Manage'], web: ['Manage', 'Read'] });
    expect(await levelOnFarm(both)).to.equal('Manage');
  });

  it('is the highest of own grants and those of groups', async () => {
    const member = await person('member', { grants: [grant('configuration', 'web', 'Read')] });
    await grantThroughGroup(hawser, member, 'web', 'Modify');
    expect(await levelsOf(member)).to.deep.equal({ web: ['Modify', 'Modify'] });
  });

  it('is Manage for whoever may override grants', async () => {
    const all = await person('all', { permissions: ['configurations.admin-override'] });
    expect(await levelsOf(all)).to.deep.equal({ db: ['Manage', 'Manage'], web: ['Manage', 'Manage'] });
    const bounded = await person('bounded', {
      permissions: ['configurations.admin-override'],
      grants: [grant('parameters', 'web', 'Read')],
    });
    expect((await levelsOf(bounded))['web']).to.deep.equal(['Manage', 'Read']);
    const values = await person('values', {
      permissions: ['parameters.admin-override'],
      grants: [grant('configuration', 'db', 'Read')],
    });
    expect(await levelsOf(values)).to.deep.equal({ db: ['Read', 'Manage'] });
    expect(await levelOnFarm(hawser.admin)).to.equal('Manage');
  });

  it('is no more than the scopes of a token allow', async () => {
    const owner = await person('owner', {
      permissions: ['configurations.admin-override'],
      grants: [
        grant('configuration', 'web', 'Modify'),
        grant('parameters', 'web', 'Read'),
        grant('configuration', 'db', 'Read'),
      ],
    });
    expect(await levelsOf(await owner.withToken('configurations.grants'))).to.deep.equal({
      db: ['Read', 'Read'],
      web: ['Modify', 'Read'],
    });
    const values = await person('owner-of-values', {
      grants: [grant('configuration', 'web', 'Read'), grant('parameters', 'web', 'Manage')],
    });
    expect(await levelsOf(await values.withToken('configurations.grants'))).to.deep.equal({
      web: ['Read', 'Read'],
    });
    expect(
      await levelsOf(await values.withToken('configurations.grants', 'parameters.grants')),
    ).to.deep.equal({
      web: ['Read', 'Manage'],
    });
  });

  it('stands in what creation and changes answer', async () => {
    const author = await person('maker', { roles: ['Author'] });
    const manage = { access: 'Manage', parametersAccess: 'Manage' };
    expect(await ok(201, create(author.client, 'mine'))).to.include(manage);
    expect(await ok(201, createComposite(author.client, 'my-farm'))).to.include({ access: 'Manage' });
    const patch = author.call('PATCH', `${CONFIGURATIONS}/mine`, { json: { description: 'Mine' } });
    expect(await ok(200, patch)).to.include({ ...manage, description: 'Mine' });
    const script = await author.withToken('configurations.create', 'composite-configurations.create');
    const blind = { access: null, parametersAccess: null };
    expect(await ok(201, create(script, 'not-read'))).to.include(blind);
    expect(await ok(201, createComposite(script, 'not-read'))).to.include({ access: null });
  });
});
