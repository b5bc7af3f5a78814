// full: SQLite
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { MAIN, versionsOf } from '../../support/configurations.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';
import { unzip } from '../../support/unzip.ts';
import { withdraw } from '../../support/withdrawals.ts';

const YAML = '$schema: x\nresources: []\n';
const VERSIONS = 'GET /api/v1/configurations/{name}/versions';

describe('hawserctl config push', () => {
  const session = started(startCliSession);

  const push = (...words: string[]) => session.cli.run(['config', 'push', ...words]);

  /** The versions with their states, highest first. */
  const versions = async (name: string) => {
    const reply = await session.hawser.admin.get(versionsOf(name));
    if (reply.status === 404) return [];
    return reply.json.map((each: { version: string; status: string }) => `${each.version} ${each.status}`);
  };

  const details = (name: string, version: string) =>
    ok(200, session.hawser.admin.get(`${versionsOf(name)}/${version}`));

  it('makes a configuration where --create is said, and not else', async () => {
    session.folder('new', { [MAIN]: YAML, 'run.sh*': '#!/bin/sh\n', 'deep/er/x.conf': 'x\n' });
    const refused = await push('new');
    expect(refused).to.include({ code: 1, stdout: '' });
    expect(refused.stderr).to.equal(
      'hawserctl: not_found: There is no configuration "new" that you may read. Say --create to make it, or its name by --name.\n',
    );
    expect(await versions('new')).to.deep.equal([]);
    const { code, stdout, stderr } = await push('new', '--create', '-m', 'The first one');
    expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['new 1.0.0, compared with nothing, as no version below is published:'],
      ['CHANGE', 'FILE', 'LINES', 'BYTES'],
      ['Added', 'deep/er/x.conf', '+1 -0', '2'],
      ['Added', 'main.dsc.yaml', '+2 -0', '25'],
      ['Added', 'run.sh', '+1 -0, executable', '10'],
      ['3 added; lines +4 -0.'],
      [
        'This makes the configuration new with the draft 1.0.0, with 3 files and the entry point main.dsc.yaml.',
      ],
      ['The configuration new is made.'],
      ['The draft new 1.0.0 is made.'],
      [''],
    ]);
    expect(stderr).to.equal(
      'Next: "hawserctl config preview new 1.0.0" tells which nodes change, and "hawserctl config publish new 1.0.0" publishes it.\n',
    );
    expect(code).to.equal(0);
    expect(await versions('new')).to.deep.equal(['1.0.0 Draft']);
    expect(await details('new', '1.0.0')).to.include({ message: 'The first one', entryPoint: MAIN });
    const { bytes } = await session.hawser.admin.get(`${versionsOf('new')}/1.0.0/archive`);
    expect((await unzip(bytes)).map(({ path, mode }) => [path, (mode & 0o111) !== 0])).to.deep.equal([
      ...[
        ['deep/er/x.conf', false],
        [MAIN, false],
        ['run.sh', true],
      ],
    ]);
  });

  it('asks once where nothing has changed, for the draft, the published version, and after a copy was read', async () => {
    session.folder('quick', { [MAIN]: YAML });
    await push('quick', '--create');
    const again = async (words: string[], says: string) => {
      let ended: Awaited<ReturnType<typeof push>> | undefined;
      const asked = await session.requestsOf(async () => {
        ended = await push('quick', ...words);
      });
      expect(ended).to.include({ code: 0, stdout: says });
      return asked;
    };
    const draft = 'The folder has the same files as the draft quick 1.0.0. Nothing was made.\n';
    expect(await again([], draft)).to.deep.equal([VERSIONS]);
    expect((await push('quick', '--publish')).code).to.equal(0);
    const published = 'The folder has the same files as quick 1.0.0. Nothing was made.\n';
    for (const words of [[], ['--version', '1.4.0', '--publish'], ['--version', '1.0.0'], ['--dry-run']])
      expect(await again(words, published)).to.deep.equal([VERSIONS]);
    expect(await versions('quick')).to.deep.equal(['1.0.0 Published']);
    // What was remembered is lost or damaged, so the version is read once.
    writeFileSync(join(session.cli.home, '.cache/hawser/contents.json'), '[["x"],{');
    const archive = 'GET /api/v1/configurations/{name}/versions/{version}/archive';
    expect(await again([], published)).to.deep.equal([VERSIONS, archive]);
    expect(await again([], published)).to.deep.equal([VERSIONS]);
  });

  it('makes the next patch, replaces that draft, and publishes it', async () => {
    session.folder('steps', { [MAIN]: YAML, 'old.txt': 'old\n', gone: '' });
    await push('steps', '--create', '--publish');
    session.folder('steps', { [MAIN]: YAML, 'new.txt': 'old\n' });
    expect((await push('steps', '-m', 'a')).stdout).to.match(/^The draft steps 1\.0\.1 is made\.$/m);
    session.folder('steps', { [`${MAIN}*`]: `${YAML}# more\n`, 'new.txt': 'old\n' });
    const replaced = await push('steps', '-m', 'b');
    expect(replaced.code).to.equal(0);
    expect(replaced.stdout.split('\n').map((line) => line.split(/ {2,}/))).to.deep.equal([
      ['steps 1.0.1, compared with 1.0.0:'],
      ['CHANGE', 'FILE', 'LINES', 'BYTES'],
      ['Removed', 'gone', '+0 -0', '0'],
      ['Modified', 'main.dsc.yaml', '+1 -0, executable', '32'],
      ['Renamed', 'old.txt -> new.txt', '+0 -0', '4'],
      ['1 modified, 1 renamed, 1 removed; lines +1 -0.'],
      ['This replaces the draft 1.0.1 that admin made, with 2 files and the entry point main.dsc.yaml.'],
      ['The draft steps 1.0.1 is replaced.'],
      [''],
    ]);
    expect(await versions('steps')).to.deep.equal(['1.0.1 Draft', '1.0.0 Published']);
    const { message, files } = await details('steps', '1.0.1');
    expect([message, files.length]).to.deep.equal(['b', 2]);
    const published = await push('steps', '--publish', '-m', 'c');
    expect(published).to.deep.equal({
      code: 0,
      stdout: 'steps 1.0.1 is published. Nodes that it is for get it at their next poll.\n',
      stderr:
        'The draft steps 1.0.1 has these files already.\n' +
        'Next: "hawserctl proof steps 1.0.1" tells who runs it.\n',
    });
    expect(await details('steps', '1.0.1')).to.include({ status: 'Published', message: 'c' });
  });

  it('says what would be done, and changes nothing, with --dry-run', async () => {
    session.folder('dry', { [MAIN]: YAML });
    const made = await push('dry', '--create', '--dry-run');
    expect(made).to.include({ code: 0, stderr: '' });
    expect(made.stdout).to.match(
      /^This makes the configuration dry with the draft 1\.0\.0, .*\nNothing was changed, because of --dry-run\.\n$/m,
    );
    expect(await versions('dry')).to.deep.equal([]);
    await push('dry', '--create');
    session.folder('dry', { [MAIN]: `${YAML}\n` });
    const commit = (await details('dry', '1.0.0')).commit;
    const asked = await session.requestsOf(async () => {
      const { code, stdout } = await push('dry', '--publish', '--dry-run');
      expect(code).to.equal(0);
      expect(stdout).to.match(/^This replaces the draft 1\.0\.0 that admin made, .*, and publishes it\.$/m);
      const json = JSON.parse((await push('dry', '--publish', '--dry-run', '--json')).stdout);
      expect(json).to.deep.include({
        result: 'Replaced',
        isDryRun: true,
        configurationName: 'dry',
        version: '1.0.0',
      });
      expect(json.comparison.totals).to.include({ added: 1 });
    });
    expect(asked.filter((each) => !each.startsWith('GET '))).to.deep.equal([]);
    expect((await details('dry', '1.0.0')).commit).to.equal(commit);
  });

  it('leaves out what .hawserignore names', async () => {
    session.folder('kept', {
      [MAIN]: YAML,
      '.hawserignore': '*.bak\n',
      'x.bak': '',
      '.git/config': '',
      'sub/.git': '',
    });
    expect((await push('kept', '--create')).code).to.equal(0);
    const { files } = await details('kept', '1.0.0');
    expect(files.map(({ path }: { path: string }) => path)).to.deep.equal([MAIN]);
  });

  it('takes a published version with other files for a mistake', async () => {
    session.folder('fixed', { [MAIN]: YAML });
    await push('fixed', '--create', '--publish');
    session.folder('fixed', { [MAIN]: `${YAML}#\n` });
    const { code, stderr } = await push('fixed', '--version', '1.0.0');
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'hawserctl: published_version: fixed 1.0.0 is published, and has other files. Say another --version.\n',
    );
  });

  it('keeps a draft with other files where the folder is as the version below, and says so', async () => {
    session.folder('back', { [MAIN]: YAML });
    await push('back', '--create', '--publish');
    session.folder('back', { [MAIN]: `${YAML}#\n` });
    await push('back');
    session.folder('back', { [MAIN]: YAML });
    expect(await push('back')).to.deep.equal({
      code: 0,
      stdout: 'The folder has the same files as back 1.0.0. Nothing was made.\n',
      stderr: 'The draft back 1.0.1 has other files, and stays as it is.\n',
    });
  });

  it('compares with no version that is withdrawn', async () => {
    session.folder('taken', { [MAIN]: YAML });
    await push('taken', '--create', '--publish');
    session.folder('taken', { [MAIN]: YAML, bad: '' });
    await push('taken', '--publish');
    await ok(200, withdraw(session.hawser.admin, 'taken', '1.0.1'));
    session.folder('taken', { [MAIN]: YAML, good: '' });
    expect((await push('taken')).stdout).to.match(/^taken 1\.0\.2, compared with 1\.0\.0:\n/);
  });

  it('makes a draft where the entry point alone is another', async () => {
    session.folder('entry', { [MAIN]: YAML, 'other.dsc.yaml': YAML });
    await push('entry', '--create', '--publish');
    const { code, stdout } = await push('entry', '--entry-point', 'other.dsc.yaml');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^The entry point is other\.dsc\.yaml; it was main\.dsc\.yaml\.$/m);
    expect(await details('entry', '1.0.1')).to.include({ entryPoint: 'other.dsc.yaml' });
    // It is inherited from then on.
    expect((await push('entry')).stdout).to.match(/same files as the draft entry 1\.0\.1/);
  });

  it('names the likely entry points where the folder lacks it, before anything is sent', async () => {
    session.folder('lacks', { 'web.dsc.yaml': YAML, 'readme.md': '' });
    const asked = await session.requestsOf(async () => {
      const { code, stderr } = await push('lacks', '--create');
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        'hawserctl: entry_point_missing: The folder has no file "main.dsc.yaml", the entry point. Say another one by --entry-point, such as web.dsc.yaml.\n',
      );
    });
    expect(asked).to.deep.equal([VERSIONS]);
  });

  it('says what would break where publishing is refused, and keeps the draft', async () => {
    const schema = (type: string) =>
      `$schema: x\nparameters:\n  port:\n    type: ${type}\n    defaultValue: ${type === 'int' ? 1 : 'x'}\nresources: []\n`;
    session.folder('breaks', { [MAIN]: schema('int') });
    await push('breaks', '--create', '--publish');
    session.folder('breaks', { [MAIN]: schema('string') });
    const { code, stderr } = await push('breaks', '--publish');
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'Breaking: The type of parameter "port" changed from int to string.\n' +
        'hawserctl: incompatible_parameters: The parameters break with those of 1.0.0, which takes a new major version\n',
    );
    expect(await versions('breaks')).to.deep.equal(['1.0.1 Draft', '1.0.0 Published']);
  });

  it('prints with --json what was done', async () => {
    session.folder('json', { [MAIN]: YAML });
    const run = async (...words: string[]) => JSON.parse((await push('json', '--json', ...words)).stdout);
    const made = await run('--create');
    expect(made).to.include({ result: 'Created', isDryRun: false, comparedWith: null });
    const { files: _, ...version } = await details('json', '1.0.0');
    expect(made.version).to.deep.include(version);
    expect(await run()).to.deep.include({ result: 'Unchanged', comparison: null });
    expect((await run('--publish')).version).to.include({ version: '1.0.0', status: 'Published' });
  });

  const WRONG: { words: string[]; says: RegExp }[] = [
    {
      words: ['a folder'],
      says: /The folder's name "a folder" cannot be the name of a configuration; say it by --name\./,
    },
    { words: ['new', '--name', '../x'], says: /"\.\.\/x" cannot be the name of a configuration\./ },
    { words: ['new', '--version', 'v1.2.0'], says: /"v1\.2\.0" is no version; drop the v: 1\.2\.0\./ },
    { words: [], says: /missing required argument 'folder'/ },
  ];
  for (const { words, says } of WRONG)
    it(`calls "${words.join(' ')}" wrong usage, and asks the server nothing`, async () => {
      session.folder('a folder', { [MAIN]: YAML });
      const asked = await session.requestsOf(async () => {
        expectFailed(await push(...words), 2, says);
      });
      expect(asked).to.deep.equal([]);
    });

  it('asks for the version where several drafts could be meant', async () => {
    session.folder('several', { [MAIN]: YAML });
    await push('several', '--create');
    session.folder('several', { [MAIN]: `${YAML}#\n` });
    await push('several', '--version', '1.1.0');
    session.folder('several', { [MAIN]: `${YAML}##\n` });
    const { code, stderr } = await push('several');
    expect(code).to.equal(2);
    expect(stderr).to.equal(
      'hawserctl: There are several drafts: 1.1.0, 1.0.0. Say which one by --version.\n',
    );
  });

  it('tells a server that is not there from a refusal', async () => {
    const env = { HAWSER_URL: 'https://localhost:1', HAWSER_TOKEN: 'pat_x' };
    const { code, stderr } = await session.cli.run(['config', 'push', 'new'], { env });
    expect(code).to.equal(3);
    expect(stderr).to.match(/^hawserctl: .*localhost:1/);
  });
});
