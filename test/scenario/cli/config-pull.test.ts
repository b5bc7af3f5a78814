// full: SQLite
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ApiServer, startApiServer } from '../../support/api-server.ts';
import { expectFailed, makeCli } from '../../support/cli.ts';
import { startedForEach } from '../../support/started.ts';
import { makeZip, unixMode, type ZipEntry } from '../../support/zip.ts';

const PLAIN = unixMode(0o100644);
const LINK = unixMode(0o120777);
const MAIN: ZipEntry = { name: 'main.dsc.yaml', content: '$schema: x\nresources: []\n', attributes: PLAIN };

describe('hawserctl config pull', () => {
  let server: ApiServer;
  const cli = startedForEach(makeCli);
  let archive: Buffer;
  before(async () => {
    server = await startApiServer(({ path }) => {
      if (path.endsWith('/archive')) return { headers: { 'Content-Type': 'application/zip' }, body: archive };
      return { body: { name: 'web', latestPublishedVersion: '1.0.0', latestVersion: '1.1.0' } };
    });
  });
  after(() => server.close());
  beforeEach(async () => {
    cli.signIn({ port: Number(new URL(server.url).port), ca: server.ca }, 'pat_x');
    archive = makeZip([MAIN, { name: 'bin/run.sh', content: '#!/bin/sh\n', attributes: unixMode(0o100755) }]);
  });

  const pull = (...words: string[]) => cli.run(['config', 'pull', 'web', ...words]);
  const all = () => readdirSync(cli.home, { recursive: true }).map(String).sort();
  const read = (path: string) => readFileSync(join(cli.home, path), 'utf8');

  it('writes the highest published version into a new folder, with executable bits', async () => {
    expect(await pull('some/where/web')).to.deep.equal({
      code: 0,
      stdout: `web 1.0.0 is in ${cli.home}/some/where/web: 2 files, 35 bytes.\n`,
      stderr: '',
    });
    expect(read('some/where/web/main.dsc.yaml')).to.equal('$schema: x\nresources: []\n');
    const modeOf = (path: string) => statSync(join(cli.home, 'some/where/web', path)).mode & 0o777;
    // As of any file and folder that its owner makes.
    expect(modeOf('main.dsc.yaml')).to.equal(0o666 & ~process.umask());
    for (const path of ['bin/run.sh', 'bin', '.'])
      expect(modeOf(path), path).to.equal(0o777 & ~process.umask());
    expect(readdirSync(join(cli.home, 'some/where'))).to.deep.equal(['web']);
  });

  it('takes the version that is said, and tells a version from a folder', async () => {
    const { code, stdout } = await pull('1.1.0', './web', '--json');
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({
      ...{ configurationName: 'web', version: '1.1.0', folder: `${cli.home}/web` },
      files: [
        { path: 'bin/run.sh', size: 10, executable: true },
        { path: 'main.dsc.yaml', size: 25, executable: false },
      ],
    });
    expect(server.seen.at(-1)?.path).to.equal('/api/v1/configurations/web/versions/1.1.0/archive');
    for (const words of [['1.1.0'], ['v1.1.0'], ['v1.1.0', 'web'], []])
      expect((await pull(...words)).code, words.join(' ')).to.equal(2);
    expect(all()).to.not.include('1.1.0');
  });

  it('writes over no files without asking', async () => {
    mkdirSync(join(cli.home, 'web'));
    cli.write('web/main.dsc.yaml', 'mine');
    cli.write('web/notes', 'mine');
    const question = `${cli.home}/web has files. 1 file would be written over.`;
    const refused = await pull('web');
    expect(refused).to.deep.equal({
      code: 2,
      stdout: '',
      stderr: `hawserctl: ${question} Nothing was written: there is no terminal to ask at, so say --force.\n`,
    });
    const answered = await cli.runInTerminal(['config', 'pull', 'web', 'web'], ['n']);
    expect(answered.code).to.equal(1);
    expect(answered.stdout).to.include(`${question} Go on? [y/N]`).and.include('Nothing was done.');
    expect(read('web/main.dsc.yaml')).to.equal('mine');
    expect(readdirSync(join(cli.home, 'web')).sort()).to.deep.equal(['main.dsc.yaml', 'notes']);
    const forced = await pull('web', '--force');
    expect(forced).to.include({
      code: 0,
      stderr: 'What else is in the folder stays, and would be part of a push.\n',
    });
    expect([read('web/main.dsc.yaml'), read('web/notes')]).to.deep.equal([
      '$schema: x\nresources: []\n',
      'mine',
    ]);
    expect(readdirSync(join(cli.home, 'web')).sort()).to.deep.equal(['bin', 'main.dsc.yaml', 'notes']);
  });

  it('fills an empty folder without a question', async () => {
    mkdirSync(join(cli.home, 'web'));
    expect((await pull('web')).code).to.equal(0);
    expect(readdirSync(join(cli.home, 'web')).sort()).to.deep.equal(['bin', 'main.dsc.yaml']);
  });

  it('writes through no link, and in the place of no folder', async () => {
    const outside = join(cli.home, 'outside');
    mkdirSync(outside);
    mkdirSync(join(cli.home, 'web'));
    symlinkSync(outside, join(cli.home, 'web/bin'));
    const linked = await pull('web', '--force');
    expect(linked).to.include({ code: 1, stdout: '' });
    expect(linked.stderr).to.equal(
      `hawserctl: ${cli.home}/web/bin is a link where a folder is needed. Nothing was written.\n`,
    );
    expect(readdirSync(outside)).to.deep.equal([]);
    expect(readdirSync(join(cli.home, 'web'))).to.deep.equal(['bin']);
    mkdirSync(join(cli.home, 'other/main.dsc.yaml'), { recursive: true });
    expect((await pull('other', '--force')).stderr).to.match(
      /other\/main\.dsc\.yaml is a folder, so the file cannot be written\. Nothing was written\.\n$/,
    );
    writeFileSync(join(cli.home, 'file'), '');
    expect((await pull('file')).stderr).to.equal(`hawserctl: ${cli.home}/file is no folder.\n`);
  });

  // All other paths are in the tests of safe paths.
  const PATHS = ['../evil', '/tmp/evil', 'C:\\evil', '.git/hooks/post-checkout', 'x\u001b[2J'];
  const BAD: { what: string; entries: ZipEntry[]; options?: { count: number } }[] = [
    ...PATHS.map((name) => ({
      what: `the path ${JSON.stringify(name)}`,
      entries: [MAIN, { name, content: 'x' }],
    })),
    { what: 'a link', entries: [MAIN, { name: 'link', content: '/etc/passwd', attributes: LINK }] },
    { what: 'one path twice', entries: [MAIN, MAIN] },
    { what: 'a file longer than it says', entries: [{ ...MAIN, declaredSize: 3 }] },
    {
      what: 'files above 1 GiB in all',
      entries: [MAIN, { name: 'big', content: 'x', declaredSize: 2 ** 30 }],
    },
    {
      what: 'a name that is not UTF-8',
      entries: [MAIN, { name: Buffer.from('x\xff', 'latin1'), content: 'x' }],
    },
    { what: 'an archive that ends early', entries: [MAIN], options: { count: 2 } },
  ];
  for (const { what, entries, options } of BAD)
    it(`writes nothing at all where the server answers with ${what}`, async () => {
      archive = makeZip(entries, options);
      mkdirSync(join(cli.home, 'below'));
      const before = all();
      const { code, stdout, stderr } = await pull('below/web');
      expect({ code, stdout }).to.deep.equal({ code: 1, stdout: '' });
      expect(stderr).to.match(
        /^hawserctl: The archive that the server sent is refused: .+\. Nothing was written\.\n$/,
      );
      expect(stderr).to.not.include('\u001b');
      expect(all()).to.deep.equal(before);
    });

  it('says where the server answers with no archive', async () => {
    archive = Buffer.from('<html>');
    expectFailed(await pull('web'), 1, /^hawserctl: The archive that the server sent is refused: /);
  });
});
