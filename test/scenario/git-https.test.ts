// full: SQLite, PostgreSQL
/** Stock git clients against `/git`: what authors see of the versions. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { createComposite } from '../support/composites.ts';
import { itOnSqlite } from '../support/engine.ts';
import { filesIn, type GitClient, gitClient } from '../support/git-client.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';
import { saveParameters } from '../support/parameter-files.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, SCOPE_TYPES } from '../support/scopes.ts';
import { unzip } from '../support/unzip.ts';

const BINARY = Buffer.from([0, 255, 13, 10, 0, 1, 2, 3]);
const VERSIONS = {
  '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n', 'modules/iis.yaml': 'x' },
  '1.1.0': { 'main.dsc.yaml': '$schema: x\r\nresources: []\r\n', 'modules/ä.yaml': 'y', 'bin/tool': BINARY },
};

describe('stock git reads over HTTPS', () => {
  let hawser: Hawser;
  let client: GitClient;
  let token: string;

  before(async () => {
    hawser = await startHawser();
    client = gitClient(hawser);
    token = await createToken(hawser.client(), hawser.session, [
      'configurations.admin-override',
      'composite-configurations.admin-override',
      'parameters.admin-override',
    ]);
    await publishConfiguration(hawser.admin, 'web', VERSIONS);
    const form = { fields: { version: '2.0.0' }, files: { 'main.dsc.yaml': 'three' } };
    await ok(201, hawser.admin.upload('/api/v1/configurations/web/versions', form));
  });

  after(async () => {
    client.close();
    await hawser.close();
  });

  const web = () => client.url('configurations/web', token);
  const clone = async (into: string, ...args: string[]) => {
    const { code, output } = await client.run(...args, 'clone', '-q', web(), into);
    expect(code, output).to.equal(0);
    return join(client.folder, into);
  };

  for (const protocol of ['0', '1', '2']) {
    it(`clones with protocol version ${protocol}`, async () => {
      const folder = await clone(`v${protocol}`, '-c', `protocol.version=${protocol}`);
      expect(filesIn(folder)).to.deep.equal(latin1(VERSIONS['1.1.0']));
      const { output } = await client.run('-C', folder, 'tag');
      expect(output.trim().split('\n')).to.deep.equal(['v1.0.0', 'v1.1.0']);
    });
  }

  it('gives a clone the bytes that the node gets in its bundle and the API in its files', async () => {
    const node = await hawser.registerNode('web-01.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    const assigned = await hawser.admin.put(path, { configurationName: 'web' });
    expect(assigned.status).to.equal(204);
    const cloned = filesIn(await clone('bytes'));
    const bundle = await unzip((await node.client.get(`${path}/bundle`)).bytes);
    expect(cloned).to.deep.equal(
      latin1(Object.fromEntries(bundle.map((entry) => [entry.path, entry.content]))),
    );
    for (const [file, content] of Object.entries(cloned)) {
      const address = `/api/v1/configurations/web/versions/1.1.0/files/${encodeURI(file)}`;
      expect((await hawser.admin.get(address)).bytes.toString('latin1'), file).to.equal(content);
    }
  });

  it('shows published versions as tags, drafts as branches and main as HEAD', async () => {
    const { output } = await client.run('ls-remote', '--symref', web());
    const refs = output.split('\n').map((line) => line.split('\t')[1]);
    expect(refs).to.include.members([
      'HEAD',
      'refs/heads/main',
      'refs/heads/draft/2.0.0',
      'refs/tags/v1.0.0',
      'refs/tags/v1.0.0^{}',
      'refs/tags/v1.1.0',
    ]);
    expect(output).to.include('ref: refs/heads/main\tHEAD');
  });

  it('lets a fetch see a version that was published since', async () => {
    const folder = await clone('fetching');
    await hawser.admin.put('/api/v1/configurations/web/versions/2.0.0/publish');
    const { code, output } = await client.run('-C', folder, 'fetch', '--prune');
    expect(code, output).to.equal(0);
    expect(output).to.match(/\[new tag\]\s+v2\.0\.0/);
    expect(output).to.match(/\[deleted\]\s+\(none\)\s+-> origin\/draft\/2\.0\.0/);
    const diff = await client.run('-C', folder, 'diff', '--stat', 'v1.0.0', 'v2.0.0');
    expect(diff.output).to.include('main.dsc.yaml');
    const again = await client.run('-C', folder, 'pull', '-q', '--ff-only');
    expect(again.code, again.output).to.equal(0);
    expect(filesIn(folder)).to.deep.equal({ 'main.dsc.yaml': 'three' });
  });

  it('clones shallow, deepens, and clones in full where a filter is asked for', async () => {
    const { code, output } = await client.run('clone', '-q', '--depth', '1', web(), 'shallow');
    expect(code, output).to.equal(0);
    const folder = join(client.folder, 'shallow');
    expect((await client.run('-C', folder, 'rev-list', '--count', 'HEAD')).output.trim()).to.equal('1');
    expect((await client.run('-C', folder, 'fetch', '-q', '--unshallow')).code).to.equal(0);
    expect((await client.run('-C', folder, 'rev-list', '--count', 'HEAD')).output.trim()).to.equal('3');
    const filtered = await client.run('clone', '-q', '--filter=blob:none', web(), 'filtered');
    expect(filtered.code, filtered.output).to.equal(0);
    expect((await client.run('-C', join(client.folder, 'filtered'), 'fsck', '--strict')).code).to.equal(0);
  });

  itOnSqlite('clones what stock git has packed, and a branch that stock git has made', async () => {
    hawser.git('configurations/web.git', 'gc', '-q');
    hawser.git('configurations/web.git', 'update-ref', 'refs/heads/topic/new', 'v1.0.0^{commit}');
    const folder = await clone('packed');
    const { output } = await client.run('-C', folder, 'branch', '-r');
    expect(output).to.include('origin/topic/new');
  });

  itOnSqlite('takes large requests, which git sends packed and in chunks of unknown number', async () => {
    addCommits(hawser, 3_000);
    for (const version of ['0', '2']) {
      const config = ['-c', `protocol.version=${version}`, '-c', 'http.postBuffer=65536'];
      const folder = await clone(`many-${version}`, ...config);
      const { output } = await client.run('-C', folder, 'branch', '-r', '--list', 'origin/many/*');
      expect(output.trim().split('\n')).to.have.length(3_000);
    }
  });

  it('clones an empty composite and the parameters of a configuration, once they exist', async () => {
    await ok(201, createComposite(hawser.admin, 'stack'));
    const { code, output } = await client.run('clone', client.url('composites/stack', token), 'stack');
    expect(code, output).to.equal(0);
    expect(output).to.include('You appear to have cloned an empty repository');
    const parameters = client.url('parameters/web', token);
    const before = await client.run('ls-remote', parameters);
    expect(before.code).to.equal(128);
    expect(before.output).to.match(/not found/);
    await saveParameters(hawser, { configuration: 'web', content: 'parameters: {}' });
    expect((await client.run('ls-remote', parameters)).code).to.equal(0);
  });

  it('checks out the parameters of the first scope type that has files, in the order of that moment', async () => {
    const [one, two] = [await createScopeType(hawser, 'Region'), await createScopeType(hawser, 'Stage')];
    await createScopeValue(hawser, one, 'asia');
    await createScopeValue(hawser, two, 'prod');
    await publishConfiguration(hawser.admin, 'scoped', VERSIONS);
    const save = (scopeType: string, value?: string) =>
      saveParameters(hawser, {
        ...{ configuration: 'scoped', scopeType, content: 'parameters: {}' },
        ...(value !== undefined && { value }),
      });
    let clones = 0;
    const checkedOut = async (...args: string[]) => {
      clones += 1;
      const into = `scoped-${clones}`;
      const url = client.url('parameters/scoped', token);
      const { code, output } = await client.run(...args, 'clone', '-q', url, into);
      expect(code, output).to.equal(0);
      const head = await client.run('-C', into, 'symbolic-ref', '--short', 'HEAD');
      return [head.output.trim(), ...Object.keys(filesIn(join(client.folder, into)))];
    };
    await save('Stage', 'prod');
    expect(await checkedOut()).to.deep.equal(['Stage', 'prod/parameters.yaml']);
    await save('Region', 'asia');
    for (const version of ['0', '2'])
      expect(await checkedOut('-c', `protocol.version=${version}`)).to.deep.equal([
        ...['Region', 'asia/parameters.yaml'],
      ]);
    const types: { id: string }[] = await ok(200, hawser.admin.get(SCOPE_TYPES));
    const others = types.map(({ id }) => id).filter((id) => id !== one && id !== two);
    const scopeTypeIds = [others[0], two, one, ...others.slice(1)];
    await ok(200, hawser.admin.put(`${SCOPE_TYPES}/reorder`, { scopeTypeIds }));
    expect(await checkedOut()).to.deep.equal(['Stage', 'prod/parameters.yaml']);
    await ok(200, hawser.admin.put(`${SCOPE_TYPES}/${two}`, { name: 'Level' }));
    expect(await checkedOut()).to.deep.equal(['Level', 'prod/parameters.yaml']);
    await save('Default');
    expect(await checkedOut()).to.deep.equal(['Default', 'parameters.yaml']);
  });

  it('refuses a push to what is not pushed to in words that git shows', async () => {
    const folder = await clone('pushing');
    for (const version of ['0', '2']) {
      const composite = client.url('composites/stack', token);
      const { code, output } = await client.run(
        ...['-C', folder, '-c', `protocol.version=${version}`, 'push', composite, 'HEAD:refs/heads/mine'],
      );
      expect(code).to.equal(128);
      expect(output).to.include(
        'remote: Nothing is pushed here: versions are made and published through the',
      );
      expect(output).to.include('403');
    }
  });
});

/** As many branches, none of them the parent of another, so that a client names them all. */
function addCommits(hawser: Hawser, count: number): void {
  const input = Array.from({ length: count }, (_, index) =>
    [
      `commit refs/heads/many/${index}`,
      'committer a <a@example.org> 1700000000 +0000',
      'data 1\nx',
      'M 644 inline file',
      `data ${String(index).length}\n${index}\n\n`,
    ].join('\n'),
  );
  execFileSync('git', ['fast-import', '--quiet'], {
    cwd: hawser.folderOf('configurations/web.git'),
    input: input.join(''),
  });
}

function latin1(files: Record<string, string | Buffer>): Record<string, string> {
  const entries = Object.entries(files).map(([path, content]) => [
    path,
    Buffer.from(content as string).toString('latin1'),
  ]);
  return Object.fromEntries(entries);
}
