// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { CONFIGURATIONS, create, MAIN, release } from '../support/configurations.ts';
import { publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { named, pushFolder, withPort } from '../support/parameter-folders.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue, tagNode } from '../support/scopes.ts';
import { startedForEach } from '../support/started.ts';
import { withdrawFile } from '../support/withdrawals.ts';

const MAIN_FILE = {
  [MAIN]:
    '$schema: x\nparameters: {port: {type: int}, password: {type: secureString, defaultValue: none}}\nresources: []\n',
};

describe('a folder of parameter files', () => {
  const hawser = startedForEach(startHawser);
  const push = (files: Record<string, string>, more = {}) => pushFolder(hawser.admin, files, more);
  const save = (version: string, content: string | null, more: object = {}) =>
    saveParameters(hawser, { configuration: 'web', version, content, ...more });
  const versions = async (query = '') =>
    (await ok(200, hawser.admin.get(`${CONFIGURATIONS}/web/parameter-files?take=1000${query}`))).map(
      ({ version, status }: { version: string; status: string }) => `${version} ${status}`,
    );
  let environment: string;
  let prod: string;

  beforeEach(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': MAIN_FILE });
    environment = await createScopeType(hawser, 'Environment', { valueMode: 'Restricted' });
    prod = await createScopeValue(hawser, environment, 'prod');
    await createScopeValue(hawser, environment, 'dev');
  });

  it('becomes drafts of what differs, by configuration, precedence and value, and nothing the second time', async () => {
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    await tagNode(hawser, node.nodeId, prod);
    await publishConfiguration(hawser.admin, 'app', { '2.1.0': MAIN_FILE });
    await save('1.0.0', withPort(1));
    const folder = {
      'parameters/web/Node/web-01.example.org.yaml': withPort(5),
      'parameters/web/Environment/prod.yaml': withPort(3),
      'parameters/web/Environment/dev.yaml': withPort(4),
      'parameters/web/Default.yaml': withPort(1),
      'parameters/app/Default.passthrough': '',
    };
    const drafts = await ok(200, push(folder, { message: 'new ports' }));
    expect(named(drafts)).to.deep.equal([
      'Default 2.0.0 Draft passthrough',
      'Environment/dev 1.0.0 Draft',
      'Environment/prod 1.0.0 Draft',
      'Node/web-01.example.org 1.0.0 Draft',
    ]);
    expect(drafts[0].configurationId).to.equal(await configurationId(hawser.admin, 'app'));
    for (const draft of drafts) expect(draft).to.include({ message: 'new ports', createdBy: 'admin' });
    expect(await pullParameters(node)).to.contain('port: 1');
    expect(named(await ok(200, push(folder)))).to.deep.equal(named(drafts));
    expect(await versions('&status=Draft')).to.have.length(3);
    const published = await ok(200, push(folder, { publish: true, message: 'now' }));
    expect(named(published)).to.deep.equal(named(drafts).map((each) => each.replace('Draft', 'Published')));
    for (const file of published) expect(file).to.include({ message: 'now', publishedBy: 'admin' });
    expect(await pullParameters(node)).to.contain('port: 5');
    for (const more of [{}, { publish: true }]) expect((await push(folder, more)).status).to.equal(204);
    for (const repository of ['web', 'app']) hawser.git(`parameters/${repository}.git`, 'fsck', '--strict');
  });

  it('takes the next free patch above what is published of the major, and replaces no draft', async () => {
    const file = (port: number) => ({ 'parameters/web/Default.yaml': withPort(port) });
    await save('1.0.0', withPort(1));
    await save('1.4.2', withPort(2));
    await save('2.0.0', withPort(9));
    await save('1.4.3', withPort(3), { publish: false });
    expect(named(await ok(200, push(file(4))))).to.deep.equal(['Default 1.4.4 Draft']);
    expect(named(await ok(200, push(file(3))))).to.deep.equal(['Default 1.4.3 Draft']);
    // What the major gives counts, and not what a higher one has.
    expect((await push(file(2))).status).to.equal(204);
    expect(named(await ok(200, push(file(9))))).to.deep.equal(['Default 1.4.5 Draft']);
    await withdrawFile(hawser.admin, {
      configurationId: await configurationId(hawser.admin, 'web'),
      version: '1.4.2',
    });
    expect((await push(file(1))).status).to.equal(204);
    expect(named(await ok(200, push(file(2))))).to.deep.equal(['Default 1.4.6 Draft']);
  });

  it('publishes what nodes then get, though a lower draft has the same content', async () => {
    const node = await hawser.registerNode('web-01.example.org');
    await assign(hawser, node, 'web');
    const file = (port: number) => ({ 'parameters/web/Default.yaml': withPort(port) });
    await ok(200, push(file(1)));
    await ok(200, push(file(2)));
    await ok(200, push(file(2), { publish: true }));
    expect(named(await ok(200, push(file(1), { publish: true })))).to.deep.equal(['Default 1.0.2 Published']);
    expect(await pullParameters(node)).to.contain('port: 1');
  });

  it('goes by the highest published version of the configuration, and takes a lower major as given', async () => {
    await save('1.0.0', withPort(1));
    await release(hawser.admin, 'web', '2.0.0', { files: MAIN_FILE });
    await ok(
      201,
      hawser.admin.upload(`${CONFIGURATIONS}/web/versions`, {
        fields: { version: '3.0.0' },
        files: MAIN_FILE,
      }),
    );
    expect((await push({ 'parameters/web/Default.yaml': withPort(1) })).status).to.equal(204);
    const drafts = await ok(200, push({ 'parameters/web/Default.yaml': withPort(2) }));
    expect(named(drafts)).to.deep.equal(['Default 2.0.0 Draft']);
    await ok(201, create(hawser.admin, 'raw', { version: '4.2.0' }));
    const first = await ok(200, push({ 'parameters/raw/Default.yaml': withPort(2) }));
    expect(named(first)).to.deep.equal(['Default 4.0.0 Draft']);
  });

  it('compares secrets with what is stored, and never answers them', async () => {
    const folder = { 'parameters/web/Default.yaml': 'parameters: {port: 1, password: s3cret-x}\n' };
    const reply = await push(folder, { publish: true });
    expect(reply.status).to.equal(200);
    expect(reply.text).to.not.contain('s3cret-x');
    expect((await push(folder)).status).to.equal(204);
    expect(
      hawser.git('parameters/web.git', 'cat-file', 'blob', 'Default/v1.0.0^{commit}:parameters.yaml'),
    ).to.match(/password: "ENC\[/);
    const other = { 'parameters/web/Default.yaml': 'parameters: {port: 1, password: s3cret-y}\n' };
    expect(named(await ok(200, push(other)))).to.deep.equal(['Default 1.0.1 Draft']);
    expect(named(await ok(200, push(other)))).to.deep.equal(['Default 1.0.1 Draft']);
  });

  it('leaves a configuration of its name reachable', async () => {
    await publishConfiguration(hawser.admin, 'parameter-folder', { '1.0.0': MAIN_FILE });
    const path = `${CONFIGURATIONS}/parameter-folder`;
    expect((await ok(200, hawser.admin.get(path))).name).to.equal('parameter-folder');
    await ok(200, hawser.admin.call('PATCH', path, { json: { description: 'told' } }));
    await ok(204, hawser.admin.delete(path));
    await expectProblem(hawser.admin.get(path), 404, 'not_found');
  });
});
