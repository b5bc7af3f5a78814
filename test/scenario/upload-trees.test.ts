// full: SQLite
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Form } from '../support/client.ts';
import { addVersion, create, fileOf, MAIN, versionsOf } from '../support/configurations.ts';
import { everythingOf, type Kept, ownTemporaryFolder } from '../support/disk.ts';
import { git, type Hawser, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';
import { makeZip } from '../support/zip.ts';

const MOST = 20_000;

/** A path of so many segments, the file name included; `first` tells its folders from those of others. */
const deep = (first: string, segments: number) => `${first}/${'d/'.repeat(segments - 2)}f`;

describe('what a version may hold', () => {
  let hawser: Hawser;
  let kept: Kept;
  let temporary: ReturnType<typeof ownTemporaryFolder>;

  before(async () => {
    temporary = ownTemporaryFolder();
    hawser = await startHawser({ HAWSER_UPLOAD_FILES: '30000' });
    await ok(201, create(hawser.admin, 'there'));
    kept = await everythingOf(hawser);
  });

  after(async () => {
    await hawser.close();
    temporary.remove();
  });

  /** As single files and as an archive, for a new configuration and for a new version: the same answer. */
  const expectRefused = async (paths: readonly string[], status: number, code: string) => {
    const files = Object.fromEntries([MAIN, ...paths].map((path) => [path, 'x']));
    const entries = Object.entries(files).map(([name, content]) => ({ name, content, method: 0 }));
    const forms: Omit<Form, 'fields'>[] = [{ files }, { archive: makeZip(entries) }];
    for (const form of forms) {
      await expectProblem(create(hawser.admin, 'new', {}, form), status, code);
      await expectProblem(addVersion(hawser.admin, 'there', {}, form), status, code);
    }
    expect(await everythingOf(hawser)).to.deep.equal(kept);
  };

  it('no path of more than 64 segments', async () => {
    await expectRefused([deep('a', 65)], 400, 'invalid_path');
    const windows = { archive: makeZip([{ name: deep('a', 65).replaceAll('/', '\\') }]) };
    await expectProblem(create(hawser.admin, 'new', {}, windows), 400, 'invalid_path');
  });

  it('no 205 files in folders 505 deep, which were taken once and could not be read back', async () => {
    const paths = Array.from({ length: 205 }, (_, at) => deep(`${at}`, 505));
    await expectRefused(paths, 400, 'invalid_path');
  });

  it('no more than 20,000 files, whatever is set', async () => {
    const paths = Array.from({ length: MOST }, (_, at) => `f${at}`);
    await expectRefused(paths, 413, 'too_many_files');
  });

  it('no more than 20,000 folders, of which few files can have many', async () => {
    // Each brings 63; those that differ in case alone are written as two.
    const paths = Array.from({ length: 318 }, (_, at) => deep(at % 2 ? `x${at}` : `X${at}`, 64));
    expect(318 * 63).to.be.above(MOST);
    await expectRefused(paths, 413, 'too_many_files');
  });

  it('all the same what is within these bounds, which is read and cloned as it was sent', async () => {
    const files: Record<string, string> = { [MAIN]: 'x' };
    for (let at = 0; at < 20; at += 1) files[deep(`n${at}`, 64)] = `content ${at}`;
    for (let at = 0; at < 300; at += 1) files[`wide/${at}/f`] = `wide ${at}`;
    files['wide/\u{1f600}'] = 'beyond the basic plane';
    files['wide/\uffee'] = 'before it in UTF-16, not in UTF-8';
    await ok(201, create(hawser.admin, 'deep', {}, { files }));
    const version = await ok(200, hawser.admin.get(`${versionsOf('deep')}/1.0.0`));
    const paths = Object.keys(files).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    expect(version.files.map(({ path }: { path: string }) => path)).to.deep.equal(paths);
    const path = deep('n7', 64);
    expect((await hawser.admin.get(fileOf('deep', '1.0.0', path))).text).to.equal('content 7');
    hawser.git('configurations/deep.git', 'fsck', '--strict');
    const folder = mkdtempSync(join(tmpdir(), 'hawser-clone-'));
    try {
      git(folder, 'clone', '-q', '-b', 'draft/1.0.0', hawser.folderOf('configurations/deep.git'), 'c');
      for (const [name, content] of Object.entries(files))
        expect(readFileSync(join(folder, 'c', name), 'utf8'), name).to.equal(content);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('a large file as it was sent, in a form and in an archive, text and noise', async () => {
    const noise = Buffer.alloc(5_000_000);
    for (let at = 0, value = 1; at < noise.length; at += 1) {
      value = (value * 48_271) % 2_147_483_647;
      noise[at] = value;
    }
    const text = Buffer.alloc(5_000_000, 'some text that packs well\n');
    const files: Record<string, string | Buffer> = { [MAIN]: 'x', noise, text };
    const entries = Object.entries(files).map(([name, content], at) => ({
      name,
      content,
      method: at % 2 ? 0 : 8,
    }));
    const forms = { 'in-form': { files }, 'in-archive': { archive: makeZip(entries) } };
    for (const [name, form] of Object.entries(forms)) {
      await ok(201, create(hawser.admin, name, {}, form));
      for (const part of ['noise', 'text'])
        expect(
          (await hawser.admin.get(fileOf(name, '1.0.0', part))).bytes.equals(files[part] as Buffer),
        ).to.equal(true);
      hawser.git(`configurations/${name}.git`, 'fsck', '--strict');
    }
  });
});

describe('a version within a lower setting', () => {
  const hawser = started(() => startHawser({ HAWSER_UPLOAD_FILES: '5' }));

  it('is refused beyond it as it always was', async () => {
    const paths = Array.from({ length: 6 }, (_, at) => [at === 0 ? MAIN : `f${at}`, 'x']);
    await expectProblem(
      create(hawser.admin, 'many', {}, { files: Object.fromEntries(paths) }),
      413,
      'payload_too_large',
    );
  });

  it('may have far more folders than files', async () => {
    const files = { [MAIN]: 'x', [deep('a', 64)]: 'x', [deep('b', 64)]: 'x' };
    await ok(201, create(hawser.admin, 'folders', {}, { files }));
    const archive = makeZip(Object.keys(files).map((name) => ({ name })));
    await ok(201, create(hawser.admin, 'packed', {}, { archive }));
    for (const name of ['folders', 'packed']) {
      const held = await ok(200, hawser.admin.get(`${versionsOf(name)}/1.0.0`));
      expect(
        held.files.map((file: { path: string }) => file.path),
        name,
      ).to.have.members(Object.keys(files));
    }
  });
});
