// everyday: SQLite
import { expect } from 'chai';
import { auditedDuring } from '../support/audit.ts';
import { gitClient } from '../support/git-client.ts';
import { createToken, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, pullParameters } from '../support/parameter-files.ts';
import { authorOfFiles, DRAFT } from '../support/push-author.ts';
import { ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const port = (number: number) => `parameters:\n  port: ${number}\n`;
const MAIN_FILE = '$schema: x\nparameters:\n  port:\n    type: int\n    defaultValue: 1\nresources: []\n';

describe('the first git push of parameters', () => {
  const hawser = started(startHawser);
  const client = started(async () => gitClient(hawser));

  it('takes drafts and tags at once, where there was no file before, and nodes get what is published', async () => {
    const token = await createToken(hawser.client(), hawser.session, [
      'configurations.admin-override',
      'parameters.admin-override',
    ]);
    const type = await createScopeType(hawser, 'Environment');
    for (const value of ['dev', 'stage']) await createScopeValue(hawser, type, value);
    const prod = await createScopeValue(hawser, type, 'prod');
    await publishConfiguration(hawser.admin, 'app', { '1.0.0': { 'main.dsc.yaml': MAIN_FILE } });
    const node = await hawser.registerNode('web-01.example.org');
    await tagNode(hawser, node.nodeId, prod);
    await assign(hawser, node, 'app');
    const author = await authorOfFiles(client, 'app', token);
    const file = async (value: string) => {
      const path = `/api/v1/parameters/${type}/${await configurationId(hawser.admin, 'app')}/versions/1.0.0`;
      return ok(200, hawser.admin.get(`${path}?scopeValue=${value}`));
    };
    const commit = await author.commit({
      'dev/parameters.yaml': port(1001),
      'stage/parameters.json': '{"parameters": {"port": 1002}}',
      'prod/parameters.yaml': port(1003),
      'notes.txt': 'This means nothing.\n',
    });
    await author.ok('tag', '-a', 'Environment/prod/v1.0.0', '-m', 'The first');
    const told = await auditedDuring(hawser, async () => {
      const drafts = ['dev', 'stage'].map((value) => `HEAD:${DRAFT}/Environment/${value}/1.0.0`);
      const { code, output } = await author.push(...drafts, 'Environment/prod/v1.0.0');
      expect(code, output).to.equal(0);
      expect(output).to.include('remote: hawser: draft/Environment/dev/1.0.0 is there');
      expect(output).to.include('remote: hawser: Environment/prod 1.0.0 is published');
    });
    expect(
      told.map(({ action, details }) => [action, details?.['scopeValue'], details?.['via']]),
    ).to.have.deep.members([
      ['parameters.version_saved', 'dev', 'push'],
      ['parameters.version_saved', 'stage', 'push'],
      ['parameters.version_published', 'prod', 'push'],
    ]);
    const made = await file('prod');
    expect(made).to.include({
      status: 'Published',
      createdBy: 'admin',
      publishedBy: 'admin',
      message: 'The first',
    });
    expect(made.author).to.deep.equal({ name: 'Ada', email: 'ada@example.org' });
    expect(await file('dev')).to.include({ status: 'Draft', content: port(1001) });
    expect(await pullParameters(node)).to.include('1003');
    // The branch of the type has what was published, and a clone checks it out.
    await author.ok('fetch', '-q', 'origin');
    expect(await author.ok('show', 'origin/Environment:prod/parameters.yaml')).to.equal(port(1003));
    expect(await author.ok('ls-remote', '--symref', 'origin', 'HEAD')).to.include('refs/heads/Environment');
    expect((await author.ok('rev-parse', 'Environment/prod/v1.0.0^{commit}')).trim()).to.equal(commit);
  });
});
