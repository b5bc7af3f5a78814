// full: SQLite
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Form, Reply } from '../support/client.ts';
import {
  addVersion,
  CONFIGURATIONS,
  create,
  fileOf,
  MAIN,
  publish,
  versionsOf,
} from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { grant, makeUser } from '../support/people.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { makeZip } from '../support/zip.ts';

const BINARY = Buffer.from([0, 255, 13, 10, 0, 1, 2, 3]);
const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex');
const versionOf = (name: string, version: string) => `${versionsOf(name)}/${encodeURIComponent(version)}`;

describe('somebody looks at a version', () => {
  const hawser = started(startHawser);

  const files = {
    [MAIN]: '$schema: x\nresources: []\n',
    'data/a.json': '{}',
    'empty.txt': '',
    'modules/ä ö.psd1': 'x',
    'tool.exe': BINARY,
  };
  const wanted = [
    { path: 'data/a.json', size: 2, checksum: sha256('{}'), contentType: /^application\/json/ },
    { path: 'empty.txt', size: 0, checksum: sha256(''), contentType: /^text\/plain/ },
    { path: MAIN, size: 25, checksum: sha256('$schema: x\nresources: []\n'), contentType: /yaml/ },
    { path: 'modules/ä ö.psd1', size: 1, checksum: sha256('x'), contentType: /./ },
    { path: 'tool.exe', size: 8, checksum: sha256(BINARY), contentType: /^application\// },
  ];

  it('and sees all of it with every file, as a draft and published', async () => {
    await ok(201, create(hawser.admin, 'files', { version: '1.0.0-rc.1+b' }, { files }));
    for (const status of ['Draft', 'Published']) {
      if (status === 'Published') await ok(200, publish(hawser.admin, 'files', '1.0.0-rc.1+b'));
      const { files: shown, ...version } = await ok(
        200,
        hawser.admin.get(versionOf('files', '1.0.0-rc.1+b')),
      );
      const [listed] = await ok(200, hawser.admin.get(versionsOf('files')));
      expect({ ...version, findings: null }).to.deep.equal(listed);
      expect(version).to.include({ status, fileCount: 5, entryPoint: MAIN, prereleaseChannel: 'rc' });
      expect(shown.map(({ contentType: _, ...rest }: { contentType: string }) => rest)).to.deep.equal(
        wanted.map(({ contentType: _, ...rest }) => rest),
      );
      for (const [at, { path, contentType, checksum }] of wanted.entries()) {
        expect(shown[at].contentType, path).to.match(contentType);
        const file = await hawser.admin.get(fileOf('files', '1.0.0-rc.1+b', encodeURI(path)));
        expect(file.headers['content-type'], path).to.equal(shown[at].contentType);
        expect(sha256(file.bytes), path).to.equal(checksum);
      }
    }
    const encoded = await hawser.admin.get(`${versionsOf('files')}/1.0.0-rc.1+b/`);
    expect(encoded.status, 'a plain plus and a trailing slash').to.equal(200);
  });

  it('again only where it has changed', async () => {
    await ok(201, create(hawser.admin, 'cached'));
    const path = versionOf('cached', '1.0.0');
    const etags = new Set<unknown>();
    const look = async () => {
      const reply = await hawser.admin.get(path);
      expect(reply.status).to.equal(200);
      const etag = String(reply.headers['etag']);
      expect((await hawser.admin.get(path, { 'If-None-Match': etag })).status).to.equal(304);
      etags.add(etag);
      return etag;
    };
    const first = await look();
    await ok(200, hawser.admin.call('PUT', path, { form: { files: { [MAIN]: 'new' } } }));
    await look();
    await ok(200, publish(hawser.admin, 'cached', '1.0.0'));
    await look();
    expect(etags.size).to.equal(3);
    expect((await hawser.admin.get(path, { 'If-None-Match': first })).status).to.equal(200);
  });

  it('that is there, by its only name', async () => {
    await publishConfiguration(hawser.admin, 'there', { '1.0.0': { [MAIN]: 'x' } });
    for (const version of ['2.0.0', 'v1.0.0', '1.0.0+x', '1.0', 'main', '%00', 'refs%2Ftags%2Fv1.0.0'])
      await expectProblem(hawser.admin.get(`${versionsOf('there')}/${version}`), 404, 'not_found', version);
  });
});

describe('an author replaces the files of a draft', () => {
  const hawser = started(startHawser);

  const put = (name: string, version: string, form: Form, headers = {}): Promise<Reply> =>
    hawser.admin.call('PUT', versionOf(name, version), { form, headers });
  const git = (name: string, ...args: string[]) => hawser.git(`configurations/${name}.git`, ...args);
  const snapshot = async (name: string, version: string) =>
    JSON.stringify([
      await ok(200, hawser.admin.get(versionOf(name, version))),
      await ok(200, hawser.admin.get(`${CONFIGURATIONS}/${name}`)),
      git(name, 'for-each-ref'),
    ]);

  it('all at once, and the draft keeps its author, its age and its place in history', async () => {
    const author = await makeUser(hawser, { username: 'author', roles: ['Author'] });
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: 'one' } });
    await grant(hawser, author, 'web', 'Modify');
    const files = { [MAIN]: 'two', 'old/gone.yaml': 'x' };
    const made = await ok(201, addVersion(author.client, 'web', { version: '1.1.0' }, { files }));
    hawser.clock.advance(60_000);
    const now = { files: { [MAIN]: 'three\n', 'new/ä.bin': BINARY } };
    const reply = await put('web', '1.1.0', now);
    const { commit, ...rest } = await ok(200, reply);
    const { commit: before, ...unchanged } = made;
    expect(rest).to.deep.equal(unchanged);
    expect(rest).to.include({ createdBy: 'author', status: 'Draft', fileCount: 2 });
    expect(commit).to.not.equal(before);
    const { ignoredFiles: _ignored, ...shown } = reply.json;
    const [listed] = await ok(200, hawser.admin.get(versionsOf('web')));
    expect(listed).to.deep.equal({ ...shown, findings: null });
    expect(git('web', 'show', `draft/1.1.0:${MAIN}`)).to.equal('three\n');
    expect(git('web', 'ls-tree', '-r', '--name-only', '-z', 'draft/1.1.0')).to.equal(`${MAIN}\0new/ä.bin\0`);
    await expectProblem(hawser.admin.get(fileOf('web', '1.1.0', 'old/gone.yaml')), 404, 'not_found');
    const binary = await hawser.admin.get(fileOf('web', '1.1.0', encodeURI('new/ä.bin')));
    expect(binary.bytes.equals(BINARY)).to.equal(true);
    const parents = git('web', 'log', '--format=%H %P %an %cn', 'draft/1.1.0').trim().split('\n');
    const one = git('web', 'rev-parse', 'v1.0.0^{commit}').trim();
    expect(parents).to.deep.equal([`${commit} ${one} author admin`, `${one}  admin admin`]);
    await ok(200, put('web', '1.1.0', now));
    await ok(200, put('web', '1.1.0', { files: { [MAIN]: 'four' } }));
    expect(git('web', 'rev-list', '--count', 'v1.0.0..draft/1.1.0').trim()).to.equal('1');
    const published = await ok(200, publish(hawser.admin, 'web', '1.1.0'));
    expect(published).to.include({ createdAt: made.createdAt, createdBy: 'author' });
    expect(git('web', 'diff', '--stat', 'v1.0.0', 'v1.1.0')).to.match(/1 file changed/);
    git('web', 'fsck', '--strict');
    await hawser.restart();
    expect((await hawser.admin.get(fileOf('web', '1.1.0', MAIN))).text).to.equal('four');
  });

  it('by an archive as well as by parts', async () => {
    await ok(201, create(hawser.admin, 'archive'));
    const archive = makeZip([
      { name: MAIN, content: 'from the archive' },
      { name: 'deep/er/x.json', content: '{}' },
    ]);
    expect(await ok(200, put('archive', '1.0.0', { archive }))).to.include({ fileCount: 2 });
    expect((await hawser.admin.get(fileOf('archive', '1.0.0', MAIN))).text).to.equal('from the archive');
    expect((await hawser.admin.get(fileOf('archive', '1.0.0', 'deep/er/x.json'))).text).to.equal('{}');
  });

  it('with the entry point that it had, or with another that it names', async () => {
    const first = { files: { 'start.yaml': 'x' } };
    await ok(201, create(hawser.admin, 'entry', { entryPoint: 'start.yaml' }, first));
    expect(await ok(200, put('entry', '1.0.0', first))).to.include({ entryPoint: 'start.yaml' });
    const other = { fields: { entryPoint: 'other.yaml' }, files: { 'other.yaml': 'y' } };
    expect(await ok(200, put('entry', '1.0.0', other))).to.include({ entryPoint: 'other.yaml' });
    expect(await ok(200, put('entry', '1.0.0', other))).to.include({ entryPoint: 'other.yaml' });
    const kept = await snapshot('entry', '1.0.0');
    const lost = await expectInvalid(put('entry', '1.0.0', first));
    expect(lost.json.errors[0]).to.include({ path: '/entryPoint', code: 'entry_point_missing' });
    expect(await snapshot('entry', '1.0.0')).to.equal(kept);
    await ok(200, publish(hawser.admin, 'entry', '1.0.0'));
    expect(await ok(200, hawser.admin.get(versionOf('entry', '1.0.0')))).to.include({
      entryPoint: 'other.yaml',
    });
  });

  it('of the version in the path, whose name it may repeat', async () => {
    await ok(201, create(hawser.admin, 'named', { version: '1.0.0-beta.1' }));
    const files = { [MAIN]: 'again' };
    for (const fields of [
      { version: '1.0.0-beta.1' },
      { version: '' },
      { prereleaseChannel: 'beta' },
      { version: '1.0.0-beta.1', prereleaseChannel: 'beta', entryPoint: MAIN },
    ]) {
      await ok(200, put('named', '1.0.0-beta.1', { fields, files }));
    }
    const kept = await snapshot('named', '1.0.0-beta.1');
    const bad: Record<string, string>[] = [
      { version: '1.0.0' },
      { version: '1.0.0-beta.1+x' },
      { version: 'nonsense' },
      { prereleaseChannel: 'rc' },
      { name: 'named' },
      { description: 'x' },
      { useServerManagedParameters: 'false' },
      { unknown: 'x' },
    ];
    for (const fields of bad) {
      const reply = put('named', '1.0.0-beta.1', { fields, files });
      await expectProblem(reply, 400, 'validation_failed', JSON.stringify(fields));
    }
    expect(await snapshot('named', '1.0.0-beta.1')).to.equal(kept);
  });

  it('but not of a published version or of one that is not there', async () => {
    await publishConfiguration(hawser.admin, 'fixed', { '1.0.0': { [MAIN]: 'x' } });
    const kept = await snapshot('fixed', '1.0.0');
    const form = { files: { [MAIN]: 'y' } };
    await expectProblem(put('fixed', '1.0.0', form), 409, 'published_version');
    await expectProblem(put('fixed', '2.0.0', form), 404, 'not_found');
    await expectProblem(put('fixed', '1.0.0+x', form), 404, 'not_found');
    await expectProblem(put('nothing', '1.0.0', form), 404, 'not_found');
    expect(await snapshot('fixed', '1.0.0')).to.equal(kept);
  });

  it('by nothing that a new version could not hold, and a bad upload changes nothing', async () => {
    await ok(201, create(hawser.admin, 'bad'));
    const kept = await snapshot('bad', '1.0.0');
    const main = { [MAIN]: 'x' };
    const cases: [form: Form, status: number, code: string][] = [
      [{}, 400, 'validation_failed'],
      [{ files: { 'other.yaml': 'x' } }, 400, 'validation_failed'],
      [{ files: { ...main, '../evil': 'x' } }, 400, 'invalid_path'],
      [{ files: { ...main, 'parameters.yaml': 'x' } }, 409, 'reserved_path'],
      [{ archive: Buffer.from('no archive') }, 400, 'validation_failed: invalid_archive'],
      [{ archive: makeZip([{ name: '../x', content: 'x' }]) }, 400, 'invalid_path'],
      [{ fields: { entryPoint: '../x' }, files: main }, 400, 'invalid_path'],
    ];
    for (const [form, status, code] of cases) {
      await expectProblem(put('bad', '1.0.0', form), status, code, JSON.stringify(form));
    }
    const cut = `--x\r\nContent-Disposition: form-data; name="files"; filename="${MAIN}"\r\n\r\nhalf`;
    const type = { 'Content-Type': 'multipart/form-data; boundary=x' };
    const broken = await hawser.admin.call('PUT', versionOf('bad', '1.0.0'), { body: cut, headers: type });
    expect(broken.status, broken.text).to.equal(400);
    const json = await hawser.admin.put(versionOf('bad', '1.0.0'), { files: [] });
    await expectProblem(json, 415, 'unsupported_media_type');
    expect(await snapshot('bad', '1.0.0')).to.equal(kept);
    const own = { json: { useServerManagedParameters: false } };
    await ok(200, hawser.admin.call('PATCH', `${CONFIGURATIONS}/bad`, own));
    await ok(200, put('bad', '1.0.0', { files: { ...main, 'parameters.yaml': 'x' } }));
  });

  it('only as they were read, where that is said, and one of many at once', async () => {
    await ok(201, create(hawser.admin, 'match'));
    const kept = await snapshot('match', '1.0.0');
    const files = { [MAIN]: 'never' };
    const stale = put('match', '1.0.0', { files }, { 'If-Match': '"x"' });
    await expectProblem(stale, 412, 'precondition_failed');
    expect(await snapshot('match', '1.0.0')).to.equal(kept);
    const etag = String((await hawser.admin.get(versionOf('match', '1.0.0'))).headers['etag']);
    const replies = await Promise.all(
      ['a', 'b', 'c', 'd'].map((content) =>
        put('match', '1.0.0', { files: { [MAIN]: content } }, { 'If-Match': etag }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).to.deep.equal([200, 412, 412, 412]);
    const winner = 'abcd'[replies.findIndex(({ status }) => status === 200)];
    expect((await hawser.admin.get(fileOf('match', '1.0.0', MAIN))).text).to.equal(winner);
  });

  it('while others do the same and publish it: what is published is what one of them sent', async () => {
    await ok(201, create(hawser.admin, 'race'));
    const work = Array.from({ length: 12 }, (_, at) =>
      at === 6
        ? publish(hawser.admin, 'race', '1.0.0')
        : put('race', '1.0.0', { files: { [MAIN]: `${at}`, 'same.txt': `${at}` } }),
    );
    const replies = await Promise.all(work);
    expect(replies[6]?.status).to.equal(200);
    for (const reply of replies) {
      if (reply.status !== 200) await expectProblem(reply, 409, 'published_version');
    }
    const [main, same] = [
      await hawser.admin.get(fileOf('race', '1.0.0', MAIN)),
      await hawser.admin.get(fileOf('race', '1.0.0', 'same.txt')),
    ];
    if (main.text !== '$schema: x\nresources: []\n') expect(main.text).to.equal(same.text);
    git('race', 'fsck', '--strict');
  });
});
