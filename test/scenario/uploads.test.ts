// everyday: SQLite
import { expect } from 'chai';
import { type Call, encodeForm, type Form } from '../support/client.ts';
import { addVersion, CONFIGURATIONS, create, MAIN, versionsOf } from '../support/configurations.ts';
import { everythingOf, type Kept, ownTemporaryFolder } from '../support/disk.ts';
import { type Hawser, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { makeZip, unixMode, type ZipEntry } from '../support/zip.ts';

const LIMIT = 100 * 1024;
const FILES = 5;
const MULTIPART = 'multipart/form-data; boundary=B';

type Files = Record<string, string | Buffer>;

describe('a bad upload is refused and changes nothing', () => {
  let hawser: Hawser;
  let kept: Kept;
  let temporary: ReturnType<typeof ownTemporaryFolder>;

  before(async () => {
    temporary = ownTemporaryFolder();
    const settings = { HAWSER_UPLOAD_LIMIT: '100KiB', HAWSER_UPLOAD_FILES: String(FILES) };
    hawser = await startHawser(settings);
    await ok(201, create(hawser.admin, 'there'));
    kept = await everythingOf(hawser);
  });

  after(async () => {
    await hawser.close();
    temporary.remove();
  });

  afterEach(async () => {
    expect(await everythingOf(hawser)).to.deep.equal(kept);
    expect(hawser.log()).to.not.match(/unhandled|uncaught/i);
    const good = await addVersion(hawser.admin, 'there', { version: '1.0.0' });
    await expectProblem(good, 409, 'version_exists');
  });

  /** As a first version and as a further one: the same answer. */
  const expectRefused = async (form: Form, status: number, code: string, what: string) => {
    const first = { ...form, fields: { name: 'new', ...form.fields } };
    await expectProblem(hawser.admin.upload(CONFIGURATIONS, first), status, code, what);
    await expectProblem(hawser.admin.upload(versionsOf('there'), form), status, code, what);
  };

  const withFiles = (files: Files): Form => ({ files: { [MAIN]: 'x', ...files } });
  const withZip = (...entries: ZipEntry[]): Form => ({
    archive: makeZip([{ name: MAIN, content: 'x' }, ...entries]),
  });

  // All others are in the tests of safe paths.
  const UNSAFE = ['../evil', 'a/../../evil', '/etc/evil', '.git/config', 'CON.txt', 'tab\tinside'];

  it('for a path that would be unsafe somewhere, as a filename or in an archive', async () => {
    for (const path of UNSAFE) {
      const what = JSON.stringify(path).slice(0, 60);
      await expectRefused(withFiles({ [path]: 'x' }), 400, 'invalid_path', what);
      await expectRefused(withZip({ name: path, content: 'x' }), 400, 'invalid_path', `zip ${what}`);
    }
    await expectRefused(withFiles({ '': 'x' }), 400, 'invalid_path', 'empty');
    await expectRefused(withZip({ name: '..\\evil', content: 'x' }), 400, 'invalid_path', 'of Windows');
  });

  it('for two paths that some disk takes for one, or a file where a folder must be', async () => {
    const clashes: Files[] = [
      { 'MAIN.DSC.YAML': 'x' },
      { 'a/B.txt': '1', 'A/b.TXT': '2' },
      { 'main.dsc.yaml/x': '1' },
    ];
    for (const files of clashes) {
      const what = Object.keys(files).join(' ');
      await expectRefused(withFiles(files), 400, 'invalid_path', what);
      const entries = Object.entries(files).map(([name, content]) => ({ name, content }));
      await expectRefused(withZip(...entries), 400, 'invalid_path', `zip ${what}`);
    }
    await expectRefused(withZip({ name: MAIN, content: 'x' }), 400, 'invalid_path', 'the same twice');
  });

  it('for links and other special entries of an archive', async () => {
    const link = { name: 'special', content: '/etc/passwd', attributes: unixMode(0o120777) };
    await expectRefused(withZip(link), 400, 'invalid_path', 'link');
    const reparse = { name: 'junction', attributes: 0x400, madeBy: 0 };
    await expectRefused(withZip(reparse), 400, 'invalid_path', 'reparse point');
  });

  it('for more bytes than allowed, sent or unpacked', async () => {
    const most = 'x'.repeat(LIMIT);
    await expectRefused({ files: { [MAIN]: `${most}x` } }, 413, 'payload_too_large', 'one file');
    await expectRefused(withFiles({ a: most }), 413, 'payload_too_large', 'together');
    await expectRefused({ files: { [MAIN]: 'x'.repeat(10 * LIMIT) } }, 413, 'payload_too_large', 'far more');
    const zeros = Buffer.alloc(LIMIT + 1);
    await expectRefused(withZip({ name: 'a', content: zeros }), 413, 'payload_too_large', 'unpacked');
    const bomb = { name: 'bomb', content: Buffer.alloc(40 * 1024 * 1024) };
    await expectRefused(withZip(bomb), 413, 'payload_too_large', 'bomb');
    await expectRefused(
      withZip({ ...bomb, declaredSize: 10 }),
      400,
      'validation_failed: invalid_archive',
      'bomb that lies',
    );
    const half = { content: Buffer.alloc(LIMIT / 2) };
    const many = [1, 2, 3].map((at) => ({ name: `half-${at}`, ...half }));
    await expectRefused(withZip(...many), 413, 'payload_too_large', 'halves');
    await expectRefused(
      { ...withFiles({}), fields: { version: '1'.repeat(70_000) } },
      413,
      'payload_too_large',
      'field',
    );
  });

  it('for more files than allowed', async () => {
    const names = Array.from({ length: FILES }, (_, at) => `f${at}`);
    await expectRefused(
      withFiles(Object.fromEntries(names.map((name) => [name, '']))),
      413,
      'payload_too_large',
      'files',
    );
    await expectRefused(withZip(...names.map((name) => ({ name }))), 413, 'payload_too_large', 'entries');
    const folders = Array.from({ length: 500 }, (_, at) => ({ name: `d${at}/` }));
    await expectRefused(withZip(...folders), 413, 'payload_too_large', 'folders');
  });

  it('for an archive that is none, or none that can be trusted', async () => {
    const whole = makeZip([{ name: MAIN, content: '$schema: x\nresources: []\n'.repeat(50) }]);
    const archives: Record<string, Buffer> = {
      empty: Buffer.alloc(0),
      'cut off': whole.subarray(0, whole.length - 30),
      'wrong checksum': makeZip([{ name: MAIN, content: 'x', crc: 1 }]),
    };
    for (const [what, archive] of Object.entries(archives)) {
      await expectRefused({ archive }, 400, 'validation_failed: invalid_archive', what);
    }
  });

  it('for a form that is put together wrongly', async () => {
    await expectRefused({ ...withZip(), ...withFiles({}) }, 400, 'validation_failed', 'files and archive');
    const part = (head: string, content = 'x') =>
      `--B\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
    const main = part(`name="files"; filename="${MAIN}"`);
    const bodies: [what: string, body: string, code: string][] = [
      ['a file without a path', `${part('name="files"')}--B--\r\n`, 'validation_failed'],
      ['an unknown file', `${main}${part('name="photo"; filename="p"')}--B--\r\n`, 'validation_failed'],
      ['no closing boundary', main, 'validation_failed: malformed_multipart'],
      ['no parts', '--B--\r\n', 'validation_failed'],
    ];
    for (const [what, body, code] of bodies) {
      const call = { headers: { 'Content-Type': MULTIPART }, body: Buffer.from(body, 'latin1') };
      await expectProblem(hawser.admin.call('POST', versionsOf('there'), call), 400, code, what);
    }
  });

  it('for no file, beside what macOS and Windows leave in folders', async () => {
    const litter = ['.DS_Store', '__MACOSX/._x'];
    const empty = 'validation_failed: no_files';
    const files = Object.fromEntries(litter.map((path) => [path, 'x']));
    await expectRefused({ files }, 400, empty, 'files');
    await expectRefused({ archive: makeZip(litter.map((name) => ({ name }))) }, 400, empty, 'archive');
    await expectProblem(hawser.admin.upload(`${CONFIGURATIONS}/there/check`, { files }), 400, empty);
  });

  it('for a body of another media type', async () => {
    const body = encodeForm({ fields: { name: 'new' }, files: { [MAIN]: 'x' } }, 'B');
    const calls: Record<string, Call> = {
      json: { json: { name: 'new' } },
      'no type': { body },
      zip: { headers: { 'Content-Type': 'application/zip' }, body: makeZip([{ name: MAIN }]) },
    };
    for (const [what, call] of Object.entries(calls)) {
      const refused = (path: string) =>
        expectProblem(hawser.admin.call('POST', path, call), 415, 'unsupported_media_type', what);
      await refused(CONFIGURATIONS);
      // A draft may be made by JSON too.
      if (what === 'json') continue;
      const { detail } = (await refused(versionsOf('there'))).json;
      expect(detail).to.include('multipart/form-data').and.include('application/json');
    }
  });

  it('whereas exactly as much as allowed is taken', async () => {
    const files: Files = { [MAIN]: 'x'.repeat(LIMIT - 3) };
    for (let at = 1; at < FILES; at += 1) files[`f${at}`] = at < 4 ? 'x' : '';
    await ok(201, create(hawser.admin, 'most', {}, { files }));
    const entries = Object.entries(files).map(([name, content]) => ({ name, content }));
    await ok(201, addVersion(hawser.admin, 'most', {}, { archive: makeZip(entries) }));
    const held = await ok(200, hawser.admin.get(`${versionsOf('most')}/1.0.0`));
    expect(held.files).to.have.length(FILES);
    kept = await everythingOf(hawser);
  });
});
