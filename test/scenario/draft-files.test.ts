// full: SQLite
import { expect } from 'chai';
import { onlyEntry, shortly } from '../support/audit-table.ts';
import { addVersion, create, fileOf, MAIN, publish } from '../support/configurations.ts';
import { refsOf, remove, save, versionOf } from '../support/draft-files.ts';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { grant, makeUser, type Person } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { beside } from '../support/retention.ts';
import { started } from '../support/started.ts';
import { makeZip, unixMode } from '../support/zip.ts';

const FILES = { [MAIN]: '$schema: x\nresources: []\n', 'lib/a.txt': 'a\n', 'lib/deep/b.txt': 'b\n' };

describe('an author edits one file of a draft', () => {
  const hawser = started(() => startHawser({ HAWSER_UPLOAD_LIMIT: '20000', HAWSER_UPLOAD_FILES: '6' }));
  let ada: Person;

  before(async () => {
    ada = await makeUser(hawser, { username: 'ada', roles: ['Viewer'] });
  });

  const git = (name: string, ...args: string[]) => hawser.git(`configurations/${name}.git`, ...args).trim();
  const details = (name: string, version = '1.0.0') => ok(200, hawser.admin.get(versionOf(name, version)));
  const make = async (name: string, files: Record<string, string> = FILES) => {
    await ok(201, create(hawser.admin, name, {}, { files }));
    await grant(hawser, ada, name, 'Modify');
  };

  it('and gets the version as it is, with the ETag of the file', async () => {
    await make('web');
    const before = await details('web');
    hawser.clock.advance(5_000);
    const changed = await save(ada.client, ['web', '1.0.0', 'lib/a.txt'], 'new\n');
    const { files: _files, commit: _commit, ...members } = before;
    const author = { name: 'ada', email: 'ada@example.org' };
    expect(await ok(200, changed)).to.deep.include({ ...members, author });
    expect(changed.json.commit).to.equal(git('web', 'rev-parse', 'draft/1.0.0'));
    const read = await hawser.admin.get(fileOf('web', '1.0.0', 'lib/a.txt'));
    expect(read.text).to.equal('new\n');
    expect(changed.headers['etag']).to.equal(read.headers['etag']);
    await ok(200, save(ada.client, ['web', '1.0.0', 'lib/a.txt/'], 'new\n'));
    const added = await save(
      ada.client,
      ['web', '1.0.0', `other/${encodeURIComponent('A\u0308ö x.txt')}`],
      '',
    );
    expect((await ok(201, added)).fileCount).to.equal(4);
    const location = String(added.headers['location']);
    expect(location).to.equal(fileOf('web', '1.0.0', `other/${encodeURIComponent('Äö x.txt')}`));
    const empty = await hawser.admin.get(location);
    expect([empty.bytes.length, empty.headers['etag']]).to.deep.equal([0, added.headers['etag']]);
    expect((await details('web')).files.map(({ path }: { path: string }) => path)).to.deep.equal([
      'lib/a.txt',
      'lib/deep/b.txt',
      MAIN,
      'other/Äö x.txt',
    ]);
  });

  it('and each edit is a commit of the editor on top of the one before', async () => {
    await publishConfiguration(hawser.admin, 'chain', { '1.0.0': FILES });
    await grant(hawser, ada, 'chain', 'Modify');
    const message = 'The port is another one.\n\nIt was taken.';
    await ok(201, addVersion(hawser.admin, 'chain', { version: '1.1.0', message }, { files: FILES }));
    const first = git('chain', 'rev-parse', 'draft/1.1.0');
    hawser.clock.advance(60_000);
    await ok(200, save(ada.client, ['chain', '1.1.0', 'lib/a.txt'], 'second\n'));
    await ok(201, save(hawser.admin, ['chain', '1.1.0', 'c.txt'], 'c\n'));
    await ok(204, remove(ada.client, ['chain', '1.1.0', 'lib/deep/b.txt']));
    const format = '--format=%an|%ae|%cn|%s';
    expect(git('chain', 'log', format, '--first-parent', 'draft/1.1.0').split('\n')).to.deep.equal([
      'ada|ada@example.org|ada|chain 1.1.0',
      'admin|admin@localhost|admin|chain 1.1.0',
      'ada|ada@example.org|ada|chain 1.1.0',
      'admin|admin@localhost|admin|chain 1.1.0',
      'admin|admin@localhost|admin|chain 1.0.0',
    ]);
    expect(git('chain', 'rev-parse', 'draft/1.1.0~3')).to.equal(first);
    expect(git('chain', 'show', '--name-status', '--format=', 'draft/1.1.0')).to.equal('D\tlib/deep/b.txt');
    expect(git('chain', 'ls-tree', '-r', '--name-only', 'draft/1.1.0').split('\n')).to.deep.equal([
      'c.txt',
      'lib/a.txt',
      MAIN,
    ]);
    const edited = await details('chain', '1.1.0');
    expect(edited).to.include({ createdBy: 'admin', message });
    expect(git('chain', 'log', '-1', '--format=%B', 'draft/1.1.0')).to.equal(
      `chain 1.1.0\n\n${message}\n\nEntry-Point: ${MAIN}\nCreated-At: ${edited.createdAt}\nCreated-By: admin <admin@localhost>`,
    );
    // Who reads the objects anew finds what was told before.
    const found = await beside(hawser, async (store) => {
      const repository = { kind: 'configurations', name: 'chain' } as const;
      const ref = (await store.versions(repository)).get('1.1.0');
      return ref && store.details(repository, ref);
    });
    expect(found).to.deep.include({ createdBy: 'admin', message, createdAt: Date.parse(edited.createdAt) });
    expect(git('chain', 'fsck', '--strict')).to.equal('');
  });

  it('and the audit trail has one entry for each', async () => {
    await make('told');
    const { id } = await ok(200, hawser.admin.get('/api/v1/configurations/told'));
    const tip = () => git('told', 'rev-parse', 'draft/1.0.0');
    for (const [action, call] of [
      ['file_saved', (client: Person['client']) => save(client, ['told', '1.0.0', 'lib/a.txt'], 'x')],
      ['file_deleted', (client: Person['client']) => remove(client, ['told', '1.0.0', 'lib/a.txt'])],
    ] as const) {
      const from = tip();
      const entry = await onlyEntry(hawser, ada.client, call);
      const details = { name: 'told', version: '1.0.0', path: 'lib/a.txt', commit: { from, to: tip() } };
      expect(shortly(entry)).to.deep.equal({
        action: `configuration.${action}`,
        resource_type: 'Configuration',
        resource_id: id,
        details,
      });
    }
  });

  it('of any media type, as it comes', async () => {
    await make('raw');
    for (const [type, body] of [
      ['multipart/form-data; boundary=B', '--B\r\n\r\nx\r\n--B--\r\n'],
      ['application/json', '{"not": '],
      ['application/x-www-form-urlencoded', '%zz'],
      ['text/plain; charset=utf-16', Buffer.from([0xff, 0xfe, 0, 0x0a])],
      ['', 'no type'],
    ] as const) {
      const headers = type === '' ? {} : { 'Content-Type': type };
      const reply = await save(hawser.admin, ['raw', '1.0.0', 'file'], body, headers);
      expect(reply.status, `${type} ${reply.text}`).to.be.oneOf([200, 201]);
      const read = await hawser.admin.get(fileOf('raw', '1.0.0', 'file'));
      expect(read.bytes.equals(Buffer.from(body)), type).to.equal(true);
    }
    const packed = save(hawser.admin, ['raw', '1.0.0', 'file'], 'x', { 'Content-Encoding': 'gzip' });
    await expectProblem(packed, 415, 'unsupported_media_type');
  });

  it('whose executable bit stays, where a new file has none', async () => {
    const archive = makeZip([
      { name: MAIN, content: 'x', attributes: unixMode(0o100644) },
      { name: 'bin/run.sh', content: 'x', attributes: unixMode(0o100755) },
    ]);
    await ok(201, create(hawser.admin, 'modes', {}, { archive }));
    await ok(200, save(hawser.admin, ['modes', '1.0.0', 'bin/run.sh'], 'y'));
    await ok(201, save(hawser.admin, ['modes', '1.0.0', 'bin/new.sh'], 'z'));
    expect(git('modes', 'ls-tree', '-r', 'draft/1.0.0')).to.match(
      /^100644 .*bin\/new.sh\n100755 .*bin\/run.sh\n100644 .*main.dsc.yaml$/,
    );
  });

  it('and the same bytes again write nothing', async () => {
    await make('same');
    const before = refsOf(hawser, 'same');
    const again = await save(hawser.admin, ['same', '1.0.0', 'lib/a.txt'], 'a\n');
    expect(await ok(200, again)).to.have.property('fileCount', 3);
    expect(again.headers['etag']).to.match(/^"[0-9a-f]{40}"$/);
    expect(refsOf(hawser, 'same')).to.equal(before);
  });

  it('while If-Match names what is there, else 412, also where nothing is', async () => {
    await make('match');
    const file = ['match', '1.0.0', 'lib/a.txt'] as const;
    const { etag } = (await hawser.admin.get(fileOf(...file))).headers;
    const changed = await save(hawser.admin, file, 'b\n', { 'If-Match': String(etag) });
    await ok(200, changed);
    const before = refsOf(hawser, 'match');
    for (const refused of [
      save(hawser.admin, file, 'c\n', { 'If-Match': String(etag) }),
      remove(hawser.admin, file, { 'If-Match': String(etag) }),
      save(hawser.admin, ['match', '1.0.0', 'none'], 'c\n', { 'If-Match': '*' }),
      remove(hawser.admin, ['match', '1.0.0', 'none'], { 'If-Match': String(etag) }),
    ])
      await expectProblem(refused, 412, 'precondition_failed');
    expect(refsOf(hawser, 'match')).to.equal(before);
    await ok(204, remove(hawser.admin, file, { 'If-Match': String(changed.headers['etag']) }));
  });

  it('but none that breaks the rules of an upload, and the draft stays as it was', async () => {
    await make('rules');
    await publishConfiguration(hawser.admin, 'done', { '1.0.0': FILES });
    const [before, done] = [refsOf(hawser, 'rules'), refsOf(hawser, 'done')];
    const rules = (path: string) => ['rules', '1.0.0', path] as const;
    const put = (path: string, content: string | Buffer = 'x') => save(hawser.admin, rules(path), content);
    const refusals: [
      string,
      Promise<Parameters<typeof expectProblem>[0]> | Parameters<typeof expectProblem>[0],
      number,
      string,
    ][] = [
      ['outside', put('a/%2e%2e/b'), 400, 'invalid_path'],
      ['git', put('.git/config'), 400, 'invalid_path'],
      ['device', put('nul.txt'), 400, 'invalid_path'],
      ['deep', put(`${'d/'.repeat(64)}f`), 400, 'invalid_path'],
      ['case', put('LIB/A.txt'), 400, 'invalid_path'],
      ['file as folder', put('lib/a.txt/x'), 400, 'invalid_path'],
      ['folder as file', put('lib'), 400, 'invalid_path'],
      ['attributes', put('.gitattributes', 'x'.repeat(3_000)), 400, 'validation_failed'],
      ['reserved', put('Parameters.yaml'), 409, 'reserved_path'],
      ['one too large', put('big', Buffer.alloc(20_001)), 413, 'payload_too_large'],
      ['together too large', put('big', Buffer.alloc(19_999)), 413, 'payload_too_large'],
      ['no version', save(hawser.admin, ['rules', '9.0.0', 'x'], 'x'), 404, 'not_found'],
      ['published', save(hawser.admin, ['done', '1.0.0', 'lib/a.txt'], 'x'), 409, 'published_version'],
      ['published, deleted', remove(hawser.admin, ['done', '1.0.0', 'lib/a.txt']), 409, 'published_version'],
      ['entry point', remove(hawser.admin, rules(MAIN)), 409, 'entry_point_missing'],
      ['no file', remove(hawser.admin, rules('lib/none.txt')), 404, 'not_found'],
      ['a folder', remove(hawser.admin, rules('lib')), 404, 'not_found'],
      ['no version, deleted', remove(hawser.admin, ['rules', '9.0.0', 'x']), 404, 'not_found'],
    ];
    for (const [what, reply, status, code] of refusals) await expectProblem(await reply, status, code, what);
    expect([refsOf(hawser, 'rules'), refsOf(hawser, 'done')]).to.deep.equal([before, done]);
    for (const path of ['1', '2', '3']) await ok(201, put(path));
    const full = refsOf(hawser, 'rules');
    const { detail } = (await expectProblem(put('4'), 413, 'payload_too_large')).json;
    expect(detail).to.include('HAWSER_UPLOAD_FILES');
    expect(refsOf(hawser, 'rules')).to.equal(full);
    await ok(200, put('3', 'changed'));
  });

  itOnSqlite('on top of a commit of stock git, whose author stays the maker', async () => {
    await make('mixed');
    const outside = new Outside(hawser, 'mixed');
    const commit = outside.commit([outside.file(MAIN, 'by hand\n')], `Entry-Point: ${MAIN}`);
    outside.git('update-ref', 'refs/heads/draft/2.0.0', commit);
    const before = await eventually(() => details('mixed', '2.0.0'));
    expect(before.createdBy).to.equal('Carol');
    hawser.clock.advance(5_000);
    await ok(201, save(ada.client, ['mixed', '2.0.0', 'x'], 'x'));
    const { createdAt, createdBy } = await details('mixed', '2.0.0');
    expect({ createdAt, createdBy }).to.deep.equal({ createdAt: before.createdAt, createdBy: 'Carol' });
    await ok(200, publish(hawser.admin, 'mixed', '2.0.0'));
    // Neither commit was moved onto another.
    expect(git('mixed', 'rev-parse', 'v2.0.0~1')).to.equal(commit);
  });

  it('and replaces all of it, which is one commit of its maker again', async () => {
    await make('whole');
    const before = await details('whole');
    hawser.clock.advance(5_000);
    await ok(200, save(ada.client, ['whole', '1.0.0', 'lib/a.txt'], 'edit\n'));
    const replaced = hawser.admin.call('PUT', versionOf('whole', '1.0.0'), { form: { files: FILES } });
    const { createdAt, createdBy } = await ok(200, replaced);
    expect({ createdAt, createdBy }).to.deep.equal({ createdAt: before.createdAt, createdBy: 'admin' });
    expect(git('whole', 'log', '--format=%an <%ae>', 'draft/1.0.0')).to.equal('admin <admin@localhost>');
  });
});
