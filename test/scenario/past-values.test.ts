// everyday: SQLite; full: PostgreSQL
import { expect } from 'chai';
import { MINUTE } from '../../src/lib/clock.ts';
import { MAIN } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, saveParameters } from '../support/parameter-files.ts';
import { makeUser } from '../support/people.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { cleanUp, NOTHING_KEPT } from '../support/retention.ts';
import { offeredTo } from '../support/running.ts';
import { started } from '../support/started.ts';

const document = (text: string) => `# ${text}
$schema: x
parameters:
  port: {type: int, defaultValue: 1}
  secret: {type: secureString, defaultValue: ''}
resources: []
`;

describe('the values that nodes ran with', () => {
  const hawser = started(startHawser);
  let left: NodeUnderTest;
  let right: NodeUnderTest;
  let first: { at: string; checksum: string; provenance: object };

  const provenanceOf = ({ nodeId }: NodeUnderTest, query = '') =>
    `/api/v1/nodes/${nodeId}/parameters/provenance${query}`;
  const compared = (one: string, other: string, more = '') =>
    `/api/v1/nodes/compare?left=${one}&right=${other}${more}`;

  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: document('one'), 'a.txt': 'x\n' } });
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': { [MAIN]: document('db') } });
    const values = (port: number) => `parameters: {port: ${port}, secret: right-secret-${port}}\n`;
    await saveParameters(hawser, { configuration: 'web', content: values(80) });
    left = await hawser.registerNode('left.example.org');
    right = await hawser.registerNode('right.example.org');
    for (const node of [left, right]) await assign(hawser, node, 'web');
    const checksum = await offeredTo(left);
    const provenance = await ok(200, hawser.admin.get(provenanceOf(left)));
    hawser.clock.advance(MINUTE);
    first = { at: new Date(hawser.clock.now()).toISOString(), checksum, provenance };
    hawser.clock.advance(MINUTE);
    await saveParameters(hawser, { configuration: 'web', version: '1.1.0', content: values(81) });
    await offeredTo(left);
  });

  it('are told by who set them, as they were told then', async () => {
    const { at, checksum, provenance } = first;
    const then = await ok(200, hawser.admin.get(provenanceOf(left, `?at=${at}`)));
    expect(then).to.deep.equal({ ...provenance, at, checksum });
    const now = await ok(200, hawser.admin.get(provenanceOf(left)));
    expect(now).to.not.have.any.keys('at', 'checksum');
    expect(now.provenance['/parameters/port'].value).to.equal(81);
    await expectProblem(hawser.admin.get(provenanceOf(right, `?at=${at}`)), 404, 'nothing_ran');
    const early = '2001-01-01T00:00:00Z';
    await expectProblem(hawser.admin.get(provenanceOf(left, `?at=${early}`)), 410, 'past_gone');
    const other = await makeUser(hawser, { username: 'no-grants', permissions: ['nodes.read'] });
    await expectProblem(other.get(provenanceOf(left, `?at=${at}`)), 404, 'not_found');
  });

  it('are compared between two nodes and two times, without any secret', async () => {
    const { at, checksum } = first;
    const { text, json } = await hawser.admin.get(compared(left.fqdn, left.nodeId, `&leftAt=${at}`));
    const side = { nodeId: left.nodeId, fqdn: left.fqdn, configurationName: 'web', version: '1.0.0' };
    expect(json.left).to.deep.equal({ ...side, at, checksum });
    expect(json.right).to.include({ ...side, at: null });
    expect(json.right.checksum).to.not.equal(checksum);
    const source = { scopeTypeName: 'Default', scopeValue: null };
    const sources = {
      ...{ beforeSource: { ...source, version: '1.0.0' }, afterSource: { ...source, version: '1.1.0' } },
    };
    expect(json.parameters).to.deep.equal([
      { path: '/parameters/port', before: 80, after: 81, ...sources },
      { path: '/parameters/secret', before: '<redacted>', after: '<redacted>', ...sources },
    ]);
    expect(json.files.map(({ path, change }: Record<string, string>) => [path, change])).to.deep.equal([
      ['parameters.yaml', 'Modified'],
    ]);
    const file = '/api/v1/nodes/compare/files';
    const query = `?left=${left.nodeId}&right=${left.nodeId}&leftAt=${at}`;
    const diff = await hawser.admin.get(`${file}/parameters.yaml${query}`);
    expect(diff.json).to.include({ path: 'parameters.yaml', change: 'Modified' });
    expect(text + diff.text).to.not.include('right-secret');
    const same = await ok(200, hawser.admin.get(`${file}/a.txt${query}&context=0`));
    expect(same).to.include({ change: 'Unchanged' });
    await expectProblem(hawser.admin.get(`${file}/b.txt${query}`), 404, 'not_found');
  });

  it('are nothing where a node is offered nothing, and then all is added', async () => {
    const bare = await hawser.registerNode('bare.example.org');
    const { json } = await hawser.admin.get(compared(bare.nodeId, right.nodeId));
    expect(json.left).to.include({ at: null, configurationName: null, version: null, checksum: null });
    expect(json.files.map(({ change }: { change: string }) => change)).to.deep.equal(Array(3).fill('Added'));
    expect(json.parameters.map(({ before }: { before: unknown }) => before)).to.deep.equal([null, null]);
    const { at } = first;
    await expectProblem(
      hawser.admin.get(compared(right.nodeId, left.nodeId, `&leftAt=${at}`)),
      404,
      'nothing_ran',
    );
    await expectProblem(hawser.admin.get(compared('none.example.org', left.nodeId)), 404, 'not_found');
    const reader = { username: 'half', permissions: ['nodes.read'] as const };
    const other = await makeUser(hawser, {
      ...reader,
      grants: [
        { on: 'configuration', name: 'web', level: 'Read' },
        { on: 'parameters', name: 'web', level: 'Read' },
      ],
    });
    await assign(hawser, bare, 'db');
    expect((await other.get(compared(left.nodeId, right.nodeId))).status).to.equal(200);
    await expectProblem(other.get(compared(left.nodeId, bare.nodeId)), 404, 'not_found');
  });

  it('are gone with the file that set them, which is named, and the manifest stays', async () => {
    await saveParameters(hawser, {
      configuration: 'web',
      version: '1.2.0',
      content: 'parameters: {port: 82}',
    });
    await cleanUp(hawser.admin, 'parameters', NOTHING_KEPT);
    const { at, checksum } = first;
    for (const path of [
      provenanceOf(left, `?at=${at}`),
      compared(left.nodeId, left.nodeId, `&leftAt=${at}`),
    ]) {
      const { json } = await expectProblem(hawser.admin.get(path), 410, 'past_gone');
      expect(json.detail).to.include('the parameter file Default 1.0.0 of web');
    }
    const manifest = await ok(200, hawser.admin.get(`/api/v1/nodes/${left.nodeId}/manifest?at=${at}`));
    expect(manifest).to.include({ checksum });
  });
});
