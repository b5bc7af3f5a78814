// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Reply } from '../support/client.ts';
import { COMPOSITES, compositeOf, createComposite } from '../support/composites.ts';
import { addVersion, CONFIGURATIONS, create, versionsOf } from '../support/configurations.ts';
import { withDatabase } from '../support/database.ts';
import { itOnPostgres, itOnSqlite } from '../support/engine.ts';
import { untilNumbered } from '../support/events.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { publishVersions } from '../support/retention.ts';
import { started } from '../support/started.ts';
import { allowRows, refuseRows } from '../support/triggers.ts';
import { offerAgain, withdraw } from '../support/withdrawals.ts';

const SERVER = '/api/v1/settings/validation';

/** A trigger stands in for a disk that is full just when the entry is to be written. */
describe('while no entry can be written to the audit trail', () => {
  const hawser = started(startHawser);
  let bob: Person;

  before(async () => {
    bob = await makeUser(hawser, { username: 'bob', roles: ['Viewer'] });
    await ok(201, create(hawser.admin, 'web'));
    await ok(201, createComposite(hawser.admin, 'site'));
    await publishVersions(hawser.admin, 'taken', '1.0.0', '1.1.0');
    await ok(200, withdraw(hawser.admin, 'taken', '1.0.0'));
    await refuseRows(hawser, 'audit_entries');
  });

  /** What all of the addresses answer, bytes and all. */
  const state = async () => {
    const paths = [
      ...[CONFIGURATIONS, COMPOSITES, compositeOf('site'), SERVER, `${CONFIGURATIONS}/web/settings`],
      ...[`${CONFIGURATIONS}/web/settings/retention`, `${CONFIGURATIONS}/web/permissions`],
    ];
    return Promise.all(paths.map(async (path) => (await hawser.admin.get(path)).text));
  };

  it('nothing in the database changes', async () => {
    const before = await state();
    const { admin } = hawser;
    const web = `${CONFIGURATIONS}/web`;
    const [creator] = await ok(200, admin.get(`${web}/permissions`));
    const holder = { principalType: 'User', principalId: bob.userId };
    const calls: (() => Promise<Reply>)[] = [
      () => create(admin, 'other'),
      () => createComposite(admin, 'other'),
      () => admin.call('PATCH', web, { json: { description: 'x' } }),
      () => admin.put(`${web}/settings`, { requireSemVer: false }),
      () => admin.put(`${web}/settings/retention`, { keepVersions: 1 }),
      () => admin.put(`${web}/permissions`, { ...holder, level: 'Read' }),
      () => admin.delete(`${web}/permissions/User/${creator.principalId}`),
      () => admin.put(SERVER, { requireSemVer: false }),
      () => admin.delete(web),
      () => admin.delete(compositeOf('site')),
    ];
    for (const call of calls) await expectProblem(call(), 500, 'internal_error', `${call}`);
    expect(await state()).to.deep.equal(before);
  });

  it('a change in Git is taken back, and its author is told of the fault', async () => {
    const before = hawser.git('configurations/web.git', 'for-each-ref');
    await expectProblem(addVersion(hawser.admin, 'web', { version: '3.0.0' }), 500, 'internal_error');
    await expectProblem(hawser.admin.put(`${versionsOf('web')}/1.0.0/publish`), 500, 'internal_error');
    await expectProblem(hawser.admin.delete(`${versionsOf('web')}/1.0.0`), 500, 'internal_error');
    const versions = await ok(200, hawser.admin.get(versionsOf('web')));
    expect(
      versions.map((of: { version: string; status: string }) => `${of.version} ${of.status}`),
    ).to.deep.equal(['1.0.0 Draft']);
    expect(hawser.git('configurations/web.git', 'for-each-ref')).to.equal(before);
  });

  it('so is a withdrawal, and the end of one', async () => {
    const before = hawser.git('configurations/taken.git', 'for-each-ref');
    const shown = (await hawser.admin.get(versionsOf('taken'))).text;
    await expectProblem(withdraw(hawser.admin, 'taken', '1.1.0'), 500, 'internal_error');
    await expectProblem(offerAgain(hawser.admin, 'taken', '1.0.0'), 500, 'internal_error');
    expect(hawser.git('configurations/taken.git', 'for-each-ref')).to.equal(before);
    expect((await hawser.admin.get(versionsOf('taken'))).text).to.equal(shown);
  });

  it('and when it can again, names that failed are free and all goes on', async () => {
    await allowRows(hawser, 'audit_entries');
    await ok(201, create(hawser.admin, 'other'));
    await ok(201, createComposite(hawser.admin, 'other'));
    await ok(201, addVersion(hawser.admin, 'web', { version: '3.0.0' }));
    await ok(200, hawser.admin.put(`${versionsOf('web')}/3.0.0/publish`));
    await ok(200, withdraw(hawser.admin, 'taken', '1.1.0'));
    await ok(204, offerAgain(hawser.admin, 'taken', '1.0.0'));
    await ok(204, hawser.admin.delete(`${CONFIGURATIONS}/web`));
    const left: { name: string }[] = await ok(200, hawser.admin.get(CONFIGURATIONS));
    expect(left.map(({ name }) => name)).to.deep.equal(['other', 'taken']);
  });
});

describe('a change of a version', () => {
  const HAWSER_METRICS_TOKEN = 'a-token-for-the-metrics';
  const headers = { Authorization: `Bearer ${HAWSER_METRICS_TOKEN}` };

  const changesOf = (hawser: Hawser): [number, () => Promise<Reply>][] => [
    [201, () => addVersion(hawser.admin, 'web', { version: '2.0.0' })],
    [200, () => hawser.admin.put(`${versionsOf('web')}/2.0.0/publish`)],
    [204, () => hawser.admin.delete(`${versionsOf('web')}/1.0.0`)],
    [200, () => withdraw(hawser.admin, 'web', '2.0.0')],
    [204, () => offerAgain(hawser.admin, 'web', '2.0.0')],
  ];

  itOnSqlite('is told to the caches and to the audit trail in one commit', async () => {
    const hawser = await startHawser({ HAWSER_METRICS_TOKEN });
    /** The leader gives events their positions in a commit of its own, so this waits until each has one. */
    const settled = async () => {
      const events = await untilNumbered(hawser);
      const { text } = await hawser.client().get('/metrics', headers);
      const commits = /^hawser_database_write_duration_seconds_count (\d+)/m.exec(text)?.[1];
      return { commits: Number(commits), events };
    };
    await ok(201, create(hawser.admin, 'web'));
    for (const [status, change] of changesOf(hawser)) {
      const before = await settled();
      await ok(status, change());
      const after = await settled();
      const numbering = after.events > before.events ? 1 : 0;
      expect(after.commits - before.commits, `${change}`).to.equal(1 + numbering);
    }
    await hawser.close();
  });

  itOnPostgres('is one commit with its refs, the feed and its audit entry', async () => {
    const hawser = await startHawser();
    await ok(201, create(hawser.admin, 'web'));
    for (const [status, change] of changesOf(hawser)) {
      await ok(status, change());
      // Rows of one transaction have its number.
      const { rows } = await withDatabase(hawser, ({ read }) =>
        sql<{ entry: string; feed: string; refs: string }>`select
          (select xmin::text from audit_entries order by seq desc limit 1) as entry,
          (select xmin::text from changes order by seq desc limit 1) as feed,
          (select xmin::text from git_repositories where name = 'web') as refs`.execute(read),
      );
      expect(new Set(Object.values(rows[0] ?? {})), `${change}`).to.have.property('size', 1);
    }
    await hawser.close();
  });
});
