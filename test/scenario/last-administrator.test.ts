// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { ADMINISTRATOR_ROLE_ID, BUILT_IN_GROUPS, PERMISSION_NAMES } from '../../src/domain/permissions.ts';
import { MINUTE } from '../../src/lib/clock.ts';
import type { Client, Reply } from '../support/client.ts';
import { withDatabase } from '../support/database.ts';
import { startHawser } from '../support/hawser.ts';
import { makeUser, type Person } from '../support/people.ts';
import { ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { Wire } from '../support/wire.ts';

const USERS = '/api/v1/users';
const ME = '/api/v1/auth/me';
const ADMINISTRATORS = BUILT_IN_GROUPS[0].id;

/** The ways to lose an administrator that a user's own routes offer. */
const WAYS = {
  delete: (client: Client, { userId }: Person) => client.delete(`${USERS}/${userId}`),
  deactivate: (client: Client, { userId, username }: Person) =>
    client.put(`${USERS}/${userId}`, { username, email: `${username}@example.org`, isActive: false }),
  demote: (client: Client, { userId }: Person) => client.put(`${USERS}/${userId}/roles`, { roleIds: [] }),
};
type Way = (client: Client, person: Person) => Promise<Reply>;

describe('the last administrator', () => {
  const hawser = started(startHawser);
  /** May do everything, but by another role. */
  let keeper: Client;

  before(async () => {
    keeper = await makeUser(hawser, { username: 'keeper', permissions: PERMISSION_NAMES });
  });
  // Sign-ins from one address are counted by the minute.
  beforeEach(() => hawser.clock.advance(MINUTE));

  /** Leaves nobody else who is one. */
  async function onlyAdministrator(username: string): Promise<Person> {
    await withDatabase(hawser, async ({ write }) => {
      await write.deleteFrom('user_roles').where('role_id', '=', ADMINISTRATOR_ROLE_ID).execute();
      await write.deleteFrom('group_members').execute();
    });
    return makeUser(hawser, { username, roles: ['Administrator'] });
  }

  async function join(person: Person): Promise<void> {
    const row = { group_id: ADMINISTRATORS, user_id: person.userId };
    await withDatabase(hawser, ({ write }) => write.insertInto('group_members').values(row).execute());
  }

  async function isAdministrator(person: Person): Promise<boolean> {
    const reply = await keeper.get(`${USERS}/${person.userId}`);
    return reply.status === 200 && reply.json.isActive && reply.json.roles.length === 1;
  }

  const countEntries = () =>
    withDatabase(
      hawser,
      async ({ read }) => (await read.selectFrom('audit_entries').select('id').execute()).length,
    );

  async function expectRefused(way: Way, client: Client, person: Person, what: string): Promise<void> {
    const before = await keeper.get(`${USERS}/${person.userId}`);
    const entries = await countEntries();
    const reply = await way(client, person);
    expect(`${what}: ${reply.status} ${reply.text && reply.json.code}`).to.equal(
      `${what}: 409 last_administrator`,
    );
    expect((await keeper.get(`${USERS}/${person.userId}`)).json, what).to.deep.equal(before.json);
    expect((await person.client.get(ME)).status, `${what}: the session`).to.equal(200);
    expect(await countEntries(), `${what}: entries`).to.equal(entries);
  }

  for (const [name, way] of Object.entries(WAYS)) {
    it(`stays when somebody wants to ${name} them, and goes once there is another`, async () => {
      const last = await onlyAdministrator(`last-${name}`);
      await expectRefused(way, keeper, last, 'by another');
      await expectRefused(way, last.client, last, 'by themselves');
      const next = await makeUser(hawser, { username: `next-${name}`, roles: ['Administrator'] });
      expect((await way(keeper, last)).status).to.be.oneOf([200, 204]);
      await expectRefused(way, keeper, next, 'the next one');
    });

    it(`is left by two who want to ${name} each other at once`, async () => {
      const one = await onlyAdministrator(`one-${name}`);
      const two = await makeUser(hawser, { username: `two-${name}`, roles: ['Administrator'] });
      const replies = await Promise.all([way(one.client, two), way(two.client, one)]);
      const [success, refusal] = replies.map((reply) => reply.status).sort();
      expect(success).to.be.oneOf([200, 204]);
      // Whoever comes too late is told so, or is nobody any more.
      expect(refusal).to.be.oneOf([401, 403, 409]);
      expect([await isAdministrator(one), await isAdministrator(two)].sort()).to.deep.equal([false, true]);
    });
  }

  it('is left by two who were both let in before either of them had asked for it', async () => {
    const one = await onlyAdministrator('early-bird');
    const two = await makeUser(hawser, { username: 'night-owl', roles: ['Administrator'] });
    const body = JSON.stringify({ roleIds: [] });
    const begin = async (by: Person, about: Person) => {
      const wire = await Wire.open(hawser.target());
      const headers = { Cookie: by.session, 'Content-Type': 'application/json' };
      wire.head('PUT', `${USERS}/${about.userId}/roles`, headers, body.length);
      return wire;
    };
    const wires = [await begin(one, two), await begin(two, one)];
    // Answered after their heads have been read, so that who they are has been found out.
    await keeper.get(ME);
    for (const wire of wires) wire.write(body);
    const replies = await Promise.all(wires.map((wire) => wire.reply()));
    for (const wire of wires) wire.destroy();
    const [success, refusal] = replies.map((reply) => reply?.status).sort();
    expect(success).to.equal(200);
    // Whoever comes too late is nobody any more when the body is there, or is told so.
    expect(refusal).to.be.oneOf([403, 409]);
    expect([await isAdministrator(one), await isAdministrator(two)].sort()).to.deep.equal([false, true]);
  });

  it('is left by a third who wants to be rid of two at once, in whatever two ways', async () => {
    const ways = Object.entries(WAYS);
    const pairs = ways.flatMap((first, index) => ways.slice(index).map((second) => [first, second] as const));
    for (const [index, [[firstName, first], [secondName, second]]] of pairs.entries()) {
      const label = `${firstName} and ${secondName}`;
      const one = await onlyAdministrator(`ann-${index}`);
      const two = await makeUser(hawser, { username: `ben-${index}`, roles: ['Administrator'] });
      const replies = await Promise.all([first(keeper, one), second(keeper, two)]);
      const refused = replies.filter((reply) => reply.status === 409);
      expect(
        refused.map((reply) => reply.json.code),
        label,
      ).to.deep.equal(['last_administrator']);
      expect([await isAdministrator(one), await isAdministrator(two)].sort(), label).to.deep.equal([
        false,
        true,
      ]);
    }
  });

  it('may be changed in everything else', async () => {
    const last = await onlyAdministrator('lena');
    const state = { username: 'LENA', email: 'lena@example.com', isActive: true };
    await ok(200, keeper.put(`${USERS}/${last.userId}`, state));
    const viewer = await keeper.get(
      `${USERS}/${(await makeUser(hawser, { username: 'vera', roles: ['Viewer'] })).userId}`,
    );
    const roleIds = [ADMINISTRATOR_ROLE_ID, viewer.json.roles[0].id];
    await ok(200, keeper.put(`${USERS}/${last.userId}/roles`, { roleIds }));
    const reset = { newPassword: 'another-password-worth-having' };
    await ok(204, keeper.post(`${USERS}/${last.userId}/reset-password`, reset));
  });

  it('is none who is inactive, and no service account', async () => {
    const last = await onlyAdministrator('laura');
    const idle = await makeUser(hawser, { username: 'ines', roles: ['Administrator'] });
    await ok(200, WAYS.deactivate(keeper, idle));
    const bot = { username: 'bot', email: 'bot@example.org', accountType: 'ServiceAccount' };
    const { id } = (await keeper.post(USERS, bot)).json;
    const given = await keeper.put(`${USERS}/${id}/roles`, { roleIds: [ADMINISTRATOR_ROLE_ID] });
    expect(given.status).to.equal(200);
    for (const [name, way] of Object.entries(WAYS)) await expectRefused(way, keeper, last, name);
    expect((await WAYS.delete(keeper, idle)).status, 'one who was none').to.equal(204);
  });

  it('may be one through a group alone', async () => {
    const direct = await onlyAdministrator('dora');
    const member = await makeUser(hawser, { username: 'mia', roles: ['Viewer'] });
    await join(member);
    await ok(200, WAYS.demote(keeper, direct));
    expect((await direct.client.get(USERS)).status).to.equal(403);
    expect((await WAYS.demote(keeper, member)).status, 'a role that does not matter').to.equal(200);
    expect((await member.client.get(USERS)).status, 'by way of the group').to.equal(200);
    await expectRefused(WAYS.delete, keeper, member, 'delete');
    await expectRefused(WAYS.deactivate, keeper, member, 'deactivate');
  });

  it('through a group is left by two requests at once', async () => {
    const direct = await onlyAdministrator('dana');
    const member = await makeUser(hawser, { username: 'mona' });
    await join(member);
    const replies = await Promise.all([WAYS.delete(keeper, member), WAYS.demote(keeper, direct)]);
    const refused = replies.filter((reply) => reply.status === 409);
    expect(refused.map((reply) => reply.json.code)).to.deep.equal(['last_administrator']);
  });
});
