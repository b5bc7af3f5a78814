/** Stock git clients push drafts and versions. */

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { type GitClient, type GitRun, gitClient } from '../support/git-client.ts';
import { createToken, type Hawser, publishConfiguration, startHawser } from '../support/hawser.ts';

const DRAFT = 'refs/heads/draft';

describe('git push', function () {
  this.timeout(60_000);
  let hawser: Hawser;
  let client: GitClient;
  let token: string;
  let count = 0;

  before(async () => {
    hawser = await startHawser();
    client = gitClient(hawser);
    token = await createToken(hawser.client(), hawser.session, ['configurations.admin-override']);
  });
  after(async () => {
    client.close();
    await hawser.close();
  });

  /** A configuration with version 1.0.0, and a clone of it. */
  const begin = async () => {
    count += 1;
    const name = `web-${count}`;
    await publishConfiguration(hawser.admin, name, { '1.0.0': { 'main.dsc.yaml': 'resources: []\n' } });
    const path = `clone-${count}`;
    await git('clone', '-q', client.url(`configurations/${name}`, token), path);
    const folder = join(client.folder, path);
    const inClone = (...args: string[]) => client.run('-C', folder, ...IDENTITY, ...args);
    const commit = async (files: Record<string, string>, message = 'a change') => {
      for (const [file, content] of Object.entries(files)) {
        await mkdir(dirname(join(folder, file)), { recursive: true });
        writeFileSync(join(folder, file), content);
      }
      await succeeds(inClone('add', '-A'));
      await succeeds(inClone('commit', '-q', '-m', message));
    };
    const api = `/api/v1/configurations/${name}`;
    return { name, folder, api, git: inClone, commit, push: (...args: string[]) => inClone('push', 'origin', ...args) };
  };

  const git = (...args: string[]) => succeeds(client.run(...args));

  const quarantines = () => readdirSync(join(hawser.reposDir, '.tmp'));

  it('makes a draft of a branch, which the API shows and can publish', async () => {
    const { api, commit, push } = await begin();
    await commit({ 'main.dsc.yaml': 'resources: []\n# two\n', 'modules/a.yaml': 'a\n' }, 'Two\n\nWhy it is so.');
    const { code, output } = await push(`HEAD:${DRAFT}/1.1.0`);
    expect(code, output).to.equal(0);
    expect(output).to.include('remote: hawser: draft/1.1.0 is there');
    const draft = (await hawser.admin.get(`${api}/versions/1.1.0`)).json;
    expect(draft).to.include({ version: '1.1.0', status: 'Draft', createdBy: 'admin' });
    expect(draft.author).to.deep.equal({ name: 'Ada', email: 'ada@example.org' });
    expect((await hawser.admin.put(`${api}/versions/1.1.0/publish`)).status).to.equal(200);
    expect(quarantines()).to.deep.equal([]);
  });

  it('publishes by an annotated tag, and nodes get it at their next poll', async () => {
    const { name, api, commit, git: run, push } = await begin();
    const node = await hawser.registerNode('web-01.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration`;
    await hawser.admin.put(path, { configurationName: name });
    await commit({ 'main.dsc.yaml': 'resources: []\n# two\n' });
    await succeeds(run('tag', '-a', 'v1.1.0', '-m', 'The second'));
    const { code, output } = await push('v1.1.0');
    expect(code, output).to.equal(0);
    expect(output).to.include('remote: hawser: 1.1.0 is published; 1 node is offered it.');
    expect((await node.client.get(`${path}/checksum`)).json.version).to.equal('1.1.0');
    const version = (await hawser.admin.get(`${api}/versions/1.1.0`)).json;
    expect(version).to.include({ status: 'Published', createdBy: 'admin', publishedBy: 'admin' });
    await succeeds(run('pull', '-q', 'origin', 'main'));
  });

  it('tells why it refuses, and leaves nothing', async () => {
    const { api, git: run, commit, push } = await begin();
    await succeeds(run('mv', 'main.dsc.yaml', 'other.yaml'));
    await commit({ 'a.txt': 'a' });
    const { code, output } = await push(`HEAD:${DRAFT}/1.1.0`);
    expect(code).to.equal(1);
    expect(output).to.include('remote: hawser: draft/1.1.0: entry_point_missing: ');
    expect(output).to.include('remote: hawser: Nothing was changed.');
    expect(output).to.match(/! \[remote rejected\] HEAD -> draft\/1\.1\.0 \(entry_point_missing\)/);
    expect((await hawser.admin.get(`${api}/versions/1.1.0`)).status).to.equal(404);
    expect(quarantines()).to.deep.equal([]);
  });
});

const IDENTITY = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];

async function succeeds(run: Promise<GitRun>): Promise<string> {
  const { code, output } = await run;
  expect(code, output).to.equal(0);
  return output;
}

void existsSync;
