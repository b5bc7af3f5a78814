import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Database } from '../../../src/db/database.ts';
import { openDatabase } from '../../../src/db/open.ts';
import { noteRefsMoved } from '../../../src/db/repository-rows.ts';
import { withdrawVersion } from '../../../src/deeds/withdraw.ts';
import { applyDeed, type Deed, type Transition } from '../../../src/domain/rollout-machine.ts';
import { TagSource } from '../../../src/git/tag-source.ts';
import { conflict } from '../../../src/lib/errors.ts';
import { actorOf, systemActor } from '../../../src/security/audit.ts';
import type { UserPrincipal } from '../../../src/security/principal.ts';
import { adoptVersion, groupTags, requireOwner } from '../../../src/versions/adopt.ts';
import { authorVersions } from '../../../src/versions/author.ts';
import { moveRollout, type RolloutTarget, startRollout } from '../../../src/versions/rollouts.ts';
import type { Owner, ResourceKind, Target } from '../../../src/versions/rows.ts';
import type { GitStore } from '../../../src/versions/store.ts';
import { itOnSqlite, placeOf } from '../../support/engine.ts';
import { messageOf, publishInto, recordOf } from '../git/rollout-support.ts';
import { AT, addVersion, BOB, codeOf, makeStore, makeWeb, publish, runGit, WEB } from '../git/support.ts';

const ADA: UserPrincipal = {
  ...{ kind: 'user', userId: 'u', username: 'ada', email: 'ada@example.org', accountType: 'User' },
  ...{ authMethod: 'Session', credentialId: 'c', scopes: null, credentialEndsAt: null },
} as UserPrincipal;

describe('rollouts and their audit entries', () => {
  let root: string;
  let database: Database;
  let store: GitStore;
  let target: Target<ResourceKind>;
  let server: RolloutTarget;

  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'hawser-rollouts-'));
    database = await openDatabase(await placeOf(join(root, 'data')));
    const { repositories: tables, locks } = database;
    store = makeStore(join(root, 'repos'), [], {
      onRefsMoved: (ref, _isAwaited, trx = database.write) => noteRefsMoved(trx, ref, AT),
      locks,
      ...(tables && { shared: { reader: tables, tables } }),
    });
    await store.prepare();
    const owner = (await requireOwner({ database, store, now: AT }, WEB)) as Owner<ResourceKind>;
    const actor = actorOf(ADA, { address: '::1', requestId: 'r', now: AT });
    target = { ...owner, principal: ADA, actor };
    server = { ...owner, principal: null, actor: systemActor(AT + 1_000) };
    await addVersion(store, '1.0.0');
    await publish(store, '1.0.0');
  });
  afterEach(async () => {
    await store.close();
    await database.close();
    rmSync(root, { recursive: true });
  });

  const start = (version: string) =>
    startRollout({ database, store }, target, {
      version,
      files: [],
      rules: async () => [],
      begin: ({ tag, publishedBy }) => ({ ...recordOf(version, tag ?? ''), publishedBy }),
    });
  const deed = (version: string, name: Deed, by: RolloutTarget = server) =>
    moveRollout({ database, store }, by, version, ({ record }) => {
      const input = { actorName: 'x', at: AT, reason: `${name} it`, counts: null };
      return applyDeed(record, name, input) as Transition;
    });
  const entries = async () => {
    const rows = await database.read
      .selectFrom('audit_entries')
      .select(['action', 'actor_name', 'details'])
      .orderBy('seq')
      .execute();
    return rows
      .map(({ details, ...row }) => ({ ...row, ...JSON.parse(details ?? '{}') }))
      .filter(({ action }) => action !== 'configuration.adopted')
      .map(({ action, actor_name, version, what }) =>
        [actor_name, action.replace('configuration.', ''), version, what].filter(Boolean).join(' '),
      );
  };
  const stateOf = async (version: string) =>
    (await store.versions(WEB)).get(version)?.rollout?.record.state ?? null;
  const publishPlainly = (version: string) =>
    authorVersions({ database, store, locks: database.locks }, target, (author) =>
      author.publish(version, async () => []),
    );

  it('publish a draft into its rollout, and move on by whoever moves them', async () => {
    await addVersion(store, '1.1.0');
    const { record } = await start('1.1.0');
    const ref = (await store.versions(WEB)).get('1.1.0');
    expect(ref).to.deep.include({ status: 'Published', oid: record.tag });
    expect(record).to.deep.include({ state: 'Running', publishedBy: 'ada' });
    await deed('1.1.0', 'pause', target);
    await deed('1.1.0', 'resume');
    expect(await entries()).to.deep.equal([
      'ada version_published 1.1.0',
      'ada rollout_started 1.1.0',
      'ada rollout_moved 1.1.0 Paused',
      'hawser rollout_moved 1.1.0 Resumed',
    ]);
    const now = (await store.versions(WEB)).get('1.1.0');
    const history = now?.rollout ? await store.rolloutHistory(WEB, now.rollout) : [];
    expect(history.map(({ actorName, from, to, reason }) => [actorName, from, to, reason])).to.deep.equal([
      ['ada', null, 'Running', ''],
      ['ada', 'Running', 'Paused', 'pause it'],
      ['Hawser', 'Paused', 'Running', 'resume it'],
    ]);
  });

  it('begin with the highest published version, and not with others', async () => {
    await addVersion(store, '1.1.0');
    await publish(store, '1.1.0');
    expect(await codeOf(start('1.0.0'))).to.equal('not_possible');
    expect((await start('1.1.0')).record.publishedBy).to.equal('Bob');
    expect(await codeOf(start('1.1.0'))).to.equal('rollout_running');
    await deed('1.1.0', 'halt');
    expect(await codeOf(start('1.1.0'))).to.equal('rollout_halted');
    expect(await codeOf(start('9.9.9'))).to.equal('not_found');
    expect(await codeOf(deed('1.0.0', 'halt'))).to.equal('not_found');
  });

  it('end with that of a higher version, which is not published without one', async () => {
    for (const version of ['1.0.1', '1.1.0', '1.2.0']) await addVersion(store, version);
    await start('1.1.0');
    expect(await codeOf(publishPlainly('1.2.0'))).to.equal('rollout_running');
    expect(await codeOf(start('1.0.1'))).to.equal('rollout_running');
    await publishPlainly('1.0.1');
    await start('1.2.0');
    expect([await stateOf('1.1.0'), await stateOf('1.2.0')]).to.deep.equal(['Superseded', 'Running']);
    expect((await entries()).slice(3)).to.have.members([
      'ada rollout_moved 1.1.0 Superseded by 1.2.0',
      'ada version_published 1.2.0',
      'ada rollout_started 1.2.0',
    ]);
  });

  it('leave nothing where the version cannot be published', async () => {
    for (const version of ['1.1.0', '1.2.0']) await addVersion(store, version);
    await start('1.1.0');
    const before = await entries();
    const failing = startRollout({ database, store }, target, {
      version: '1.2.0',
      files: [],
      rules: async () => [],
      begin: () => {
        throw conflict('not_possible', 'no record');
      },
    });
    expect(await codeOf(failing)).to.equal('not_possible');
    expect([await stateOf('1.1.0'), await stateOf('1.2.0')]).to.deep.equal(['Running', null]);
    expect((await store.versions(WEB)).get('1.2.0')?.status).to.equal('Draft');
    expect(await entries()).to.deep.equal(before);
  });

  it('are halted and reverted when the version is withdrawn', async () => {
    await addVersion(store, '1.1.0');
    await start('1.1.0');
    await withdrawVersion({ database, store, locks: database.locks }, target, '1.1.0', 'bad');
    const ref = (await store.versions(WEB)).get('1.1.0');
    expect(ref?.withdrawn?.reason).to.equal('bad');
    expect(ref?.rollout?.record).to.deep.include({ state: 'Halted', isReverted: true });
    expect((await entries()).slice(-2)).to.deep.equal([
      'ada version_withdrawn 1.1.0',
      'ada rollout_moved 1.1.0 Halted and reverted',
    ]);
  });

  it('come with the versions of another repository', async () => {
    const other = makeStore(join(root, 'other'), []);
    await other.prepare();
    await makeWeb(other, '3.0.0');
    const begun = await publishInto(other, '3.0.0');
    await other.close();
    const path = join(root, 'other', 'configurations', 'web.git');
    const source = await TagSource.open(path, join(root, 'unused'), process.env['PATH'] ?? '');
    const { groups } = groupTags('configurations', source.tags);
    const [group = []] = groups;
    const load = () => source.objectsOf(group.map(({ oid }) => oid));
    const taken = await adoptVersion({ database, store, now: AT }, target, { group, load });
    expect([groups.length, ...taken]).to.have.members([1, 'refs/tags/v3.0.0', 'refs/heads/rollout/3.0.0']);
    expect((await store.versions(WEB)).get('3.0.0')?.rollout).to.deep.equal(begun);
    expect(await entries()).to.have.members([
      'hawser version_published 3.0.0',
      'hawser rollout_started 3.0.0',
    ]);
  });

  itOnSqlite(
    'are recorded by the next holder of the lock where the server was killed before it did',
    async () => {
      await addVersion(store, '1.1.0');
      const { actor, resource } = target;
      const entry = { actor, resourceId: resource.id, details: { version: '1.1.0' }, replaces: null };
      await store.exclusive(WEB, async (writer) => {
        writer.plan({ ...entry, action: 'configuration.version_published' });
        const begin = (tag: string) => ({ record: recordOf('1.1.0', tag), message: messageOf() });
        const rollout = { entry: { ...entry, action: 'configuration.rollout_started' as const }, begin };
        await writer.publish('', '1.1.0', { tagger: BOB, at: AT, rollout });
      });
      expect(await entries()).to.deep.equal([]);
      await deed('1.1.0', 'pause');
      expect(await entries()).to.deep.equal([
        'ada rollout_started 1.1.0',
        'ada version_published 1.1.0',
        'hawser rollout_moved 1.1.0 Paused',
      ]);
      const ref = (await store.versions(WEB)).get('1.1.0');
      const begun = ref ? await git(store, `${ref.rollout?.oid}^`) : null;
      const commits = await database.read
        .selectFrom('audit_entries')
        .select('details')
        .orderBy('seq')
        .execute();
      const said = commits.map(({ details }) => JSON.parse(details ?? '{}').commit).filter(Boolean);
      expect(said).to.deep.equal([begun, ref?.commit, { from: begun, to: ref?.rollout?.oid }]);
    },
  );
});

async function git({ root }: GitStore, name: string): Promise<string> {
  return runGit(join(root, 'configurations', 'web.git'), 'rev-parse', name);
}
