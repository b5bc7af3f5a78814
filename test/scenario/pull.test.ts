import { expect } from 'chai';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';

describe('a node pulls what is assigned to it', () => {
  let hawser: Hawser;
  let node: NodeUnderTest;

  before(async () => {
    hawser = await startHawser();
    node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': 'one', 'modules/iis.yaml': 'x' },
    });
  });

  after(() => hawser.close());

  const checksumPath = () => `/api/v1/nodes/${node.nodeId}/configuration/checksum`;

  it('answers 404 no_configuration_assigned before anything is assigned', async () => {
    const reply = await node.client.get(checksumPath());
    expect(reply.status).to.equal(404);
    expect(reply.json.code).to.equal('no_configuration_assigned');
  });

  it('polls the checksum, gets 304 for the one it knows, and sees the next publish', async () => {
    const assigned = await hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, {
      configurationName: 'web',
    });
    expect(assigned.status).to.equal(204);
    const first = await node.client.get(checksumPath());
    expect(first.json).to.include({ version: '1.0.0', entryPoint: 'main.dsc.yaml', parametersFile: null });
    const etag = String(first.headers['etag']);
    expect(etag).to.equal(`"${first.json.checksum}"`);
    const again = await node.client.get(checksumPath(), { 'If-None-Match': etag });
    expect(again.status).to.equal(304);
    expect(again.headers['etag']).to.equal(etag);
    const form = { fields: { version: '1.1.0' }, files: { 'main.dsc.yaml': 'two' } };
    expect((await hawser.admin.upload('/api/v1/configurations/web/versions', form)).status).to.equal(201);
    expect((await node.client.get(checksumPath(), { 'If-None-Match': etag })).status).to.equal(304);
    expect((await hawser.admin.put('/api/v1/configurations/web/versions/1.1.0/publish')).status).to.equal(
      200,
    );
    const next = await node.client.get(checksumPath(), { 'If-None-Match': etag });
    expect(next.json.version).to.equal('1.1.0');
  });
});
