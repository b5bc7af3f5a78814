// everyday: SQLite
import { expect } from 'chai';
import { expectFailed } from '../../support/cli.ts';
import { startCliSession } from '../../support/cli-session.ts';
import { COMPOSITES, compositeOf, compositeVersionOf } from '../../support/composites.ts';
import { addVersion, MAIN } from '../../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration } from '../../support/hawser.ts';
import { assign, poll } from '../../support/parameter-files.ts';
import { ok } from '../../support/replies.ts';
import { started } from '../../support/started.ts';

const YAML = '$schema: x\nresources: []\n';
const VERSION = '/api/v1/composite-configurations/{name}/versions/{version}';

describe('hawserctl composite', () => {
  const session = started(startCliSession);
  let node: NodeUnderTest;
  before(async () => {
    const { admin } = session.hawser;
    for (const name of ['web', 'db', 'cache'])
      await publishConfiguration(admin, name, { '1.0.0': { [MAIN]: YAML }, '1.1.0': { [MAIN]: YAML } });
    await ok(201, addVersion(admin, 'web', { version: '2.0.0' }));
    node = await session.hawser.registerNode('one.example');
  });

  const composite = (...words: string[]) => session.cli.run(['composite', ...words]);

  /** Such as `web@1.0.0 db`, in order. */
  const children = async (name: string, version: string) => {
    const { items } = await ok(200, session.hawser.admin.get(compositeVersionOf(name, version)));
    return items
      .map(
        ({
          childConfigurationName: child,
          activeVersion,
          majorVersion,
        }: {
          childConfigurationName: string;
          activeVersion: string | null;
          majorVersion: number | null;
        }) => [child, activeVersion ?? (majorVersion === null ? null : `${majorVersion}.x`)],
      )
      .map((words: (string | null)[]) => words.filter((word) => word !== null).join('@'))
      .join(' ');
  };
  const isThere = async (name: string) => (await session.hawser.admin.get(compositeOf(name))).status === 200;

  it('makes a composite and its draft where --create is said, and not else', async () => {
    expect(await composite('set', 'site', '1.0.0', 'web')).to.deep.equal({
      ...{ code: 1, stdout: '' },
      stderr:
        'hawserctl: not_found: There is no composite "site" that you may read. Say --create to make it.\n',
    });
    expect(await isThere('site')).to.equal(false);
    const made = await composite('set', 'site', '1.0.0', 'web@1.0.0', 'db', '--create', '-m', 'first');
    expect(made).to.deep.equal({
      code: 0,
      stdout:
        'The draft site 1.0.0 is made.\n--- /dev/null\n+++ 1.0.0\n+db (order 1)\n+web@1.0.0 (order 0)\n',
      stderr:
        'Next: "hawserctl composite preview site 1.0.0" tells which nodes change, and "hawserctl composite publish site 1.0.0" publishes it.\n',
    });
    expect(await children('site', '1.0.0')).to.equal('web@1.0.0 db');
    expect((await composite('show', 'site', '1.0.0')).stdout).to.match(/^Message: +first$/m);
  });

  it('gives a draft exactly the named children, with no more changes than it takes', async () => {
    await composite('set', 'changed', '1.0.0', 'web@1.0.0', 'db', '--create');
    const set = async (...words: string[]) => {
      const asked = await session.requestsOf(async () => {
        const ended = await composite('set', 'changed', '1.0.0', ...words);
        expect(ended.code, ended.stderr).to.equal(0);
        expect(ended.stdout).to.include('The draft changed 1.0.0 is changed.');
      });
      return asked.filter((each) => !each.startsWith('GET ')).map((each) => each.replace(VERSION, ''));
    };
    expect(await set('web@1.0.0', 'db')).to.deep.equal([]);
    expect(await set('web@1.1.0', 'db')).to.deep.equal(['PUT /children/{childId}']);
    expect(await children('changed', '1.0.0')).to.equal('web@1.1.0 db');
    expect(await set('cache', 'db', 'web')).to.deep.equal(['POST /children', 'PUT /children/{childId}']);
    expect(await children('changed', '1.0.0')).to.equal('cache db web');
    expect(await set('cache', 'db@1.x', 'web')).to.deep.equal(['PUT /children/{childId}']);
    expect(await set('cache', 'db@1.x', 'web')).to.deep.equal([]);
    expect(await children('changed', '1.0.0')).to.equal('cache db@1.x web');
    expect((await composite('show', 'changed', '1.0.0')).stdout).to.match(
      /^db +the highest published of 1\.x +-? *$/m,
    );
    expect((await composite('show', 'changed')).stdout).to.match(/^1\.0\.0 +Draft +cache, db@1\.x, web /m);
    expect((await composite('diff', 'changed', '1.0.0')).stdout).to.include('+db@1.x (order 1)\n');
    expect(await set('cache', 'db@1.1.0', 'web')).to.deep.equal(['PUT /children/{childId}']);
    expect(await children('changed', '1.0.0')).to.equal('cache db@1.1.0 web');
    expect(await set('web')).to.deep.equal([
      'DELETE /children/{childId}',
      'DELETE /children/{childId}',
      'PUT /children/{childId}',
    ]);
    expect(await children('changed', '1.0.0')).to.equal('web');
    const { stderr } = await composite('set', 'changed', '1.0.0', 'web', '-m', 'late');
    expect(stderr).to.match(/^The draft was there already and keeps its message\./);
    const entry = await composite('set', 'changed', '1.1.0', 'web', '--entry-point', 'x.yaml');
    expect(entry.stderr).to.match(
      /^The composite was there already and keeps its entry point main\.dsc\.yaml\.$/m,
    );
  });

  it('changes nothing where a child is not there', async () => {
    await composite('set', 'whole', '1.0.0', 'web', '--create');
    for (const [child, says] of [
      ['none', 'configuration "none"'],
      ['db@9.0.0', 'version 9.0.0 of a configuration "db"'],
    ] as const) {
      const { code, stderr } = await composite('set', 'whole', '1.0.0', 'cache', child);
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        `hawserctl: not_found: There is no ${says} that you may read. Nothing was changed.\n`,
      );
    }
    expect(await children('whole', '1.0.0')).to.equal('web');
    expect((await composite('set', 'unmade', '1.0.0', 'none', '--create')).code).to.equal(1);
    expect(await isThere('unmade')).to.equal(false);
  });

  for (const [words, says] of [
    [['site', 'v1.0.0', 'web'], 'drop the v: 1.0.0'],
    [['site', '1.0.0', 'web@'], '"web@" is no child; one is written as web, web@1.2.0 or web@1.x.'],
    [['site', '1.0.0', 'web@1.0.0@x'], '"web@1.0.0@x" is no child'],
    [['site', '1.0.0', 'web@v1.0.0'], 'drop the v: 1.0.0'],
    [['site', '1.0.0', 'web', 'db', 'web@1.0.0'], 'The child web is named twice.'],
    [['site', '1.0.0'], "missing required argument 'child'"],
  ] as const)
    it(`calls "composite set ${words.join(' ')}" wrong usage, and asks the server nothing`, async () => {
      const asked = await session.requestsOf(async () => {
        expectFailed(await composite('set', ...words), 2, says);
      });
      expect(asked).to.deep.equal([]);
    });

  it('lists, shows, compares, previews, publishes, withdraws, restores and deletes as for configurations', async () => {
    const { admin } = session.hawser;
    await composite('set', 'all', '1.0.0', 'web@1.0.0', '--create');
    expect((await composite('publish', 'all', '1.0.0')).stderr).to.equal(
      'Next: "hawserctl proof all 1.0.0 --composite" tells who runs it.\n',
    );
    await assign(session.hawser, node, 'all', { isComposite: true });
    expect((await composite('set', 'all', '1.1.0', 'web@1.1.0', 'db')).code).to.equal(0);

    const { text } = await admin.get(COMPOSITES);
    expect((await composite('list', '--json')).stdout).to.equal(`${text}\n`);
    expect((await composite('list', '--filter', 'name=all')).stdout).to.match(
      /^NAME .*\nall +1\.0\.0 +1\.1\.0 +2 .*\n$/,
    );
    expect((await composite('show', 'all')).stdout).to.match(
      /^VERSION .*\n1\.1\.0 +Draft +web@1\.1\.0, db .*\n1\.0\.0 +Published +web@1\.0\.0 .*\n$/m,
    );
    const patch = '--- 1.0.0\n+++ 1.1.0\n+db (order 1)\n-web@1.0.0 (order 0)\n+web@1.1.0 (order 0)\n';
    expect((await composite('diff', 'all', '1.1.0')).stdout).to.equal(patch);
    expect((await composite('diff', 'all', '1.0.0', '1.1.0')).stdout).to.equal(patch);
    expect(await composite('diff', 'all', '1.0.0', '1.0.0')).to.deep.equal({
      ...{ code: 0, stdout: '', stderr: 'The children of 1.0.0 are those of 1.0.0.\n' },
    });

    const preview = await composite('preview', 'all', '1.1.0');
    expect(preview.code).to.equal(0);
    expect(preview.stdout).to.match(
      /^Publishing all 1\.1\.0 changes 1 of 1 node; 0 unchanged, 0 unresolvable\.$/m,
    );
    expect((await composite('publish', 'all', '1.1.0', '-m', 'more')).code).to.equal(0);
    const offered = async () => (await ok(200, poll(node))).version;
    expect(await offered()).to.equal('1.1.0');
    const refused = await composite('set', 'all', '1.1.0', 'web');
    expect(refused.stderr).to.equal(
      'hawserctl: published_version: all 1.1.0 is published, so its children stay. Say another version.\n',
    );
    expect((await composite('withdraw', 'all', '1.1.0')).code).to.equal(2);
    expect((await composite('withdraw', 'all', '1.1.0', '-m', 'bad', '-y')).code).to.equal(0);
    expect(await offered()).to.equal('1.0.0');
    expect((await composite('restore', 'all', '1.1.0')).code).to.equal(0);
    expect(await offered()).to.equal('1.1.0');

    expect((await composite('delete', 'all', '--yes')).stderr).to.match(/^hawserctl: in_use: /);
    await ok(204, admin.delete(`/api/v1/nodes/${node.nodeId}/configuration`));
    expect((await composite('delete', 'all')).code).to.equal(2);
    expect((await composite('delete', 'all', '--yes')).stdout).to.equal('all is deleted.\n');
    expect(await isThere('all')).to.equal(false);
  });

  it('says which child keeps a draft from being published', async () => {
    await composite('set', 'early', '1.0.0', 'web@2.0.0', '--create');
    expectFailed(await composite('publish', 'early', '1.0.0'), 1, /^hawserctl: unpublished_child: .*web/);
  });

  it('tells which composites keep a version of a configuration that is withdrawn', async () => {
    await composite('set', 'pins', '1.0.0', 'cache@1.1.0', '--create');
    await composite('publish', 'pins', '1.0.0');
    const { stdout } = await session.cli.run(['config', 'withdraw', 'cache', '1.1.0', '--dry-run']);
    expect(stdout).to.match(/^The composite pins 1\.0\.0 is pinned to it, and keeps it\.$/m);
    await session.cli.run(['config', 'withdraw', 'cache', '1.1.0', '-m', 'x', '-y']);
    expect((await composite('show', 'pins', '1.0.0')).stdout).to.match(
      /^cache +1\.1\.0 +this version is withdrawn$/m,
    );
  });
});
