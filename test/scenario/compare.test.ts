// everyday: SQLite
import { expect } from 'chai';
import { sha256Hex } from '../../src/lib/hash.ts';
import type { Client } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, publish } from '../support/configurations.ts';
import { startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { etagOf, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { makeZip, unixMode } from '../support/zip.ts';

const compareOf = (name: string, query: string) => `${CONFIGURATIONS}/${name}/compare?${query}`;
const fileDiffOf = (name: string, path: string, query: string) =>
  `${CONFIGURATIONS}/${name}/compare/files/${path}?${query}`;

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('');

const BEFORE = {
  [MAIN]: '$schema: x\nresources: []\n',
  'gone.txt': 'gone\nfor ever\n',
  'image.bin': Buffer.from([0, 1, 2]),
  'long.txt': numbered(30),
  'moved/old.txt': 'the same\n',
  'one.txt': 'first\n',
  'other.txt': 'second\n',
  'run.sh': '#!/bin/sh\n',
};
const AFTER = {
  [MAIN]: '$schema: x\nresources: []\n',
  'image.bin': Buffer.from([0, 1, 3]),
  'long.txt': numbered(30).replace('line 10\n', 'line ten\r\n').replace('line 30\n', 'line 30'),
  'moved/new.txt': 'the same\n',
  'new.txt': 'a\nb\nc',
  'one.txt': 'second\n',
  'other.txt': 'first\n',
  'run.sh': '#!/bin/sh\n',
};

describe('comparing two versions of a configuration', () => {
  const hawser = started(startHawser);
  let admin: Client;

  before(async () => {
    ({ admin } = hawser);
    await ok(201, create(admin, 'web', {}, { files: BEFORE }));
    await ok(200, publish(admin, 'web', '1.0.0'));
    const entries = Object.entries(AFTER).map(([name, content]) => {
      return { name, content, attributes: unixMode(name === 'run.sh' ? 0o100755 : 0o100644) };
    });
    await ok(201, addVersion(admin, 'web', { version: '1.1.0' }, { archive: makeZip(entries) }));
  });

  it('tells which files were added, removed, modified and renamed, with their facts', async () => {
    const { from, to, files, totals } = await ok(200, admin.get(compareOf('web', 'from=1.0.0&to=1.1.0')));
    expect(from).to.include({ version: '1.0.0', status: 'Published' });
    expect(from.commit).to.equal(hawser.git('configurations/web.git', 'rev-parse', 'v1.0.0^{commit}').trim());
    expect(to).to.include({ version: '1.1.0', status: 'Draft' });
    const brief = files.map((file: Record<string, unknown>) =>
      [file['path'], file['previousPath'], file['change'], file['additions'], file['deletions']].join(' '),
    );
    expect(brief).to.deep.equal([
      'gone.txt  Removed 0 2',
      'image.bin  Modified  ',
      'long.txt  Modified 2 2',
      'moved/new.txt moved/old.txt Renamed 0 0',
      'new.txt  Added 3 0',
      'one.txt  Modified 1 1',
      'other.txt  Modified 1 1',
      'run.sh  Modified 0 0',
    ]);
    expect(totals).to.deep.equal({
      ...{ added: 1, removed: 1, modified: 5, renamed: 1 },
      ...{ additions: 7, deletions: 6 },
    });
    const script = sha256Hex('#!/bin/sh\n');
    expect(files.at(-1)).to.deep.equal({
      ...{ path: 'run.sh', previousPath: null, change: 'Modified', isBinary: false },
      ...{ sizeBefore: 10, sizeAfter: 10, checksumBefore: script, checksumAfter: script },
      ...{ executableBefore: false, executableAfter: true, additions: 0, deletions: 0 },
    });
    expect(files[0]).to.include({
      sizeBefore: 14,
      sizeAfter: null,
      checksumAfter: null,
      executableAfter: null,
    });
    expect(files[1]).to.include({ isBinary: true, additions: null, deletions: null });
    expect(files[4]).to.include({ sizeBefore: null, checksumBefore: null, executableBefore: null });
  });

  it('goes in either order, and to itself', async () => {
    const back = await ok(200, admin.get(compareOf('web', 'from=1.1.0&to=1.0.0')));
    expect(back.totals).to.include({ added: 1, removed: 1, renamed: 1, additions: 6, deletions: 7 });
    const same = await ok(200, admin.get(compareOf('web', 'from=1.1.0&to=1.1.0')));
    expect(same.files).to.deep.equal([]);
    expect(same.totals.additions + same.totals.modified).to.equal(0);
  });

  it('compares with the highest published version below, or with nothing', async () => {
    expect(await ok(200, admin.get(compareOf('web', 'to=1.1.0')))).to.deep.equal(
      await ok(200, admin.get(compareOf('web', 'from=1.0.0&to=1.1.0'))),
    );
    const first = await ok(200, admin.get(compareOf('web', 'to=1.0.0&from=')));
    expect(first.from).to.equal(null);
    expect(first.totals).to.include({ added: Object.keys(BEFORE).length, modified: 0, deletions: 0 });
  });

  it('shows a file line by line, as git diff does', async () => {
    const diff = await ok(200, admin.get(fileDiffOf('web', 'long.txt', 'to=1.1.0&context=1')));
    expect(diff).to.deep.equal({
      ...{ path: 'long.txt', previousPath: null, change: 'Modified', isBinary: false, isTooLarge: false },
      hunks: [
        {
          ...{ oldStart: 9, oldLines: 3, newStart: 9, newLines: 3 },
          lines: [
            { kind: 'Context', oldNumber: 9, newNumber: 9, text: 'line 9' },
            { kind: 'Removed', oldNumber: 10, newNumber: null, text: 'line 10' },
            { kind: 'Added', oldNumber: null, newNumber: 10, text: 'line ten\r' },
            { kind: 'Context', oldNumber: 11, newNumber: 11, text: 'line 11' },
          ],
        },
        {
          ...{ oldStart: 29, oldLines: 2, newStart: 29, newLines: 2 },
          lines: [
            { kind: 'Context', oldNumber: 29, newNumber: 29, text: 'line 29' },
            { kind: 'Removed', oldNumber: 30, newNumber: null, text: 'line 30' },
            { kind: 'Added', oldNumber: null, newNumber: 30, text: 'line 30' },
          ],
        },
      ],
      endsWithoutNewline: { before: false, after: true },
    });
    const whole = await ok(200, admin.get(fileDiffOf('web', 'long.txt', 'to=1.1.0&context=100')));
    expect(whole.hunks.map((hunk: { oldLines: number }) => hunk.oldLines)).to.deep.equal([30]);
    const bare = await ok(200, admin.get(fileDiffOf('web', 'long.txt', 'to=1.1.0&context=0')));
    expect(bare.hunks[0]).to.include({ oldStart: 10, oldLines: 1, newStart: 10, newLines: 1 });
  });

  it('finds a renamed file by either path, and others on one side or unchanged', async () => {
    const query = 'from=1.0.0&to=1.1.0';
    const renamed = await ok(200, admin.get(fileDiffOf('web', 'moved/new.txt', query)));
    expect(renamed).to.include({ path: 'moved/new.txt', previousPath: 'moved/old.txt', change: 'Renamed' });
    expect(renamed.hunks).to.deep.equal([]);
    expect(await ok(200, admin.get(fileDiffOf('web', 'moved/old.txt', query)))).to.deep.equal(renamed);
    const added = await ok(200, admin.get(fileDiffOf('web', 'new.txt', query)));
    expect(added).to.deep.include({ change: 'Added', endsWithoutNewline: { before: false, after: true } });
    expect(added.hunks[0]).to.include({ oldStart: 0, oldLines: 0, newStart: 1, newLines: 3 });
    const removed = await ok(200, admin.get(fileDiffOf('web', 'gone.txt', query)));
    expect(removed.hunks[0]).to.include({ oldStart: 1, oldLines: 2, newStart: 0, newLines: 0 });
    const same = await ok(200, admin.get(fileDiffOf('web', MAIN, query)));
    expect(same).to.deep.include({ change: 'Unchanged', hunks: [] });
    const binary = await ok(200, admin.get(fileDiffOf('web', 'image.bin', query)));
    expect(binary).to.deep.include({ change: 'Modified', isBinary: true, isTooLarge: false, hunks: [] });
    await expectProblem(admin.get(fileDiffOf('web', 'nowhere.txt', query)), 404, 'not_found');
    await expectProblem(admin.get(fileDiffOf('web', '../x', query)), 404, 'not_found');
  });

  it('is a patch that git applies, where the caller asks for one', async () => {
    const patch = await admin.get(compareOf('web', 'to=1.1.0'), { Accept: 'text/x-diff' });
    expect(patch.status).to.equal(200);
    expect(patch.headers).to.include({ 'content-type': 'text/x-diff', vary: 'Accept' });
    const outside = new Outside(hawser, 'web');
    outside.git('read-tree', 'v1.0.0');
    outside.pipe(patch.bytes, 'apply', '--cached');
    expect(outside.git('write-tree')).to.equal(outside.git('rev-parse', 'draft/1.1.0^{tree}'));
    await ok(200, admin.get(compareOf('web', 'to=1.1.0'), { Accept: 'application/json, text/x-diff;q=0.5' }));
    await expectProblem(
      admin.get(compareOf('web', 'to=1.1.0'), { Accept: 'text/html' }),
      406,
      'not_acceptable',
    );
    const empty = await admin.get(compareOf('web', 'from=1.1.0&to=1.1.0'), { Accept: 'text/x-diff' });
    expect([empty.status, empty.text]).to.deep.equal([200, '']);
  });

  it('has an ETag of its own for each form, by which nothing is sent twice', async () => {
    const path = compareOf('web', 'to=1.1.0');
    const tags: string[] = [];
    for (const Accept of ['application/json', 'text/x-diff']) {
      const etag = String((await admin.get(path, { Accept })).headers['etag']);
      const again = await admin.get(path, { Accept, 'If-None-Match': etag });
      expect([again.status, again.text, again.headers['vary']]).to.deep.equal([304, '', 'Accept']);
      tags.push(etag);
    }
    expect(tags[0]).to.not.equal(tags[1]);
    const other = await admin.get(path, { Accept: 'application/json', 'If-None-Match': String(tags[1]) });
    expect(other.status).to.equal(200);
    const file = fileDiffOf('web', 'long.txt', 'to=1.1.0');
    const etag = await etagOf(admin, file);
    await ok(304, admin.get(file, { 'If-None-Match': etag }));
    await ok(200, admin.get(`${file}&context=1`, { 'If-None-Match': etag }));
  });

  it('refuses what is missing, unknown or out of bounds', async () => {
    const refused = await expectProblem(admin.get(compareOf('web', 'from=1.0.0')), 400, 'validation_failed');
    expect(refused.json.errors[0].path).to.equal('/to');
    await expectProblem(admin.get(compareOf('web', 'to=')), 400, 'validation_failed');
    for (const query of ['to=9.9.9', 'from=9.9.9&to=1.0.0']) {
      await expectProblem(admin.get(compareOf('web', query)), 404, 'not_found');
      await expectProblem(admin.get(fileDiffOf('web', MAIN, query)), 404, 'not_found');
    }
    for (const context of ['-1', '101', 'x', '1.5'])
      await expectProblem(
        admin.get(fileDiffOf('web', MAIN, `to=1.0.0&context=${context}`)),
        400,
        'validation_failed',
      );
    await expectProblem(admin.get(compareOf('nothing', 'to=1.0.0')), 404, 'not_found');
  });

  it('shows bytes that are no UTF-8 as U+FFFD', async () => {
    const files = { [MAIN]: '$schema: x\nresources: []\n', 'latin.txt': Buffer.from('caf\xe9\n', 'latin1') };
    await ok(201, create(admin, 'latin', {}, { files }));
    const diff = await ok(200, admin.get(fileDiffOf('latin', 'latin.txt', 'to=1.0.0')));
    expect(diff.hunks[0].lines[0].text).to.equal('caf\ufffd');
    const patch = await admin.get(compareOf('latin', 'to=1.0.0'), { Accept: 'text/x-diff' });
    expect(patch.bytes.includes(Buffer.from('+caf\xe9\n', 'latin1'))).to.equal(true);
  });
});
