// full: SQLite, PostgreSQL
/** Approvals of change sets: whose count, for how long, what is refused without them, and who passes them in an emergency. */

import { join } from 'node:path';
import { expect } from 'chai';
import { MINUTE } from '../../src/lib/clock.ts';
import { proposed, protect, SETS, setOf, unprotected } from '../support/change-sets.ts';
import type { Client, Reply } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, fileOf, MAIN } from '../support/configurations.ts';
import { gitClient } from '../support/git-client.ts';
import { ALL_SCOPES, createToken, publishConfiguration, startHawser } from '../support/hawser.ts';
import { LockWatch } from '../support/lock-watch.ts';
import { makeUser, type Person } from '../support/people.ts';
import { publishing, setting } from '../support/previews.ts';
import { cloneOf } from '../support/push-author.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, SCOPE_TYPES } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n' };
const GROUPS = '/api/v1/groups';

interface ShownSet {
  id: number;
  digest: string;
  tip: string;
  approvals: { by: string; digest: string }[];
  protection: { missing: number; group: string | null }[];
  check: { canApply: boolean; blockers: { code: string }[] } | null;
}

describe('approvals of a change set', () => {
  const hawser = started(startHawser);
  let admin: Client;
  let count = 0;

  before(() => {
    admin = hawser.admin;
  });
  // So many people sign in here that the limit of attempts must be that of the next minute.
  beforeEach(() => hawser.clock.advance(MINUTE));

  /** A protected configuration with a set of `ann`, who has made the draft in it; `bob` and `eve` may approve. */
  async function council(protection: object = { approvals: 1 }) {
    count += 1;
    const name = `council-${count}`;
    await publishConfiguration(admin, name, { '1.0.0': FILES });
    const person = (who: string, level: 'Read' | 'Modify' = 'Modify') =>
      makeUser(hawser, {
        ...{ username: `${who}-${count}`, roles: ['Operator'] },
        grants: [{ on: 'configuration', name, level }],
      });
    const [ann, bob, eve] = [await person('ann'), await person('bob'), await person('eve')];
    await ok(201, addVersion(ann, name, { version: '1.1.0' }, { files: { ...FILES, 'a.txt': 'one\n' } }));
    await protectBy(name, protection);
    const set: ShownSet = await proposed(ann, [publishing(name, '1.1.0')]);
    return { name, ann, bob, eve, person, set };
  }
  const protectBy = (name: string, protection: object) =>
    ok(200, admin.put(`${CONFIGURATIONS}/${name}/settings`, { protection: unprotected(protection) }));
  const see = (client: Client, set: { id: number }): Promise<ShownSet> => ok(200, client.get(setOf(set)));
  const approve = (client: Client, { id, digest }: ShownSet) =>
    client.post(`${setOf({ id })}/approve`, { digest });
  const apply = (client: Client, { id, digest }: ShownSet, more: object = {}): Promise<Reply> =>
    client.post(`${setOf({ id })}/apply`, { digest, ...more });
  const write = (client: Client, name: string, text: string, version = '1.1.0') =>
    client.call('PUT', fileOf(name, version, 'a.txt'), {
      ...{ body: text, headers: { 'Content-Type': 'application/octet-stream' } },
    });
  const missing = ({ protection }: ShownSet) => protection.map((each) => each.missing);
  const board = async (name: string, ...people: Person[]) => {
    const { id } = await ok(201, admin.post(GROUPS, { name }));
    const seat = (...now: Person[]) =>
      ok(200, admin.put(`${GROUPS}/${id}/members`, { userIds: now.map(({ userId }) => userId) }));
    await seat(...people);
    return { id, seat };
  };

  it('are asked for before it is applied, and count once for each person who is not its own', async () => {
    const { ann, bob, eve, set } = await council({ approvals: 2 });
    expect([missing(set), set.check?.canApply]).to.deep.equal([[2], false]);
    expect(set.check?.blockers.map(({ code }) => code)).to.deep.equal(['approvals_missing']);
    await expectProblem(apply(ann, set), 409, 'approvals_missing');
    await expectProblem(approve(ann, set), 409, 'same_person');
    const once: ShownSet = await ok(200, approve(bob, set));
    expect(missing(once)).to.deep.equal([1]);
    expect(once.approvals.map(({ by }) => by)).to.deep.equal([bob.username]);
    const again: ShownSet = await ok(200, approve(bob, set));
    expect([missing(again), again.tip === once.tip]).to.deep.equal([[1], true]);
    await ok(200, approve(eve, set));
    await ok(200, eve.delete(`${setOf(set)}/approve`));
    await expectProblem(eve.delete(`${setOf(set)}/approve`), 404, 'not_found');
    await expectProblem(apply(ann, set), 409, 'approvals_missing');
    const twice: ShownSet = await ok(200, approve(eve, set));
    expect([missing(twice), twice.check?.canApply]).to.deep.equal([[0], true]);
    const applied: ShownSet = await ok(200, apply(ann, twice));
    expect([missing(applied), applied.approvals.length]).to.deep.equal([[0], 2]);
    await expectProblem(approve(bob, applied), 409, 'not_possible');
    await protectBy(`council-${count}`, { approvals: 5 });
    expect(missing(await see(ann, set)), 'as it was when it was applied').to.deep.equal([0]);
  });

  it('end with another commit on a draft, and with another digest', async () => {
    const { name, ann, bob, eve, set } = await council();
    await ok(200, approve(bob, set));
    await ok(200, write(ann, name, 'two\n'));
    const now = await see(ann, set);
    expect(missing(now)).to.deep.equal([1]);
    await expectProblem(apply(ann, set), 412, 'precondition_failed');
    await expectProblem(approve(eve, set), 412, 'precondition_failed');
    await expectProblem(apply(ann, now), 409, 'approvals_missing');
    await ok(200, approve(eve, now));
    const edited: ShownSet = await ok(
      200,
      ann.put(setOf(set), { title: 'edited', deeds: [publishing(name, '1.1.0')] }),
    );
    expect([missing(edited), edited.approvals]).to.deep.equal([[1], []]);
  });

  it('are not given by who edited the set or a draft in it, whoever wrote the draft last', async () => {
    const { name, ann, bob, eve, person, set } = await council();
    await ok(200, write(bob, name, 'by bob\n'));
    await ok(200, write(ann, name, 'by ann\n'));
    await expectProblem(approve(bob, await see(bob, set)), 409, 'same_person');
    const dan = await person('dan');
    await ok(200, ann.put(setOf(set), { title: 'edited', deeds: [publishing(name, '1.1.0')] }));
    const now = await see(ann, set);
    await ok(200, approve(dan, now));
    expect(missing(await see(ann, set))).to.deep.equal([0]);
    // A file of parameters has its writers too.
    const files: ShownSet = await proposed(ann, [setting(name, '1.0.0', 'parameters: {a: 1}\n')]);
    expect(missing(files)).to.deep.equal([1]);
    await expectProblem(approve(ann, files), 409, 'same_person');
    await ok(200, approve(eve, files));
    await ok(200, apply(ann, files));
  });

  it('are not given by who made a draft that somebody else has pushed over since', async () => {
    const { name, ann, bob, eve } = await council();
    const [version, draft] = ['1.2.0', 'refs/heads/draft/1.2.0'];
    await ok(201, addVersion(bob, name, { version }, { files: { ...FILES, 'b.txt': 'by bob\n' } }));
    hawser.clock.advance(MINUTE);
    const git = gitClient(hawser);
    try {
      const token = await createToken(hawser.client(), ann.session, ALL_SCOPES);
      const clone = await cloneOf(git, name, token);
      await clone.ok('checkout', '-q', `origin/draft/${version}`);
      await clone.commit({ 'a.txt': 'by ann\n' });
      await clone.ok('push', '-q', 'origin', `HEAD:${draft}`);
      const set: ShownSet = await proposed(ann, [publishing(name, version)]);
      await expectProblem(approve(bob, set), 409, 'same_person');
      await ok(200, write(ann, name, 'by ann again\n', version));
      const now = await see(ann, set);
      await expectProblem(approve(bob, now), 409, 'same_person');
      await ok(200, approve(eve, now));
      // What was deleted is no part of a draft of the same name.
      await ok(204, admin.delete(`${CONFIGURATIONS}/${name}/versions/${version}`));
      hawser.clock.advance(MINUTE);
      const other = await cloneOf(git, name, token);
      await other.commit({ 'a.txt': 'by ann alone\n' });
      await other.ok('push', '-q', 'origin', `HEAD:${draft}`);
      await ok(200, approve(bob, await see(bob, set)));
    } finally {
      git.close();
    }
  });

  it('count by what somebody holds on what is protected, now and not when the approval was given', async () => {
    const { name, ann, bob, eve, person, set } = await council();
    const reader = await person('reader', 'Read');
    const stranger = await makeUser(hawser, { username: `stranger-${count}`, roles: ['Operator'] });
    await expectProblem(approve(reader, set), 403, 'forbidden');
    await expectProblem(approve(stranger, set), 404, 'not_found');
    const inherited = await makeUser(hawser, {
      ...{ username: `no-nodes-${count}`, permissions: [] },
      grants: [{ on: 'configuration', name, level: 'Modify' }],
    });
    await expectProblem(approve(inherited, set), 403, 'forbidden');
    await ok(200, approve(bob, set));
    const listed = async (client: Client) =>
      (await ok(200, client.get(`${SETS}?approvable=true`))).map(({ id }: ShownSet) => id);
    expect(await listed(bob)).to.not.include(set.id);
    expect(await listed(eve)).to.include(set.id);
    for (const other of [ann, reader, stranger, inherited])
      expect(await listed(other)).to.not.include(set.id);
    await ok(200, admin.put(`/api/v1/users/${bob.userId}`, await userWith(bob, { isActive: false })));
    expect(missing(await see(ann, set))).to.deep.equal([1]);
    await expectProblem(apply(ann, set), 409, 'approvals_missing');
    await ok(200, admin.put(`/api/v1/users/${bob.userId}`, await userWith(bob, { isActive: true })));
    expect(missing(await see(ann, set))).to.deep.equal([0]);
    // Where nothing protects a set, Modify on something that it names is enough.
    await publishConfiguration(admin, `free-${count}`, { '1.0.0': FILES });
    await ok(201, addVersion(admin, `free-${count}`, { version: '1.1.0' }, { files: FILES }));
    const free: ShownSet = await proposed(admin, [
      publishing(`free-${count}`, '1.1.0'),
      ...[{ kind: 'Withdraw', configurationName: name, version: '1.0.0', reason: 'r' }],
    ]);
    expect(free.protection, 'withdrawing is free').to.deep.equal([]);
    await expectProblem(approve(reader, free), 403, 'forbidden');
    await ok(200, approve(eve, free));
    expect(await listed(eve), 'no approval counts there').to.not.include(free.id);
  });

  const userWith = async ({ userId }: Person, change: object) => {
    const { username, email, isActive } = await ok(200, admin.get(`/api/v1/users/${userId}`));
    return { username, email, isActive, ...change };
  };

  it('are given by people alone, and only for the set as it was seen', async () => {
    const { name, ann, set } = await council();
    const robot = await ok(
      201,
      admin.post('/api/v1/users', {
        ...{ username: `robot-${count}`, email: 'robot@example.org', accountType: 'ServiceAccount' },
      }),
    );
    const roles: { id: string; name: string }[] = await ok(200, admin.get('/api/v1/roles?take=1000'));
    const operator = roles.find((role) => role.name === 'Operator')?.id;
    await ok(200, admin.put(`/api/v1/users/${robot.id}/roles`, { roleIds: [operator] }));
    await ok(
      204,
      admin.put(`${CONFIGURATIONS}/${name}/permissions`, {
        ...{ principalType: 'User', principalId: robot.id, level: 'Modify' },
      }),
    );
    const session = hawser.client().with({ Cookie: hawser.session });
    const { token } = await ok(
      201,
      session.post(`/api/v1/users/${robot.id}/tokens`, {
        ...{ name: 't', scopes: ['nodes.read', 'configurations.grants', 'parameters.grants'] },
      }),
    );
    const client = hawser.client().with({ Authorization: `Bearer ${token}` });
    await see(client, set);
    await expectProblem(approve(client, set), 403, 'forbidden');
    expect(missing(await see(ann, set))).to.deep.equal([1]);
  });

  it('count of members of the group since before the set was made, however often it is edited', async () => {
    const { name, ann, bob, eve, set: early } = await council({ approvals: 1 });
    const group = await board(`Board ${count}`, eve);
    await protectBy(name, { approvals: 1, groupId: group.id });
    const before = await see(ann, early);
    expect(before.protection[0]?.group).to.equal(`Board ${count}`);
    // Eve has joined only after this one was made.
    await expectProblem(approve(eve, before), 403, 'forbidden');
    const deeds = [publishing(name, '1.1.0')];
    const set: ShownSet = await proposed(ann, deeds);
    await group.seat(eve, bob);
    await expectProblem(approve(bob, set), 403, 'forbidden');
    const edited: ShownSet = await ok(200, ann.put(setOf(set), { title: 'edited', deeds }));
    await expectProblem(approve(bob, edited), 403, 'forbidden');
    expect(missing(await ok(200, approve(eve, edited))), 'she stayed').to.deep.equal([0]);
    const next: ShownSet = await proposed(ann, deeds);
    expect(missing(await ok(200, approve(bob, next)))).to.deep.equal([0]);
    await group.seat(eve);
    expect(missing(await see(ann, next)), 'he is out').to.deep.equal([1]);
    await group.seat(eve, bob);
    expect(missing(await see(ann, next)), 'he came back too late').to.deep.equal([1]);
    await expectProblem(approve(bob, next), 403, 'forbidden');
  });

  it('of a scope value are given by who may change its files and tags', async () => {
    const { name, ann, bob, eve } = await council({ byChangeSetOnly: true });
    const type = await createScopeType(hawser, `Env${count}`);
    const value = await createScopeValue(hawser, type, 'prod');
    const at = `${SCOPE_TYPES}/${type}/values/${value}`;
    await ok(200, admin.put(at, { description: null, protection: unprotected({ approvals: 1 }) }));
    const node = await hawser.registerNode(`approved-${count}.example.org`);
    const tagging = [{ kind: 'Tag', nodeIds: [node.nodeId], scopeValueId: value }];
    const set: ShownSet = await proposed(ann, [
      ...tagging,
      setting(name, '1.0.0', 'parameters: {a: 1}\n', { scopeTypeName: `Env${count}`, scopeValue: 'prod' }),
    ]);
    expect(missing(set).sort()).to.deep.equal([0, 1]);
    const viewer = await makeUser(hawser, {
      ...{ username: `viewer-${count}`, permissions: ['nodes.read'] },
      grants: [{ on: 'configuration', name, level: 'Modify' }],
    });
    // Modify on the configuration is enough for what that protects, and not for the tags.
    expect(missing(await ok(200, approve(viewer, set))).sort()).to.deep.equal([0, 1]);
    expect(missing(await ok(200, approve(bob, set))).sort()).to.deep.equal([0, 0]);
    await ok(200, apply(ann, set));
    const weaker: ShownSet = await proposed(admin, [protect({ scopeValueId: value }, unprotected())]);
    await expectProblem(approve(eve, weaker), 403, 'forbidden');
    const scopes = await makeUser(hawser, {
      ...{ username: `scopes-${count}`, permissions: ['nodes.read', 'scopes.admin-override'] },
    });
    await ok(200, approve(scopes, weaker));
    await ok(200, apply(admin, weaker));
    expect((await ok(200, admin.get(at))).protection).to.deep.equal(unprotected());
  });

  it('are passed in an emergency by holders of the overrides, with a reason that stays', async () => {
    const { ann, set } = await council({ approvals: 2 });
    await expectProblem(apply(ann, set, { override: 'the shop is down' }), 403, 'forbidden');
    await expectProblem(apply(admin, set), 409, 'approvals_missing');
    await expectProblem(
      apply(admin, { ...set, digest: 'another' }, { override: 'the shop is down' }),
      412,
      'precondition_failed',
    );
    await expectProblem(apply(admin, set, { override: '' }), 400, 'validation_failed');
    const applied = await ok(200, apply(admin, set, { override: 'the shop is down' }));
    expect(applied.override).to.include({ by: 'admin', reason: 'the shop is down' });
    expect(missing(applied)).to.deep.equal([2]);
    expect((await see(ann, set)) as object).to.have.deep.property('override', applied.override);
    const trail: { action: string; details: { reason?: string } }[] = await ok(
      200,
      admin.get('/api/v1/audit?action=change_set.overridden'),
    );
    expect(trail[0]?.details.reason).to.equal('the shop is down');
    // Where nothing is missing, nothing is passed.
    const { ann: other, bob, set: enough } = await council();
    await ok(200, approve(bob, enough));
    const calm = await ok(200, apply(admin, enough, { override: 'just in case' }));
    expect([calm.override, missing(await see(other, enough))]).to.deep.equal([null, [0]]);
  });

  it('are passed for nothing that is protected only while it is being applied, without its override', async () => {
    const { name } = await council();
    const tags = await createScopeType(hawser, `Late${count}`);
    const value = await createScopeValue(hawser, tags, 'Shop');
    const node = await hawser.registerNode(`late-${count}.example.org`);
    const boss = await makeUser(hawser, {
      ...{ username: `boss-${count}`, roles: ['Operator'], permissions: ['configurations.admin-override'] },
      grants: [{ on: 'configuration', name, level: 'Modify' }],
    });
    const deeds = [
      publishing(name, '1.1.0'),
      { kind: 'Tag', nodeIds: [node.nodeId], scopeValueId: value },
    ] as const;
    const both: ShownSet = await proposed(boss, deeds);
    const watch = new LockWatch();
    try {
      const { isHeld, letGo } = watch.holdRepository();
      const held = addVersion(admin, name, { version: '9.0.0' }, { files: FILES });
      await isHeld;
      const applying = apply(boss, both, { override: 'the shop is down' });
      await watch.untilWaiting(1);
      const late = { description: null, protection: unprotected({ approvals: 1 }) };
      await ok(200, admin.put(`${SCOPE_TYPES}/${tags}/values/${value}`, late));
      letGo();
      await ok(201, held);
      await expectProblem(applying, 403, 'forbidden');
    } finally {
      watch.stop();
    }
    expect(missing(await see(boss, both))).to.deep.equal([1, 1]);
  });

  it('are told in Git by a commit of the person, with a file for each that is there', async () => {
    const { ann, bob, eve, set } = await council({ approvals: 1 });
    await ok(200, approve(bob, set));
    await ok(200, approve(eve, set));
    await ok(200, eve.delete(`${setOf(set)}/approve`));
    await ok(200, apply(ann, set));
    const client = gitClient(hawser);
    try {
      const token = await createToken(hawser.client(), hawser.session, ['audit.read']);
      await client.run('clone', '-q', '--mirror', client.url('changes', token), 'story');
      const git = async (...args: string[]) =>
        (await client.run('-C', join(client.folder, 'story'), ...args)).output.trimEnd();
      const branch = `change/${set.id}`;
      const log = (await git('log', '-5', '--format=%an|%s', branch)).split('\n');
      const people = [ann, eve, eve, bob, ann].map(({ username }) => `${username}|a change`);
      expect(log).to.deep.equal(people);
      expect((await git('ls-tree', '-r', '--name-only', branch)).split('\n')).to.deep.equal([
        `approvals/${bob.username}.json`,
        'change.json',
      ]);
      const told = JSON.parse(await git('show', `${branch}:approvals/${bob.username}.json`));
      expect(told).to.include({ by: bob.username, digest: set.digest });
    } finally {
      client.close();
    }
  });
});
