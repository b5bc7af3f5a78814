// full: SQLite, PostgreSQL
/** Change sets that are applied at a time, by nobody who asks for it then. */

import { expect } from 'chai';
import { DAY, HOUR } from '../../src/lib/clock.ts';
import { auditEntries } from '../support/audit.ts';
import { allEvents, proposed, SETS, setOf } from '../support/change-sets.ts';
import type { Client } from '../support/client.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { describeOnPostgres } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { publishing } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

interface Shown {
  id: number;
  digest: string;
  state: string;
}

const FREEZE = '/api/v1/settings/freeze';

describe('a change set that is applied at a time', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let name: string;
  let tests = 0;
  beforeEach(async () => {
    tests += 1;
    name = `web-${tests}`;
    node = await prepare(hawser, name);
  });

  const see = (set: Shown) => ok(200, hawser.admin.get(setOf(set)));
  const propose = (client: Client = hawser.admin): Promise<Shown> =>
    proposed(client, [publishing(name, '1.1.0')]);
  const inHours = (hours: number) => new Date(hawser.clock.now() + hours * HOUR).toISOString();
  const apply = (set: Shown, more: object = { applyAt: inHours(1) }, client: Client = hawser.admin) =>
    client.post(`${setOf(set)}/apply`, { digest: set.digest, ...more });
  const offered = async () => (await poll(node)).json.version;
  const untilState = (set: Shown, state: string) =>
    eventually(async () => {
      const shown = await see(set);
      expect(shown.state).to.equal(state);
      return shown;
    });
  const toldOf = async ({ id }: Shown): Promise<string[]> =>
    (await allEvents(hawser))
      .filter(({ subject }) => subject === `change-sets/${id}`)
      .map(({ type }) => type);
  const person = (username: string) =>
    makeUser(hawser, {
      username,
      permissions: ['nodes.read'],
      grants: [{ on: 'configuration', name, level: 'Modify' }],
    });

  it('changes nothing before, and is applied then, with the entries of who scheduled it', async () => {
    const ann = await person('ann');
    const set = await propose(ann);
    const applyAt = inHours(1);
    const scheduled = await ok(202, apply(set, { applyAt, expectedChanged: 1 }, ann));
    expect(scheduled).to.include({ state: 'Scheduled', applyAt, appliedAt: null, failure: null });
    expect(await offered()).to.equal('1.0.0');

    hawser.clock.advance(HOUR + 1);
    const applied = await untilState(set, 'Applied');
    expect(applied).to.include({ appliedBy: 'ann', applyAt: null });
    expect(await offered()).to.equal('1.1.0');
    const entries = await auditEntries(hawser, 'take=20');
    const own = entries.filter(({ details }) => details?.['changeSetId'] === set.id);
    expect(own.map(({ action, actorName }) => [action, actorName])).to.deep.include.members([
      ['configuration.version_published', 'ann'],
      ['change_set.applied', 'ann'],
    ]);
    await eventually(async () =>
      expect(await toldOf(set)).to.deep.equal([
        ...['change_set.created', 'change_set.scheduled', 'change_set.applied'],
      ]),
    );
    const states = hawser.git('changes/changes.git', 'log', '--format=%an', `change/${set.id}`);
    expect(states.trim().split('\n').slice(0, 3)).to.deep.equal(['ann', 'ann', 'ann']);
  });

  it('is applied after a restart too, also where its time came meanwhile', async () => {
    const set = await propose();
    await ok(202, apply(set));
    hawser.clock.advance(2 * HOUR);
    await hawser.restart();
    await untilState(set, 'Applied');
    node = { ...node, client: hawser.client(node.identity) };
    expect(await offered()).to.equal('1.1.0');
  });

  it('takes a time from now to 30 days ahead, and looks at all that stands in the way now', async () => {
    const set = await propose();
    for (const applyAt of [inHours(-1), new Date(hawser.clock.now() + 30 * DAY + HOUR).toISOString(), 'soon'])
      await expectProblem(apply(set, { applyAt }), 400, 'validation_failed');
    await expectProblem(apply({ ...set, digest: 'a' }), 412, 'precondition_failed');
    await expectProblem(apply(set, { applyAt: inHours(1), expectedChanged: 7 }), 409, 'effect_changed');
    await ok(200, hawser.admin.put(FREEZE, { reason: 'sales', until: inHours(1) }));
    await expectProblem(apply(set), 423, 'frozen');
    await ok(204, hawser.admin.delete(FREEZE));
    await ok(204, hawser.admin.delete(`/api/v1/configurations/${name}/versions/1.1.0`));
    await expectProblem(apply(await see(set)), 409, 'not_found');
    expect((await see(set)).state).to.equal('Open');
  });

  it('is open again once it is called off or edited, and is applied at once where that is asked for', async () => {
    const set = await propose();
    await ok(202, apply(set));
    const open = await ok(200, hawser.admin.delete(`${setOf(set)}/apply`));
    expect(open).to.include({ state: 'Open', applyAt: null });
    await expectProblem(hawser.admin.delete(`${setOf(set)}/apply`), 409, 'not_possible');
    await ok(202, apply(set));
    const edited = await ok(
      200,
      hawser.admin.put(setOf(set), { title: 'edited', deeds: [publishing(name, '1.1.0')] }),
    );
    expect(edited).to.include({ state: 'Open', applyAt: null });
    const other = await propose();
    await ok(202, apply(other, { applyAt: inHours(2) }));
    hawser.clock.advance(3 * HOUR);
    await untilState(other, 'Applied');
    expect((await see(set)).state).to.equal('Open');

    await ok(201, addVersion(hawser.admin, name, { version: '1.2.0' }));
    const last = await proposed(hawser.admin, [publishing(name, '1.2.0')]);
    await ok(202, apply(last));
    expect(await ok(200, apply(last, {}))).to.include({ state: 'Applied', applyAt: null });
  });

  it('fails with a reason, an event and nothing changed where its applier may no longer do it', async () => {
    const ben = await person('ben');
    const withToken = await ben.withToken('nodes.read', 'configurations.grants');
    const [lost, revoked, gone] = [await propose(ben), await propose(ben), await propose()];
    await ok(202, apply(lost, undefined, ben));
    await ok(202, apply(revoked, undefined, withToken));
    await ok(202, apply(gone));
    for (const { id } of await ok(200, ben.get('/api/v1/auth/tokens')))
      await ben.delete(`/api/v1/auth/tokens/${id}`);
    const users = await ok(200, hawser.admin.get('/api/v1/users?take=1000'));
    const { id, email } = users.find(({ username }: { username: string }) => username === 'ben');
    await ok(200, hawser.admin.put(`/api/v1/users/${id}`, { username: 'ben', email, isActive: false }));
    await ok(204, hawser.admin.delete(`/api/v1/configurations/${name}/versions/1.1.0`));

    hawser.clock.advance(HOUR + 1);
    for (const [set, code] of [
      [lost, 'unauthenticated'],
      [revoked, 'unauthenticated'],
      [gone, 'precondition_failed'],
    ] as const) {
      const failed = await untilState(set, 'Failed');
      expect(failed.failure.code).to.equal(code);
      expect(failed.failure.message).to.match(/\w/);
      expect(failed.appliedAt).to.equal(null);
      await eventually(async () => expect((await toldOf(set)).at(-1)).to.equal('change_set.failed'));
      await expectProblem(apply(failed, {}), 409, 'not_possible');
    }
    expect(await offered()).to.equal('1.0.0');
  });

  it('may do then what its token may then, and what its user may', async () => {
    const cleo = await person('cleo');
    const set = await propose(cleo);
    await ok(202, apply(set, undefined, cleo));
    await ok(
      204,
      hawser.admin.put(`/api/v1/configurations/${name}/permissions`, {
        principalType: 'User',
        ...{ principalId: cleo.userId, level: 'Read' },
      }),
    );
    hawser.clock.advance(HOUR + 1);
    expect((await untilState(set, 'Failed')).failure.code).to.equal('forbidden');
    expect(await offered()).to.equal('1.0.0');
  });

  it('fails during a freeze, and where it would change another number of nodes', async () => {
    const [frozen, other] = [await propose(), await propose()];
    await ok(202, apply(frozen));
    await ok(202, apply(other, { applyAt: inHours(3), expectedChanged: 1 }));
    await ok(200, hawser.admin.put(FREEZE, { reason: 'sales', until: inHours(2) }));
    hawser.clock.advance(HOUR + 1);
    expect((await untilState(frozen, 'Failed')).failure.code).to.equal('frozen');
    await ok(204, hawser.admin.delete(FREEZE));
    await assign(hawser, await hawser.registerNode(`more-${tests}.example.org`), name);
    hawser.clock.advance(2 * HOUR);
    expect((await untilState(other, 'Failed')).failure.code).to.equal('effect_changed');
    expect(await offered()).to.equal('1.0.0');
  });
});

describeOnPostgres('a change set that is scheduled where two servers are', function (this: Mocha.Suite) {
  it('is applied once', async () => {
    const one = await startHawser();
    const other = await startHawser({ HAWSER_DATABASE_URL: one.databaseUrl ?? '' }, { clock: one.clock });
    try {
      const node = await prepare(one, 'web');
      const set: Shown = await proposed(other.admin, [publishing('web', '1.1.0')]);
      const applyAt = new Date(one.clock.now() + HOUR).toISOString();
      await ok(202, other.admin.post(`${SETS}/${set.id}/apply`, { digest: set.digest, applyAt }));
      one.clock.advance(HOUR + 1);
      await eventually(async () =>
        expect((await ok(200, other.admin.get(setOf(set)))).state).to.equal('Applied'),
      );
      expect((await poll(node)).json.version).to.equal('1.1.0');
      const applied = await auditEntries(one, 'action=change_set.applied');
      expect(applied).to.have.length(1);
    } finally {
      await other.close();
      await one.close();
    }
  });
});

/** A node with version 1.0.0 of a configuration that has a draft 1.1.0. */
async function prepare(hawser: Hawser, name: string): Promise<NodeUnderTest> {
  await publishConfiguration(hawser.admin, name, { '1.0.0': { [MAIN]: '{}' } });
  const node = await hawser.registerNode(`${name}.example.org`);
  await assign(hawser, node, name);
  await ok(201, addVersion(hawser.admin, name, { version: '1.1.0' }));
  return node;
}
