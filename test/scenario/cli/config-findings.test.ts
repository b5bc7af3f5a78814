// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { MAIN, versionsOf } from '../../support/configurations.ts';
import { publishConfiguration } from '../../support/hawser.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const GOOD = '$schema: x\nresources: []\n';
/** A warning, on its third line. */
const ODD = `${GOOD}resorces: []\n`;
/** An error. */
const BROKEN = '$schema: x\nresources: [\n';
const INCLUDING = `$schema: x
resources:
  - name: rest
    type: Microsoft.DSC/Include
    properties:
      configurationFile: rest.dsc.yaml
`;

const WARNING = /^warning: main\.dsc\.yaml:3:1: .*resorces.* \(unknown_member\)$/gm;
const ERROR = /^ *error: main\.dsc\.yaml:\d+:\d+: .+ \(document_syntax\)$/gm;

describe('hawserctl and what is found in documents', () => {
  const session = started(startCliSession);
  const VALIDATION = '/api/v1/settings/validation';
  const setChecks = (defaultDocumentChecks: 'Strict' | 'Warn') =>
    ok(200, session.hawser.admin.put(VALIDATION, { defaultDocumentChecks }));
  before(async () => {
    await setChecks('Strict');
    for (const name of ['web', 'pushed', 'published', 'child'])
      await publishConfiguration(session.hawser.admin, name, { '1.0.0': { [MAIN]: GOOD } });
  });

  const run = (...words: string[]) => session.cli.run(words);
  const config = (...words: string[]) => run('config', ...words);
  const statusOf = async (name: string, version: string) =>
    (await ok(200, session.hawser.admin.get(`${versionsOf(name)}/${version}`))).status;
  const countOf = (text: string, line: RegExp) => [...text.matchAll(line)].length;

  describe('config check', () => {
    it('ends with 0 and a line where nothing is found, and stores nothing', async () => {
      session.folder('web', { [MAIN]: GOOD, 'other.txt': '' });
      const before = await session.hawser.admin.get(versionsOf('web'));
      const asked = await session.requestsOf(async () => {
        expect(await config('check', './web')).to.deep.equal({
          ...{ code: 0, stdout: '', stderr: 'Nothing is found wrong.\n' },
        });
      });
      expect(asked).to.deep.equal(['POST /api/v1/configurations/{name}/check']);
      expect((await session.hawser.admin.get(versionsOf('web'))).json).to.deep.equal(before.json);
    });

    it('prints warnings as compilers do, and ends with 0', async () => {
      const folder = session.folder('elsewhere', { [MAIN]: ODD });
      const { code, stdout, stderr } = await config('check', folder, '--name', 'web');
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(countOf(stdout, WARNING)).to.equal(1);
    });

    it('ends with 1 where there is an error, with --json too', async () => {
      session.folder('web', { [MAIN]: BROKEN });
      const { code, stdout, stderr } = await config('check', 'web');
      expect({ code, stderr }).to.deep.equal({ code: 1, stderr: '' });
      expect(countOf(stdout, ERROR)).to.be.above(0);
      const json = await config('check', 'web', '--json');
      expect(json).to.include({ code: 1, stderr: '' });
      expect(JSON.parse(json.stdout).findings[0]).to.include({ severity: 'Error', file: MAIN });
    });

    it('takes another entry point, and says which file is not there', async () => {
      session.folder('web', { [MAIN]: GOOD, 'other.dsc.yaml': ODD });
      const { stdout } = await config('check', 'web', '--entry-point', 'other.dsc.yaml');
      expect(stdout).to.match(/^warning: other\.dsc\.yaml:3:1: /);
      expectFailed(
        await config('check', 'web', '--entry-point', 'none.yaml'),
        1,
        /^hawserctl: validation_failed: No file none\.yaml; found main\.dsc\.yaml, other\.dsc\.yaml/,
      );
    });

    it('looks for what is included, and not for what stays out', async () => {
      session.folder('web', { [MAIN]: INCLUDING, 'rest.dsc.yaml': GOOD });
      expect((await config('check', 'web')).stdout).to.equal('');
      session.folder('web', { [MAIN]: INCLUDING, 'rest.dsc.yaml': GOOD, '.hawserignore': 'rest*\n' });
      expect((await config('check', 'web')).stdout).to.match(/^warning: .* \(include_missing\)\n$/);
    });

    it('refuses what it cannot check, with the next step', async () => {
      session.folder('unmade', { [MAIN]: GOOD });
      expectFailed(await config('check', 'unmade'), 1, /not_found: .*"unmade".* --name, .* --create/);
      expectFailed(await config('check', 'none'), 1, 'There is no folder');
      expectFailed(await config('check', 'unmade', '--name', '../x'), 2, '"../x" cannot be the name');
      expectFailed(await config('check'), 2, "missing required argument 'folder'");
    });
  });

  describe('config push', () => {
    it('prints what is found in the draft that it has stored, and ends with 0', async () => {
      session.folder('pushed', { [MAIN]: BROKEN });
      const broken = await config('push', 'pushed', '--version', '1.1.0');
      expect(broken.code).to.equal(0);
      expect(broken.stdout).to.include('The draft pushed 1.1.0 is made.\n');
      expect(countOf(broken.stderr, ERROR)).to.be.above(0);
      session.folder('pushed', { [MAIN]: ODD });
      const odd = await config('push', 'pushed', '--version', '1.1.0');
      expect([odd.code, countOf(odd.stderr, WARNING)]).to.deep.equal([0, 1]);
      session.folder('first', { [MAIN]: ODD });
      expect((await config('push', 'first', '--create')).stderr).to.match(new RegExp(WARNING.source, 'm'));
    });

    it('with --publish prints each finding once, and publishes where there are warnings alone', async () => {
      session.folder('pushed', { [MAIN]: `${ODD}#\n` });
      const { code, stderr } = await config('push', 'pushed', '--version', '1.2.0', '--publish');
      expect([code, countOf(stderr, WARNING)]).to.deep.equal([0, 1]);
      expect(await statusOf('pushed', '1.2.0')).to.equal('Published');
    });

    it('with --publish is refused with each error once, and the draft stays', async () => {
      session.folder('pushed', { [MAIN]: BROKEN });
      const stored = await config('push', 'pushed', '--version', '1.3.0');
      for (const words of [[], ['--json']]) {
        const { code, stderr } = await config('push', 'pushed', '--version', '1.3.0', '--publish', ...words);
        expect(code).to.equal(1);
        expect(stderr).to.match(/^hawserctl: document_unreadable: .*1\.3\.0/m);
        expect(countOf(stderr, ERROR), stderr).to.equal(countOf(stored.stderr, ERROR));
      }
      expect(await statusOf('pushed', '1.3.0')).to.equal('Draft');
    });

    it('leaves out what macOS and Windows put there, and says so', async () => {
      session.folder('litter', { [MAIN]: GOOD, '.DS_Store': 'x', '__MACOSX/a': 'x', 'sub/THUMBS.DB': 'x' });
      const { code, stderr } = await config('push', 'litter', '--create');
      expect(code).to.equal(0);
      expect(stderr).to.match(/^Left out: \.DS_Store, __MACOSX\/, sub\/THUMBS\.DB\.$/m);
      const { files } = await ok(200, session.hawser.admin.get(`${versionsOf('litter')}/1.0.0`));
      expect(files.map(({ path }: { path: string }) => path)).to.deep.equal([MAIN]);
      expect((await config('diff', 'litter')).stderr).to.match(/^There is no difference\.$/m);
    });
  });

  it('are printed by config publish, preview and show, and a refusal names their places', async () => {
    session.folder('published', { [MAIN]: BROKEN });
    await config('push', 'published', '--version', '1.1.0');
    const refused = await config('publish', 'published', '1.1.0');
    expectFailed(
      refused,
      1,
      /^hawserctl: document_unreadable: .*1\.1\.0.*\n {2}error: main\.dsc\.yaml:\d+:\d+: /,
    );
    expect(await statusOf('published', '1.1.0')).to.equal('Draft');
    session.folder('published', { [MAIN]: ODD });
    await config('push', 'published', '--version', '1.1.0');
    for (const deed of ['preview', 'publish']) {
      const { code, stderr } = await config(deed, 'published', '1.1.0');
      expect([code, countOf(stderr, WARNING)], deed).to.deep.equal([0, 1]);
    }
    expect(countOf((await config('show', 'published', '1.1.0')).stdout, WARNING)).to.equal(1);
    const json = await config('show', 'published', '1.1.0', '--json');
    expect(JSON.parse(json.stdout).findings).to.have.lengthOf(1);
  });

  it('are printed where documentChecks is Warn, and the version is published', async () => {
    await setChecks('Warn');
    session.folder('published', { [MAIN]: BROKEN });
    const pushed = await config('push', 'published', '--version', '1.2.0', '--publish');
    await setChecks('Strict');
    expect(pushed.code).to.equal(0);
    expect(countOf(pushed.stderr, ERROR)).to.be.above(0);
    expect(await statusOf('published', '1.2.0')).to.equal('Published');
  });

  it('are told of the children of composites', async () => {
    session.folder('child', { [MAIN]: INCLUDING, 'rest.dsc.yaml': GOOD });
    expect((await config('push', 'child', '--publish')).code).to.equal(0);
    const found = /^ *error: child\/main\.dsc\.yaml:\d+:\d+: .* \(include_in_child\)$/m;
    const set = await run('composite', 'set', 'all', '1.0.0', 'child', '--create');
    expect(set.code).to.equal(0);
    expect(set.stderr).to.match(found);
    const refused = await run('composite', 'publish', 'all', '1.0.0');
    expectFailed(refused, 1, /^hawserctl: document_unreadable: /);
    expect(refused.stderr).to.match(found);
    await setChecks('Warn');
    const published = await run('composite', 'publish', 'all', '1.0.0');
    await setChecks('Strict');
    expect(published.code).to.equal(0);
    expect(published.stderr).to.match(found);
    expect((await run('composite', 'show', 'all', '1.0.0')).stdout).to.match(found);
  });
});
