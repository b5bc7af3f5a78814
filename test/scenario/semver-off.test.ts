// full: SQLite
import { expect } from 'chai';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { unzipTexts } from '../support/unzip.ts';

const settingsOf = (name: string) => `${CONFIGURATIONS}/${name}/settings`;

describe('a configuration does without SemVer', () => {
  const hawser = started(startHawser);

  const files = (content: string) => ({ files: { [MAIN]: content } });

  async function loose(name: string): Promise<void> {
    await ok(201, create(hawser.admin, name));
    await ok(200, hawser.admin.put(settingsOf(name), { requireSemVer: false }));
    await ok(204, hawser.admin.delete(`${versionsOf(name)}/1.0.0`));
  }

  async function add(name: string, version: string): Promise<void> {
    const made = await ok(201, addVersion(hawser.admin, name, { version }, files(version)));
    expect(made).to.include({ version, prereleaseChannel: null, status: 'Draft' });
    // Ages are told apart by milliseconds.
    hawser.clock.advance(5);
  }

  const listed = async (name: string) => {
    const list: { version: string }[] = await ok(200, hawser.admin.get(versionsOf(name)));
    return list.map(({ version }) => version);
  };

  it('and names versions as it likes, which stand below SemVer ones, newest first', async () => {
    await loose('names');
    const odd = ['2026.11.020-a', 'winter', '1.0', 'v9.9.9', 'a_b+c-d.e', `x${'y'.repeat(63)}`];
    for (const version of odd) await add('names', version);
    expect(await listed('names')).to.deep.equal(odd.toReversed());
    const of = () => ok(200, hawser.admin.get(`${CONFIGURATIONS}/names`));
    expect(await of()).to.include({ latestVersion: odd.at(-1), latestPublishedVersion: null });
    const semver = await ok(201, addVersion(hawser.admin, 'names', { version: '0.0.1-alpha' }));
    expect(semver.prereleaseChannel).to.equal('alpha');
    await add('names', 'summer');
    expect(await listed('names')).to.deep.equal(['0.0.1-alpha', 'summer', ...odd.toReversed()]);
    expect((await of()).latestVersion).to.equal('0.0.1-alpha');
    for (const version of odd) {
      const path = `${versionsOf('names')}/${version}`;
      expect(await ok(200, hawser.admin.get(path))).to.include({ version, fileCount: 1 });
      expect((await hawser.admin.get(fileOf('names', version, MAIN))).text).to.equal(version);
      hawser.git('configurations/names.git', 'rev-parse', '--verify', `refs/heads/draft/${version}`);
    }
    await hawser.restart();
    expect(await listed('names')).to.deep.equal(['0.0.1-alpha', 'summer', ...odd.toReversed()]);
    await expectProblem(addVersion(hawser.admin, 'names', { version: 'winter' }), 409, 'version_exists');
  });

  it('but not by what could name no ref, or what is too long', async () => {
    await loose('illegal');
    const illegal = [
      ...['a.lock', 'A.LOCK', 'a..b', 'a.', '.a', '-a', '_a', '+a', 'a b', 'a/b', 'a:b', 'a~b', 'a^b', 'a?b'],
      ...['a*b', 'a[b', 'a\\b', 'a@{b', 'ä', 'a\tb', '..', '.', 'x'.repeat(65), 'a%62', ' winter', 'winter '],
    ];
    for (const version of illegal) {
      const reply = addVersion(hawser.admin, 'illegal', { version });
      await expectProblem(reply, 400, 'validation_failed', version);
    }
    expect(await listed('illegal')).to.deep.equal([]);
    const channel = { version: 'winter', prereleaseChannel: 'winter' };
    await expectInvalid(addVersion(hawser.admin, 'illegal', channel));
  });

  it('and publishes them without ever moving main', async () => {
    await loose('main');
    const refs = () =>
      hawser.git('configurations/main.git', 'for-each-ref', '--format=%(refname)').trim().split('\n');
    await add('main', 'autumn');
    const published = await ok(200, publish(hawser.admin, 'main', 'autumn'));
    expect(published).to.include({ version: 'autumn', status: 'Published', prereleaseChannel: null });
    expect(refs()).to.deep.equal(['refs/tags/vautumn']);
    await expectProblem(publish(hawser.admin, 'main', 'autumn'), 409, 'already_published');
    await ok(201, addVersion(hawser.admin, 'main', { version: '1.0.0' }));
    await ok(200, publish(hawser.admin, 'main', '1.0.0'));
    const main = () => hawser.git('configurations/main.git', 'rev-parse', 'main').trim();
    const stable = main();
    await add('main', 'winter');
    await ok(200, publish(hawser.admin, 'main', 'winter'));
    expect(main()).to.equal(stable);
    expect(await ok(200, hawser.admin.get(`${CONFIGURATIONS}/main`))).to.include({
      latestVersion: '1.0.0',
      latestPublishedVersion: '1.0.0',
    });
    // Each has the published one below it as parent.
    const parent = (tag: string) =>
      hawser.git('configurations/main.git', 'log', '-1', '--format=%P', tag).trim();
    const commit = (tag: string) =>
      hawser.git('configurations/main.git', 'rev-parse', `${tag}^{commit}`).trim();
    expect(parent('vwinter')).to.equal(commit('vautumn'));
    expect(parent('v1.0.0')).to.equal(commit('vautumn'));
    hawser.git('configurations/main.git', 'fsck', '--strict');
  });

  it('and its nodes pull the newest of them where nothing SemVer fits', async () => {
    await loose('pulled');
    for (const version of ['autumn', 'winter', 'spring']) await add('pulled', version);
    for (const version of ['winter', 'autumn']) await ok(200, publish(hawser.admin, 'pulled', version));
    const node = await hawser.registerNode('pulled.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    const assign = (more: object = {}) => hawser.admin.put(path, { configurationName: 'pulled', ...more });
    const pulled = async () => (await ok(200, node.client.get(`${path}/checksum`))).version;
    await expectProblem(assign({ majorVersion: 1 }), 409, 'no_eligible_version');
    await ok(204, assign());
    expect(await pulled()).to.equal('winter');
    const bundle = await node.client.get(`${path}/bundle`);
    expect(await unzipTexts(bundle.bytes)).to.deep.equal({ [MAIN]: 'winter' });
    expect(bundle.headers['content-disposition']).to.equal('attachment; filename="pulled-vwinter.zip"');
    await ok(200, publish(hawser.admin, 'pulled', 'spring'));
    expect(await pulled()).to.equal('spring');
    await ok(201, addVersion(hawser.admin, 'pulled', { version: '0.1.0-beta' }));
    await ok(200, publish(hawser.admin, 'pulled', '0.1.0-beta'));
    expect(await pulled(), 'a prerelease that it did not ask for').to.equal('spring');
    await ok(204, assign({ prereleaseChannel: 'beta' }));
    expect(await pulled()).to.equal('0.1.0-beta');
    await ok(204, assign());
    await ok(201, addVersion(hawser.admin, 'pulled', { version: '0.1.0' }));
    await ok(200, publish(hawser.admin, 'pulled', '0.1.0'));
    expect(await pulled()).to.equal('0.1.0');
  });

  it('and still gets the next version by SemVer where it names none', async () => {
    await loose('next');
    await add('next', 'winter');
    const next = async () => (await ok(201, addVersion(hawser.admin, 'next'))).version;
    expect(await next()).to.equal('1.0.0');
    expect(await next()).to.equal('1.0.1');
    await add('next', '9.9');
    expect(await next()).to.equal('1.0.2');
  });

  it('until SemVer is asked for again, when those that exist stay', async () => {
    await loose('back');
    for (const version of ['winter', 'spring', 'summer']) await add('back', version);
    await ok(200, publish(hawser.admin, 'back', 'winter'));
    await ok(204, hawser.admin.delete(settingsOf('back')));
    for (const version of ['autumn', '1.0', '2026.11.020-a']) {
      const reply = await expectInvalid(addVersion(hawser.admin, 'back', { version }), undefined, version);
      expect(reply.json.errors[0]).to.include({ path: '/version', code: 'semver_required' });
    }
    expect(await listed('back')).to.deep.equal(['summer', 'spring', 'winter']);
    const put = hawser.admin.call('PUT', `${versionsOf('back')}/spring`, { form: files('replaced') });
    expect(await ok(200, put)).to.include({ version: 'spring', status: 'Draft' });
    await ok(200, publish(hawser.admin, 'back', 'spring'));
    expect((await hawser.admin.get(fileOf('back', 'spring', MAIN))).text).to.equal('replaced');
    await ok(204, hawser.admin.delete(`${versionsOf('back')}/summer`));
    expect(await listed('back')).to.deep.equal(['spring', 'winter']);
    await expectInvalid(create(hawser.admin, 'new', { version: 'winter' }));
  });
});
