// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { DAY, HOUR, MINUTE } from '../../src/lib/clock.ts';
import type { Client } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { startHawser } from '../support/hawser.ts';
import { makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const TOKENS = '/api/v1/auth/tokens';
const ME = '/api/v1/auth/me';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('personal access tokens', () => {
  const hawser = started(startHawser);
  let owner: Client;
  const bearer = (token: string) => hawser.client().with({ Authorization: `Bearer ${token}` });
  const create = (body: Record<string, unknown>) =>
    owner.post(TOKENS, { name: 'a script', scopes: ['nodes.read'], ...body });

  before(async () => {
    owner = await makeUser(hawser, {
      username: 'olga',
      permissions: ['nodes.read', 'nodes.write', 'configurations.create'],
    });
  });

  it('are shown once, when they are made', async () => {
    const before = hawser.clock.now();
    const reply = await create({ name: ' deploy ' });
    expect(reply.status).to.equal(201);
    expect(reply.json).to.have.all.keys(
      ...['token', 'tokenId', 'name', 'tokenPrefix', 'scopes', 'expiresAt', 'createdAt'],
    );
    const { token, tokenId, tokenPrefix, createdAt, expiresAt } = reply.json;
    expect(token).to.match(/^pat_[A-Za-z0-9_-]{43,}$/);
    expect(token.startsWith(tokenPrefix)).to.equal(true);
    expect(tokenPrefix.length).to.be.lessThan(20);
    expect(reply.headers['location']).to.equal(`${TOKENS}/${tokenId}`);
    expect(createdAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).to.equal(90 * DAY);
    expect(Date.parse(createdAt)).to.be.at.least(before);
    expect(reply.json.name).to.equal('deploy');
    const list = await owner.get(TOKENS);
    expect(list.status).to.equal(200);
    expect(list.text).to.not.include(token);
    const listed = list.json.find((entry: { id: string }) => entry.id === tokenId);
    expect(listed).to.deep.equal({
      ...{ id: tokenId, name: 'deploy', tokenPrefix, scopes: ['nodes.read'], expiresAt, createdAt },
      ...{ lastUsedAt: null, isRevoked: false },
    });
  });

  it('keep their scopes in order, trimmed, without blanks and doubles', async () => {
    const scopes = [' nodes.write', 'nodes.read ', '', '  ', 'nodes.write', 'parameters.grants'];
    const reply = await create({ scopes });
    expect(reply.status).to.equal(201);
    expect(reply.json.scopes).to.deep.equal(['nodes.write', 'nodes.read', 'parameters.grants']);
  });

  it('can do what their owner can do and their scopes name, and without scopes nothing', async () => {
    const permissionsOf = async (...scopes: string[]) => {
      const { token } = await ok(201, create({ scopes }));
      return (await ok(200, bearer(token).get(ME))).permissions;
    };
    expect(await permissionsOf('nodes.read', 'users.manage', 'parameters.grants')).to.deep.equal([
      'nodes.read',
    ]);
    expect(await permissionsOf('', ' ')).to.deep.equal([]);
  });

  it('are refused with scopes that do not exist, naming their place', async () => {
    for (const unknown of ['nodes.*', 'Nodes.Read', '*', 'admin', '__proto__']) {
      await expectInvalid(create({ scopes: ['nodes.read', '', unknown] }), '/scopes/2', unknown);
    }
    for (const scopes of [undefined, null, 'nodes.read', [null], {}]) {
      expect((await create({ scopes })).status).to.equal(400);
    }
  });

  it('are refused with thousands of scopes', async () => {
    for (const scope of ['nodes.read', '', 'no.such']) {
      const reply = await expectInvalid(
        create({ scopes: Array.from({ length: 5_000 }, () => scope) }),
        undefined,
        scope,
      );
      expect(reply.json.errors.length).to.be.at.most(100);
    }
    expect((await create({ scopes: ['x'.repeat(1_000_000)] })).status, 'one as long as all').to.equal(400);
  });

  it('are refused without a proper name, or with members that do not exist', async () => {
    for (const name of [undefined, null, '', '  ', 7, 'x'.repeat(129)]) {
      await expectInvalid(create({ name }), '/name', String(name));
    }
    const reply = await create({ userId: UNKNOWN });
    expect(reply.json.errors[0]).to.include({ path: '/userId', code: 'unrecognized_keys' });
  });

  it('end when asked to: after 90 days, at a given time, or never', async () => {
    const never = await create({ expiresAt: null });
    expect(never.status).to.equal(201);
    expect(never.json.expiresAt).to.equal(null);
    const soon = new Date(hawser.clock.now() + HOUR).toISOString();
    const brief = await create({ expiresAt: soon });
    expect(brief.json.expiresAt).to.equal(soon);
    const offset = await create({ expiresAt: soon.replace('Z', '+00:00') });
    expect(offset.json.expiresAt).to.equal(soon);
    const past = new Date(hawser.clock.now() - MINUTE).toISOString();
    for (const expiresAt of [past, 'tomorrow', 5]) {
      await expectInvalid(create({ expiresAt }), '/expiresAt', String(expiresAt));
    }
    expect((await bearer(brief.json.token).get(ME)).status).to.equal(200);
    hawser.clock.advance(HOUR);
    expect((await bearer(brief.json.token).get(ME)).status, 'after its end').to.equal(401);
    expect((await bearer(never.json.token).get(ME)).status).to.equal(200);
  });

  it('tell when they were last used', async () => {
    const { token, tokenId } = (await create({})).json;
    const used = hawser.clock.now();
    await bearer(token).get('/api/v1/nodes');
    const list = await owner.get(TOKENS);
    const { lastUsedAt } = list.json.find((entry: { id: string }) => entry.id === tokenId);
    expect(Date.parse(lastUsedAt)).to.be.within(used, hawser.clock.now());
  });

  it('stop at once when revoked, and stay listed', async () => {
    const { token, tokenId } = (await create({})).json;
    expect((await bearer(token).get(ME)).status).to.equal(200);
    await ok(204, owner.delete(`${TOKENS}/${tokenId}`));
    await expectProblem(bearer(token).get(ME), 401, 'unauthenticated');
    const list = await owner.get(TOKENS);
    const listed = list.json.find((entry: { id: string }) => entry.id === tokenId);
    expect(listed.isRevoked).to.equal(true);
    expect((await owner.delete(`${TOKENS}/${tokenId}`)).status, 'again').to.equal(204);
  });

  it("are nobody else's business: another's answers 404 and is not listed", async () => {
    const { tokenId } = (await create({ name: 'of-olga' })).json;
    const admin = hawser.client().with({ Cookie: hawser.session });
    for (const id of [tokenId, UNKNOWN, 'not-a-uuid', tokenId.toUpperCase()]) {
      await expectProblem(admin.delete(`${TOKENS}/${id}`), 404, 'not_found', id);
    }
    expect((await admin.get(TOKENS)).text).to.not.include('of-olga');
    const list = await owner.get(TOKENS);
    expect(list.json.find((entry: { id: string }) => entry.id === tokenId).isRevoked).to.equal(false);
  });

  it('are listed newest first, a page at a time', async () => {
    hawser.clock.advance(MINUTE);
    await create({ name: 'second to last' });
    hawser.clock.advance(MINUTE);
    await create({ name: 'last' });
    const page = await owner.get(`${TOKENS}?take=1&skip=1`);
    expect(page.json.map((entry: { name: string }) => entry.name)).to.deep.equal(['second to last']);
    expect(Number(page.headers['x-total-count'])).to.be.greaterThan(2);
    expect(page.headers['link']).to.equal(`<${TOKENS}?take=1&skip=2>; rel="next"`);
  });

  it('that are none answer 401 and say how to do better', async () => {
    const { token } = (await create({})).json;
    const bad = [
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token}x`,
      `Bearer ${token.replace('pat_', 'PAT_')}`,
      `Bearer ${token.slice(4)}`,
      'Bearer',
      '',
      token,
      `Basic ${Buffer.from(`olga:${token}`).toString('base64')}`,
      `Bearer ${token} ${token}`,
      `Bearer ${'x'.repeat(5_000)}`,
    ];
    for (const value of bad) {
      const reply = await expectProblem(
        hawser.client().get(ME, { Authorization: value }),
        401,
        'unauthenticated',
        value,
      );
      expect(reply.headers['www-authenticate']).to.match(/^Bearer/);
    }
    const good = await hawser.client().get(ME, { Authorization: `bearer ${token}` });
    expect(good.status, 'the scheme knows no case').to.equal(200);
  });

  it('answer in the same words whether unknown, cut, expired, revoked, or of a user who is gone or asleep', async () => {
    const tokenOf = async (username: string) => {
      const user = await makeUser(hawser, { username, permissions: ['nodes.read'] });
      return (await user.post(TOKENS, { name: 'x', scopes: ['nodes.read'] })).json.token as string;
    };
    const expiresAt = new Date(hawser.clock.now() + MINUTE).toISOString();
    const revoked = (await create({})).json;
    await owner.delete(`${TOKENS}/${revoked.tokenId}`);
    const bad = {
      unknown: `pat_${'x'.repeat(43)}`,
      cut: (await create({})).json.token.slice(0, 20) as string,
      expired: (await create({ expiresAt })).json.token as string,
      revoked: revoked.token as string,
      'of a deleted user': await tokenOf('gone'),
      'of an inactive user': await tokenOf('asleep'),
    };
    hawser.clock.advance(MINUTE);
    await withDatabase(hawser, async ({ write }) => {
      await write.deleteFrom('users').where('username', '=', 'gone').execute();
      await write.updateTable('users').set({ is_active: 0 }).where('username', '=', 'asleep').execute();
    });
    const answers = new Set<string>();
    for (const [why, token] of Object.entries(bad)) {
      const reply = await bearer(token).get(ME);
      expect(reply.status, why).to.equal(401);
      const { date: _, 'x-request-id': _id, ...headers } = reply.headers;
      answers.add(JSON.stringify(headers) + reply.text);
    }
    expect(answers.size).to.equal(1);
  });

  it('decide alone when other credentials come along', async () => {
    const node = await hawser.registerNode('beside.example.org');
    const garbage = { Authorization: 'Bearer pat_garbage' };
    const checksum = `/api/v1/nodes/${node.nodeId}/configuration/checksum`;
    expect((await node.client.with(garbage).get(checksum)).status).to.equal(401);
    const session = hawser.client().with({ Cookie: hawser.session, ...garbage });
    expect((await session.get(ME)).status).to.equal(401);
    const { token } = (await create({})).json;
    const over = await node.client.with({ Authorization: `Bearer ${token}` }).get('/api/v1/nodes');
    expect(over.status, 'a token over the connection of a node').to.equal(200);
  });
});
