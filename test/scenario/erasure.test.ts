// full: SQLite, PostgreSQL
/** What was removed can be fetched by its object id until the objects are gone (docs/security-model.md, "Erasing at once"). */

import { expect } from 'chai';
import { addVersion, MAIN, versionsOf } from '../support/configurations.ts';
import { eraseUnreachable } from '../support/erasing.ts';
import { type GitClient, gitClient } from '../support/git-client.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { grant, makeUser } from '../support/people.ts';
import { ok } from '../support/replies.ts';

const REPOSITORY = 'configurations/web';
const CLEANUP = '/api/v1/retention/configurations/cleanup';
const RETENTION = '/api/v1/configurations/web/settings/retention';
/** The highest that a client can say. */
const ALL = 2_147_483_647;

describe('a removed version and a deleted draft', () => {
  let hawser: Hawser;
  let client: GitClient;
  after(async () => {
    client.close();
    await hawser.close();
  });

  it('can be fetched by their ids by whoever may read, until git has erased them', async () => {
    hawser = await startHawser();
    client = gitClient(hawser);
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { [MAIN]: '$schema: x\nresources: []\n', 'secret.txt': 'published by mistake\n' },
      '1.1.0': { [MAIN]: '$schema: x\nresources: []\n' },
    });
    const several = { '1.0.0': { [MAIN]: '' }, '1.1.0': { [MAIN]: '' }, '2.0.0': { [MAIN]: '' } };
    await publishConfiguration(hawser.admin, 'other', several);
    const files = { [MAIN]: '$schema: x\nresources: []\n', 'secret.txt': 'uploaded by mistake\n' };
    await ok(201, addVersion(hawser.admin, 'web', { version: '2.0.0' }, { files }));
    const idOf = (ref: string) => hawser.git(`${REPOSITORY}.git`, 'rev-parse', ref).trim();
    const removed = [idOf('v1.0.0^{commit}'), idOf('draft/2.0.0'), idOf('draft/2.0.0:secret.txt')];
    const reader = await makeUser(hawser, { username: 'reader' });
    await grant(hawser, reader, 'web', 'Read');
    const token = await createToken(hawser.client(), reader.session, ['configurations.grants']);
    const fetch = async (id: string) => {
      expect((await client.run('init', '-q', 'copy')).code).to.equal(0);
      return client.run('-C', 'copy', 'fetch', '-q', client.url(REPOSITORY, token), id);
    };

    await ok(204, hawser.admin.delete(`${versionsOf('web')}/2.0.0`));
    const own = { keepVersions: 0, keepDays: 0, keepReleaseVersions: false };
    await ok(200, hawser.admin.put(RETENTION, own));
    const { deletedVersions } = await ok(200, hawser.admin.post(CLEANUP, { keepVersions: ALL }));
    await ok(204, hawser.admin.delete(RETENTION));
    const deleted = deletedVersions.map((each: { name: string; version: string }) => [
      each.name,
      each.version,
    ]);
    expect(deleted, 'those of this configuration alone').to.deep.equal([['web', '1.0.0']]);
    for (const id of removed) expect(await fetch(id), id).to.include({ code: 0 });

    await hawser.server.close();
    await eraseUnreachable(hawser, `${REPOSITORY}.git`);
    await hawser.restart();
    client.close();
    const other = gitClient(hawser);
    client = other;
    for (const id of removed) {
      const { code, output } = await fetch(id);
      expect(code, id).to.not.equal(0);
      expect(output).to.match(/not our ref/);
    }
    expect(await fetch(idOf('v1.1.0^{commit}'))).to.include({ code: 0 });
    await ok(200, hawser.admin.get(`${versionsOf('web')}/1.1.0`));
  });
});
