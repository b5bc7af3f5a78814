// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { addVersion, create, MAIN, publish, release, versionsOf } from '../support/configurations.ts';
import { refsOf, remove, save, versionOf } from '../support/draft-files.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eraseUnreachable } from '../support/erasing.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { cleanUp, deletedBy, NOTHING_KEPT } from '../support/retention.ts';
import { started } from '../support/started.ts';
import { makeZip, unixMode } from '../support/zip.ts';

describe('the history of an edited draft', () => {
  const hawser = started(startHawser);
  let ada: Person;

  before(async () => {
    ada = await makeUser(hawser, { username: 'ada', roles: ['Administrator'] });
  });

  const git = (name: string, ...args: string[]) => hawser.git(`configurations/${name}.git`, ...args).trim();
  /** Makes a draft by `admin`, which `ada` edits twice. */
  const draft = async (name: string, version: string) => {
    await ok(
      201,
      addVersion(hawser.admin, name, { version }, { files: { [MAIN]: `${version}\n`, 'a.txt': 'one\n' } }),
    );
    await ok(200, save(ada.client, [name, version, 'a.txt'], `one\ntwo of ${version}\n`));
    await ok(201, save(ada.client, [name, version, 'b.txt'], `b of ${version}\n`));
  };
  const log = (name: string, tip: string) =>
    git(name, 'log', '--first-parent', '--format=%an %s', tip).split('\n');
  const edits = (name: string, version: string) => [
    `ada ${name} ${version}`,
    `ada ${name} ${version}`,
    `admin ${name} ${version}`,
  ];
  const parentOf = (name: string, commit: string) => git(name, 'rev-parse', `${commit}^`);

  it('stays when it is published, so that log and blame tell who changed what', async () => {
    await publishConfiguration(hawser.admin, 'blame', { '1.0.0': { [MAIN]: 'x\n' } });
    await draft('blame', '1.1.0');
    const tip = git('blame', 'rev-parse', 'draft/1.1.0');
    const published = await ok(200, publish(hawser.admin, 'blame', '1.1.0'));
    expect(published).to.include({ commit: tip, createdBy: 'admin', publishedBy: 'admin' });
    expect(log('blame', 'main')).to.deep.equal([...edits('blame', '1.1.0'), 'admin blame 1.0.0']);
    expect(
      git('blame', 'blame', '--line-porcelain', 'v1.1.0', '--', 'a.txt').match(/^author .*/gm),
    ).to.deep.equal(['author admin', 'author ada']);
    expect(git('blame', 'fsck', '--strict')).to.equal('');
  });

  it('moves as a whole onto what was published meanwhile', async () => {
    await publishConfiguration(hawser.admin, 'moved', { '1.0.0': { [MAIN]: 'x\n' } });
    await draft('moved', '1.2.0');
    const before = git('moved', 'log', '-3', '--format=%T %an %ae %ad %cn %cd %B', 'draft/1.2.0');
    await draft('moved', '1.1.0');
    await ok(200, publish(hawser.admin, 'moved', '1.1.0'));
    // Nothing moves before the draft is published, also not by another edit.
    await ok(200, save(ada.client, ['moved', '1.2.0', 'b.txt'], 'again\n'));
    expect(parentOf('moved', 'draft/1.2.0~3')).to.equal(git('moved', 'rev-parse', 'v1.0.0^{commit}'));
    await ok(200, publish(hawser.admin, 'moved', '1.2.0'));
    expect(log('moved', 'main')).to.deep.equal([
      'ada moved 1.2.0',
      ...edits('moved', '1.2.0'),
      ...edits('moved', '1.1.0'),
      'admin moved 1.0.0',
    ]);
    expect(git('moved', 'log', '-3', '--skip=1', '--format=%T %an %ae %ad %cn %cd %B', 'v1.2.0')).to.equal(
      before,
    );
    expect(git('moved', 'fsck', '--strict', '--no-dangling')).to.equal('');
  });

  itOnSqlite('moves back where the version below it has gone', async () => {
    await publishConfiguration(hawser.admin, 'back', { '1.0.0': { [MAIN]: 'x\n' } });
    await draft('back', '1.1.0');
    await ok(200, publish(hawser.admin, 'back', '1.1.0'));
    await draft('back', '1.2.0');
    git('back', 'tag', '-d', 'v1.1.0');
    await eventually(() => expectProblem(hawser.admin.get(versionOf('back', '1.1.0')), 404, 'not_found'));
    await ok(200, publish(hawser.admin, 'back', '1.2.0'));
    expect(log('back', 'v1.2.0')).to.deep.equal([...edits('back', '1.2.0'), 'admin back 1.0.0']);
  });

  itOnSqlite('ends at the published version from which stock git has made the draft', async () => {
    await publishConfiguration(hawser.admin, 'grown', { '1.0.0': { [MAIN]: 'x\n' } });
    await draft('grown', '1.1.0');
    await ok(200, publish(hawser.admin, 'grown', '1.1.0'));
    const outside = new Outside(hawser, 'grown');
    outside.git('branch', 'draft/1.2.0', 'v1.1.0');
    outside.git('branch', 'draft/1.3.0', 'v1.1.0');
    await eventually(() => ok(200, hawser.admin.get(versionOf('grown', '1.3.0'))));
    for (const version of ['1.2.0', '1.3.0']) {
      await ok(200, save(ada.client, ['grown', version, 'b.txt'], `b of ${version}\n`));
      await ok(200, publish(hawser.admin, 'grown', version));
    }
    expect(parentOf('grown', 'v1.2.0')).to.equal(git('grown', 'rev-parse', 'v1.1.0^{commit}'));
    expect(log('grown', 'v1.3.0')).to.deep.equal([
      'ada grown 1.3.0',
      'ada grown 1.2.0',
      ...edits('grown', '1.1.0'),
      'admin grown 1.0.0',
    ]);
  });

  it('goes with its version when retention removes it', async () => {
    await publishConfiguration(hawser.admin, 'kept', { '1.0.0': { [MAIN]: 'x\n' } });
    for (const version of ['1.1.0', '1.2.0', '1.3.0']) {
      await draft('kept', version);
      await ok(200, publish(hawser.admin, 'kept', version));
    }
    await draft('kept', '1.4.0');
    const gone = git('kept', 'rev-list', 'v1.1.0').split('\n');
    const { deletedVersions } = await cleanUp(hawser.admin, 'configurations', {
      ...NOTHING_KEPT,
      keepVersions: 1,
    });
    const ofKept = deletedVersions.filter(({ name }: { name: string }) => name === 'kept');
    expect(deletedBy({ deletedVersions: ofKept })).to.deep.equal(['kept 1.0.0', 'kept 1.1.0', 'kept 1.2.0']);
    // Edits may hold what was removed, so only those of the open draft stay.
    expect(log('kept', 'main')).to.deep.equal(['ada kept 1.3.0']);
    await ok(200, save(ada.client, ['kept', '1.4.0', 'b.txt'], 'after\n'));
    await ok(200, publish(hawser.admin, 'kept', '1.4.0'));
    expect(log('kept', 'main')).to.deep.equal([
      'ada kept 1.4.0',
      ...edits('kept', '1.4.0'),
      'ada kept 1.3.0',
    ]);
    // The server may be repacking, too.
    await eventually(() => eraseUnreachable(hawser, 'configurations/kept.git'));
    expect(git('kept', 'fsck', '--strict')).to.equal('');
    for (const commit of gone) expect(() => git('kept', 'cat-file', '-e', commit)).to.throw();
    const clone = `${hawser.folder}/clone`;
    git(
      'kept',
      'clone',
      '--quiet',
      '--mirror',
      `file://${hawser.folderOf('configurations/kept.git')}`,
      clone,
    );
    expect(git('kept', '-C', clone, 'fsck', '--strict')).to.equal('');
    expect((await ok(200, hawser.admin.get(versionOf('kept', '1.4.0')))).createdBy).to.equal('admin');
  });

  itOnSqlite('ends where retention has cut it, also in the middle of a draft', async () => {
    await publishConfiguration(hawser.admin, 'cut', { '1.0.0': { [MAIN]: 'x\n' } });
    await draft('cut', '1.1.0');
    await ok(200, publish(hawser.admin, 'cut', '1.1.0'));
    await release(hawser.admin, 'cut', '1.2.0');
    new Outside(hawser, 'cut').git('branch', 'draft/1.3.0', 'v1.1.0');
    await eventually(() => ok(200, hawser.admin.get(versionOf('cut', '1.3.0'))));
    await ok(200, save(ada.client, ['cut', '1.3.0', 'b.txt'], 'kept\n'));
    await cleanUp(hawser.admin, 'configurations', { ...NOTHING_KEPT, keepVersions: 1 });
    await eventually(async () => git('cut', 'gc', '--prune=now', '--quiet'));
    await ok(200, publish(hawser.admin, 'cut', '1.3.0'));
    expect(log('cut', 'main')).to.deep.equal(['ada cut 1.3.0', 'admin cut 1.2.0']);
    expect(git('cut', 'show', 'main:b.txt')).to.equal('kept');
    expect(git('cut', 'fsck', '--strict', '--no-dangling')).to.equal('');
  });
});

describe('a draft that is a copy of another version', () => {
  const hawser = started(() => startHawser({ HAWSER_UPLOAD_LIMIT: '20000', HAWSER_UPLOAD_FILES: '3' }));

  before(async () => {
    const archive = makeZip([
      { name: 'start.yaml', content: '$schema: x\nresources: []\n', attributes: unixMode(0o100644) },
      { name: 'run.sh', content: '#!/bin/sh\n', attributes: unixMode(0o100755) },
    ]);
    await ok(201, create(hawser.admin, 'copied', { entryPoint: 'start.yaml' }, { archive }));
    await ok(200, publish(hawser.admin, 'copied', '1.0.0'));
    await ok(201, addVersion(hawser.admin, 'copied', { version: '1.1.0', entryPoint: MAIN }));
    await ok(200, publish(hawser.admin, 'copied', '1.1.0'));
  });

  const git = (...args: string[]) => hawser.git('configurations/copied.git', ...args).trim();
  const copy = (json: object, name = 'copied') => hawser.admin.post(versionsOf(name), json);

  it('has its files, executable ones too, and its entry point', async () => {
    const reply = await copy({ from: '1.0.0', message: 'Back to what worked.\n' });
    expect(await ok(201, reply)).to.deep.include({
      version: '1.1.1',
      status: 'Draft',
      entryPoint: 'start.yaml',
      fileCount: 2,
      message: 'Back to what worked.',
      createdBy: 'admin',
    });
    expect(reply.headers['location']).to.equal(versionOf('copied', '1.1.1'));
    expect(git('ls-tree', '-r', 'draft/1.1.1')).to.equal(git('ls-tree', '-r', 'v1.0.0'));
    expect(git('rev-parse', 'draft/1.1.1^')).to.equal(git('rev-parse', 'v1.1.0^{commit}'));
    await ok(200, save(hawser.admin, ['copied', '1.1.1', 'run.sh'], '#!/bin/bash\n'));
    const again = await ok(201, copy({ from: '1.1.1', version: '1.2.0-rc.1', prereleaseChannel: 'rc' }));
    expect(again).to.include({ version: '1.2.0-rc.1', prereleaseChannel: 'rc', message: null });
    expect(git('ls-tree', '-r', 'draft/1.2.0-rc.1')).to.equal(git('ls-tree', '-r', 'draft/1.1.1'));
    await ok(200, publish(hawser.admin, 'copied', '1.1.1'));
    expect(git('fsck', '--strict')).to.equal('');
  });

  itOnSqlite('obeys the rules of an upload, or is not made', async () => {
    await publishConfiguration(hawser.admin, 'loose', { '1.0.0': { [MAIN]: 'x', 'p.txt': 'x' } });
    const outside = new Outside(hawser, 'loose');
    const flat = (...names: string[]) => [outside.file(MAIN), ...names.map((name) => outside.file(name))];
    outside.tag('1.1.0', flat('parameters.yaml'));
    outside.tag('1.2.0', flat('a', 'b', 'c'));
    outside.tag('1.3.0', [outside.file(MAIN, 'x'.repeat(20_001))]);
    outside.tag('1.4.0', [outside.file(MAIN), outside.file('.gitattributes', 'x'.repeat(3_000))]);
    // The branch follows the tags a moment later.
    const commitAt = (name: string) =>
      hawser.git('configurations/loose.git', 'rev-parse', `${name}^{commit}`);
    await eventually(async () => expect(commitAt('main')).to.equal(commitAt('v1.4.0')));
    const before = refsOf(hawser, 'loose');
    const cases: [object, number, string][] = [
      [{ from: '9.0.0' }, 404, 'not_found'],
      [{}, 400, 'validation_failed'],
      [{ from: '1.0.0', entryPoint: 'x' }, 400, 'validation_failed'],
      [{ from: '1.0.0', version: '1.0.0+b' }, 409, 'version_exists'],
      [{ from: '1.0.0', version: 'spring' }, 400, 'validation_failed: semver_required'],
      [{ from: '1.0.0', version: 'v1.9.0' }, 400, 'validation_failed'],
      [
        { from: '1.0.0', version: '3.0.0', prereleaseChannel: 'rc' },
        400,
        'validation_failed: prerelease_channel_mismatch',
      ],
      [{ from: '1.0.0', message: 'x'.repeat(10_001) }, 400, 'validation_failed'],
      [{ from: '1.1.0' }, 409, 'reserved_path'],
      [{ from: '1.2.0' }, 413, 'payload_too_large'],
      [{ from: '1.3.0' }, 413, 'payload_too_large'],
      [{ from: '1.4.0' }, 400, 'validation_failed'],
    ];
    for (const [body, status, code] of cases)
      await expectProblem(copy(body, 'loose'), status, code, JSON.stringify(body));
    expect(refsOf(hawser, 'loose')).to.equal(before);
    await expectProblem(remove(hawser.admin, ['loose', '1.0.0', 'p.txt']), 409, 'published_version');
    const absent = { from: '1.0.0', version: null, prereleaseChannel: null, message: null };
    expect(await ok(201, copy(absent, 'loose'))).to.include({ version: '1.4.1' });
  });
});
