// full: SQLite
/** The tokens of service accounts: who makes them, what they open, and how they end. */

import { expect } from 'chai';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { DAY, MINUTE } from '../../src/lib/clock.ts';
import { auditedDuring } from '../support/audit.ts';
import type { Client, Reply } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { give } from '../support/holdings.ts';
import { configurationId } from '../support/parameter-files.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';

const USERS = '/api/v1/users';
const ME = '/api/v1/auth/me';
const AUTHOR = '00000000-0000-0000-0000-000000000013';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('tokens of service accounts', () => {
  let hawser: Hawser;
  let database: Database;
  /** The administrator, with a session. */
  let admin: Client;
  let accounts = 0;

  before(async () => {
    hawser = await startHawser();
    database = await openDatabase(hawser);
    admin = hawser.client().with({ Cookie: hawser.session });
  });
  after(async () => {
    await database.close();
    await hawser.close();
  });

  const bearer = (token: string) => hawser.client().with({ Authorization: `Bearer ${token}` });
  const tokensOf = (id: string) => `${USERS}/${id}/tokens`;
  const wish = (...scopes: string[]) => ({ name: 'pipeline', scopes });
  const stateOf = (id: string, isActive: boolean) => ({
    ...{ username: `account-${id}`, email: 'account@example.org', isActive },
  });

  async function newAccount(): Promise<string> {
    accounts += 1;
    const username = `robot-${accounts}`;
    const made = await ok(
      201,
      admin.post(USERS, { username, email: 'robot@example.org', accountType: 'ServiceAccount' }),
    );
    return made.id;
  }

  async function newPerson(username: string, ...permissions: string[]): Promise<Person> {
    hawser.clock.advance(MINUTE);
    return makeUser(hawser, { username, permissions: ['users.manage', ...permissions] as never });
  }

  it('are made as people make theirs: shown once, for 90 days, with the scopes in order', async () => {
    const id = await newAccount();
    const scopes = [' nodes.write', 'nodes.read ', '', 'nodes.write', 'parameters.grants'];
    const reply = await admin.post(tokensOf(id), { name: ' deploy ', scopes });
    expect(reply.status, reply.text).to.equal(201);
    const { token, tokenId, tokenPrefix, createdAt, expiresAt } = reply.json;
    expect(reply.headers['location']).to.equal(`${tokensOf(id)}/${tokenId}`);
    expect(token).to.match(/^pat_[A-Za-z0-9_-]{43,}$/);
    expect(reply.json).to.deep.equal({
      ...{ token, tokenId, name: 'deploy', tokenPrefix, expiresAt, createdAt },
      scopes: ['nodes.write', 'nodes.read', 'parameters.grants'],
    });
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).to.equal(90 * DAY);
    const list = await admin.get(tokensOf(id));
    expect(list.status).to.equal(200);
    expect(list.headers['x-total-count']).to.equal('1');
    expect(list.text).to.not.include(token);
    expect(list.json).to.deep.equal([
      {
        ...{ id: tokenId, name: 'deploy', tokenPrefix, expiresAt, createdAt },
        ...{ scopes: reply.json.scopes, lastUsedAt: null, isRevoked: false },
      },
    ]);
    expect((await admin.get('/api/v1/auth/tokens')).text, "the caller's own").to.not.include(tokenId);
  });

  it('end never when asked to, and cannot have ended when they are made', async () => {
    const id = await newAccount();
    const never = await ok(201, admin.post(tokensOf(id), { ...wish('nodes.read'), expiresAt: null }));
    expect(never.expiresAt).to.equal(null);
    const past = new Date(hawser.clock.now() - MINUTE).toISOString();
    const ended = admin.post(tokensOf(id), { ...wish('nodes.read'), expiresAt: past });
    const { json } = await expectProblem(ended, 400, 'validation_failed');
    expect(json.errors[0].path).to.equal('/expiresAt');
    expect((await admin.get(tokensOf(id))).json).to.have.length(1);
  });

  it('open what the roles of the account and their scopes say, and nothing else', async () => {
    const id = await newAccount();
    const { token } = await ok(201, admin.post(tokensOf(id), wish('nodes.read', 'nodes.write')));
    await expectProblem(bearer(token).get('/api/v1/nodes'), 403, 'forbidden', 'before it has a role');
    await ok(200, admin.put(`${USERS}/${id}/roles`, { roleIds: [AUTHOR] }));
    const me = await ok(200, bearer(token).get(ME));
    expect(me).to.include({ accountType: 'ServiceAccount', authMethod: 'Token' });
    expect(me.permissions).to.deep.equal(['nodes.read']);
    await ok(200, bearer(token).get('/api/v1/nodes'));
    await expectProblem(bearer(token).get('/api/v1/audit'), 403, 'forbidden');
    const { lastUsedAt } = (await admin.get(tokensOf(id))).json[0];
    expect(lastUsedAt).to.be.a('string');
    const brief = new Date(hawser.clock.now() + MINUTE).toISOString();
    const short = await ok(201, admin.post(tokensOf(id), { ...wish('nodes.read'), expiresAt: brief }));
    await ok(200, bearer(short.token).get('/api/v1/nodes'));
    hawser.clock.advance(MINUTE);
    await expectProblem(bearer(short.token).get('/api/v1/nodes'), 401, 'unauthenticated', 'after its end');
  });

  it('use the grants of the account only with the scope for grants', async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '$schema: x\nresources: []\n' } });
    const id = await newAccount();
    await give(
      database,
      { type: 'User', id },
      { on: 'configuration', resourceId: await configurationId(hawser.admin, 'web'), level: 'Read' },
    );
    const without = await ok(201, admin.post(tokensOf(id), wish('nodes.read')));
    await expectProblem(bearer(without.token).get('/api/v1/configurations/web'), 404, 'not_found');
    const granted = await ok(201, admin.post(tokensOf(id), wish('configurations.grants')));
    await ok(200, bearer(granted.token).get('/api/v1/configurations/web'));
  });

  it('stop at once when revoked, stay listed, and are found under their own account alone', async () => {
    const [id, other] = [await newAccount(), await newAccount()];
    const { token, tokenId } = await ok(201, admin.post(tokensOf(id), wish('nodes.read')));
    await ok(200, bearer(token).get(ME));
    for (const path of [`${tokensOf(other)}/${tokenId}`, `${tokensOf(id)}/${UNKNOWN}`, `${tokensOf(id)}/x`])
      await expectProblem(admin.delete(path), 404, 'not_found', path);
    await ok(200, bearer(token).get(ME));
    await ok(204, admin.delete(`${tokensOf(id)}/${tokenId}`));
    await expectProblem(bearer(token).get(ME), 401, 'unauthenticated');
    expect((await admin.get(tokensOf(id))).json[0]).to.include({ id: tokenId, isRevoked: true });
    await ok(204, admin.delete(`${tokensOf(id)}/${tokenId}`));
  });

  it('end at once when the account is deactivated or deleted', async () => {
    const id = await newAccount();
    const { token } = await ok(201, admin.post(tokensOf(id), wish('nodes.read')));
    await ok(200, admin.put(`${USERS}/${id}`, stateOf(id, false)));
    await expectProblem(bearer(token).get(ME), 401, 'unauthenticated');
    expect((await admin.get(tokensOf(id))).json[0].isRevoked).to.equal(true);
    const asleep = await ok(201, admin.post(tokensOf(id), wish('nodes.read')));
    await expectProblem(bearer(asleep.token).get(ME), 401, 'unauthenticated', 'of an inactive account');
    await ok(200, admin.put(`${USERS}/${id}`, stateOf(id, true)));
    await expectProblem(bearer(token).get(ME), 401, 'unauthenticated', 'a revoked one does not come back');
    await ok(200, bearer(asleep.token).get(ME));
    await ok(204, admin.delete(`${USERS}/${id}`));
    await expectProblem(bearer(asleep.token).get(ME), 401, 'unauthenticated');
    await expectProblem(admin.get(tokensOf(id)), 404, 'not_found');
    await expectProblem(admin.post(tokensOf(id), wish('nodes.read')), 404, 'not_found');
  });

  it('are not for accounts that do not exist, and making them is not for people', async () => {
    const person = await newPerson('paula');
    const own = await ok(201, person.post('/api/v1/auth/tokens', wish('nodes.read')));
    const path = tokensOf(person.userId);
    await expectProblem(admin.post(path, wish('nodes.read')), 409, 'not_a_service_account');
    const deeds = (path: string): Promise<Reply>[] => [
      admin.get(path),
      admin.post(path, wish('nodes.read')),
      admin.delete(`${path}/${own.tokenId}`),
    ];
    for (const id of [UNKNOWN, 'x']) {
      for (const deed of deeds(tokensOf(id))) await expectProblem(deed, 404, 'not_found');
    }
    await ok(200, bearer(own.token).get(ME));
  });

  it('of people are listed and revoked by who may manage users, and by nobody else', async () => {
    const person = await newPerson('pete-of-tokens');
    const [one, two] = [
      await ok(201, person.post('/api/v1/auth/tokens', wish('nodes.read'))),
      await ok(201, person.post('/api/v1/auth/tokens', wish('nodes.read'))),
    ];
    const path = tokensOf(person.userId);
    const manager = await newPerson('manager-of-users');
    const listed = await ok(200, manager.get(path));
    expect(listed.map(({ id }: { id: string }) => id)).to.have.members([one.tokenId, two.tokenId]);
    expect(listed[0]).to.have.all.keys(
      ...['id', 'name', 'tokenPrefix', 'scopes', 'expiresAt', 'lastUsedAt', 'isRevoked', 'createdAt'],
    );
    const reader = await makeUser(hawser, { username: 'reader-of-nodes', permissions: ['nodes.read'] });
    await expectProblem(reader.get(path), 403, 'forbidden');
    await expectProblem(reader.delete(`${path}/${one.tokenId}`), 403, 'forbidden');
    const told = await auditedDuring(hawser, () => ok(204, manager.delete(`${path}/${one.tokenId}`)));
    expect(told).to.have.length(1);
    expect(told[0]).to.deep.include({
      action: 'token.revoked',
      actorName: 'manager-of-users',
      resourceId: one.tokenId,
    });
    expect(told[0]?.details).to.include({ userId: person.userId, username: 'pete-of-tokens' });
    await expectProblem(bearer(one.token).get(ME), 401, 'unauthenticated');
    await ok(200, bearer(two.token).get(ME));
  });

  describe('give nothing beyond what their maker holds', () => {
    it('of permissions: each scope is one of the maker', async () => {
      const id = await newAccount();
      const maker = await newPerson('mia', 'nodes.read');
      await ok(201, maker.post(tokensOf(id), wish('nodes.read', 'users.manage')));
      await ok(201, maker.post(tokensOf(id), wish()));
      const refused = await expectProblem(
        maker.post(tokensOf(id), wish('nodes.read', 'nodes.write')),
        403,
        'beyond_own_permissions',
      );
      expect(refused.json.detail).to.include('nodes.write');
      expect((await admin.get(tokensOf(id))).json).to.have.length(2);
    });

    const GRANTS = {
      'configurations.grants': 'configurations.admin-override',
      'composite-configurations.grants': 'composite-configurations.admin-override',
      'parameters.grants': 'parameters.admin-override',
    };
    for (const [scope, override] of Object.entries(GRANTS)) {
      it(`of grants: ${scope} needs ${override}, and no other override`, async () => {
        const id = await newAccount();
        const others = Object.values(GRANTS).filter((name) => name !== override);
        const poor = await newPerson(`poor-${override.slice(0, 14)}`, ...others);
        const reply = await expectProblem(
          poor.post(tokensOf(id), wish(scope)),
          403,
          'beyond_own_permissions',
        );
        expect(reply.json.detail).to.include(override);
        const rich = await newPerson(`rich-${override.slice(0, 14)}`, override);
        await ok(201, rich.post(tokensOf(id), wish(scope)));
      });
    }

    it('of what the account holds: its roles and its grants', async () => {
      const maker = await newPerson('max', 'nodes.read');
      const id = await newAccount();
      await give(database, { type: 'User', id }, { permission: 'audit.read' });
      const role = await expectProblem(
        maker.post(tokensOf(id), wish('nodes.read')),
        403,
        'beyond_own_permissions',
      );
      expect(role.json.detail).to.include('audit.read');
      const granted = await newAccount();
      const resourceId = await configurationId(hawser.admin, 'web');
      await give(
        database,
        { type: 'User', id: granted },
        { on: 'configuration', resourceId, level: 'Modify' },
      );
      await expectProblem(maker.post(tokensOf(granted), wish('nodes.read')), 403, 'beyond_own_permissions');
      await give(
        database,
        { type: 'User', id: maker.userId },
        { on: 'configuration', resourceId, level: 'Manage' },
      );
      await ok(201, maker.post(tokensOf(granted), wish('nodes.read')));
    });

    it('but whoever may manage users can revoke any of them', async () => {
      const maker = await newPerson('ron');
      const id = await newAccount();
      await give(database, { type: 'User', id }, { permission: 'audit.read' });
      const { token, tokenId } = await ok(201, admin.post(tokensOf(id), wish('audit.read')));
      await ok(204, maker.delete(`${tokensOf(id)}/${tokenId}`));
      await expectProblem(bearer(token).get(ME), 401, 'unauthenticated');
    });
  });

  it('leave entries in the audit trail that name the account and the token, and never hold it', async () => {
    const id = await newAccount();
    const username = `robot-${accounts}`;
    let made = { token: '', tokenId: '', expiresAt: '' };
    const entries = await auditedDuring(hawser, async () => {
      made = await ok(201, admin.post(tokensOf(id), wish('nodes.read')));
      await ok(204, admin.delete(`${tokensOf(id)}/${made.tokenId}`));
      await ok(204, admin.delete(`${tokensOf(id)}/${made.tokenId}`));
    });
    const account = { userId: id, username };
    expect(
      entries.map(({ action, resourceType, resourceId, details }) => [
        action,
        resourceType,
        resourceId,
        details,
      ]),
    ).to.deep.equal([
      [
        ...['token.created', 'Token', made.tokenId],
        { ...account, name: 'pipeline', scopes: ['nodes.read'], expiresAt: made.expiresAt },
      ],
      ['token.revoked', 'Token', made.tokenId, { ...account, name: 'pipeline' }],
    ]);
    expect(entries.map(({ actorName }) => actorName)).to.deep.equal(['admin', 'admin']);
    expect(JSON.stringify(entries)).to.not.include(made.token);
    expect(hawser.log()).to.not.include(made.token);
  });
});
