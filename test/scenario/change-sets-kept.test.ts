// full: SQLite, PostgreSQL
/** What is kept of change sets: drafts that cleanups leave, the story in backups and after a restart, and the new kinds of deeds. */

import { join } from 'node:path';
import { expect } from 'chai';
import { proposed, setOf } from '../support/change-sets.ts';
import { makeClient } from '../support/client.ts';
import { MAIN } from '../support/configurations.ts';
import { gitClient } from '../support/git-client.ts';
import { ADMIN_PASSWORD, createToken, publishConfiguration, signIn, startHawser } from '../support/hawser.ts';
import { assign, configurationId, poll, saveParameters } from '../support/parameter-files.ts';
import { askFor, preview, setting, type Wish } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { cleanUp, deletedBy, NOTHING_KEPT } from '../support/retention.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { runHawser, spawnHawser } from '../support/spawned.ts';
import { startedForEach } from '../support/started.ts';

const YAML = '$schema: x\nresources: []\n';

describe('what is kept of change sets', () => {
  const hawser = startedForEach(startHawser);

  beforeEach(() => publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: YAML } }));

  it('are the drafts that an open set names, which no cleanup deletes', async () => {
    const { admin } = hawser;
    const set = await proposed(admin, [setting('web', '1.0.1', 'parameters: {a: 1}\n')]);
    await saveParameters(hawser, {
      configuration: 'web',
      version: '1.0.2',
      content: 'a: 2\n',
      publish: false,
    });
    expect(deletedBy(await cleanUp(admin, 'parameters', NOTHING_KEPT))).to.deep.equal(['web/Default 1.0.2']);
    await ok(204, admin.delete(setOf(set)));
    expect(deletedBy(await cleanUp(admin, 'parameters', NOTHING_KEPT))).to.deep.equal(['web/Default 1.0.1']);
  });

  it('is their story, after a restart, for doctor and in a backup', async () => {
    const { folder } = hawser;
    const set = await proposed(hawser.admin, [setting('web', '1.0.1', 'parameters: {a: 1}\n')], {
      title: 'Kept',
    });
    await hawser.restart();
    expect((await ok(200, hawser.admin.get(setOf(set)))).tip).to.equal(set.tip);
    const settings: Record<string, string> = hawser.databaseUrl
      ? { HAWSER_DATABASE_URL: hawser.databaseUrl }
      : {};
    const doctor = await runHawser(folder, settings, ['doctor']);
    expect(doctor.code, doctor.stdout).to.equal(0);
    const archive = join(folder, 'kept.zip');
    const backup = await runHawser(folder, settings, ['backup', archive]);
    expect(backup.code, backup.stderr).to.equal(0);
    const place = join(folder, 'restored');
    const sqlite = { HAWSER_DATABASE_URL: '' };
    const restored = await runHawser(place, sqlite, ['restore', archive]);
    expect(restored.code, restored.stderr).to.equal(0);
    const server = await spawnHawser(place, sqlite);
    const target = await server.listening();
    const client = makeClient(target);
    const session = await signIn(client, 'admin', ADMIN_PASSWORD);
    const { tip, digest } = await ok(200, client.with({ Cookie: session }).get(setOf(set)));
    expect([tip, digest]).to.deep.equal([set.tip, set.digest]);
    const next = await ok(
      201,
      client.with({ Cookie: session }).post('/api/v1/change-sets', {
        ...{ title: 'next', deeds: [setting('web', '1.0.3', 'a: 3\n')] },
      }),
    );
    expect(next.id).to.be.greaterThan(set.id);
    const git = gitClient({ dataDir: join(place, 'data'), server: { port: target.port } });
    const token = await createToken(client, session, ['audit.read']);
    const heads = await git.run('ls-remote', git.url('changes', token));
    expect(heads.output).to.include(`${set.tip}\trefs/heads/change/${set.id}`);
    git.close();
    client.close();
    server.child.kill('SIGTERM');
    expect((await server.ended).code).to.equal(0);
  });

  it('previews of withdrawn parameter files, and of who manages parameters, say what the deeds do', async () => {
    const { admin } = hawser;
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    for (const version of ['1.0.0', '1.0.1'])
      await saveParameters(hawser, { configuration: 'web', version, content: `a: '${version}'\n` });
    const id = await configurationId(admin, 'web');
    const path = `/api/v1/parameters/${DEFAULT_ID}/${id}/versions`;
    const of = (version: string) => ({ configurationName: 'web', scopeTypeName: 'Default', version });
    const agrees = async (change: Wish, deed: () => Promise<unknown>) => {
      const before = (await poll(node)).json.checksum;
      const { counts } = await preview(admin, [change]);
      await deed();
      expect(counts.changed, change.kind).to.equal((await poll(node)).json.checksum === before ? 0 : 1);
      return counts.changed;
    };
    const withdraw = (version: string) => ok(200, admin.put(`${path}/${version}/withdraw`, { reason: 'x' }));
    const touched = [
      await agrees({ kind: 'WithdrawParameters', ...of('1.0.1'), reason: 'x' }, () => withdraw('1.0.1')),
      await agrees({ kind: 'RestoreParameters', ...of('1.0.1') }, () =>
        ok(204, admin.delete(`${path}/1.0.1/withdraw`)),
      ),
    ];
    const managed = (useServerManagedParameters: boolean): Wish => ({
      ...{ kind: 'SetServerManaged', configurationName: 'web', useServerManagedParameters },
    });
    await expectProblem(askFor(admin, [managed(false)]), 409, 'in_use');
    await expectProblem(askFor(admin, [{ kind: 'RestoreParameters', ...of('1.0.1') }]), 409, 'not_found');
    await publishConfiguration(admin, 'db', { '1.0.0': { [MAIN]: YAML } });
    await assign(hawser, node, 'db');
    const patch = (useServerManagedParameters: boolean) =>
      ok(200, admin.call('PATCH', '/api/v1/configurations/db', { json: { useServerManagedParameters } }));
    for (const isManaged of [false, true])
      touched.push(await agrees({ ...managed(isManaged), configurationName: 'db' }, () => patch(isManaged)));
    expect(touched).to.deep.equal([1, 1, touched[2], touched[2]]);
  });
});
