// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { MAIN } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, poll, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { createScopeType, createScopeValue } from '../support/scopes.ts';
import { started } from '../support/started.ts';

const SCHEMA = "$schema: x\nparameters: {pw: {type: secureString, defaultValue: ''}}\nresources: []\n";

describe('secrets of a scope whose name another one gets', () => {
  const hawser = started(startHawser);

  it('open where they were encrypted, and those of the other one at theirs', async () => {
    const { admin } = hawser;
    await publishConfiguration(admin, 'web', { '1.0.0': { [MAIN]: SCHEMA } });
    const type = await createScopeType(hawser, 'Environment');
    const first = await createScopeValue(hawser, type, 'dev');
    const of = { configuration: 'web', scopeType: 'Environment', value: 'dev' };
    await saveParameters(hawser, { ...of, content: 'parameters: {pw: of-the-first}\n' });
    const nodes = [
      await hawser.registerNode('web-01.example.org'),
      await hawser.registerNode('web-02.example.org'),
    ] as const;
    const tag = ({ nodeId }: { nodeId: string }, scopeValueId: string) =>
      ok(201, admin.post(`/api/v1/nodes/${nodeId}/tags`, { scopeValueId }));
    for (const node of nodes) await assign(hawser, node, 'web');
    await tag(nodes[0], first);
    await ok(200, poll(nodes[0]));
    await ok(200, admin.put(`/api/v1/scope-types/${type}/values/${first}`, { value: 'dev2' }));
    const second = await createScopeValue(hawser, type, 'dev');
    const series = `/api/v1/parameters/${type}/${await configurationId(admin, 'web')}`;
    const { content } = await ok(200, admin.get(`${series}/versions/1.0.0?scopeValue=dev2`));
    await expectProblem(
      admin.put(series, { scopeValue: 'dev', version: '1.0.0', content }),
      400,
      'secret_unreadable: secret_unreadable',
    );
    await saveParameters(hawser, { ...of, content: 'parameters: {pw: of-the-second}\n' });
    await tag(nodes[1], second);
    const expectBoth = async () => {
      for (const [at, secret] of ['of-the-first', 'of-the-second'].entries()) {
        const node = nodes[at] as NodeUnderTest;
        const client = hawser.client(node.identity);
        expect(await pullParameters({ ...node, client })).to.include(secret);
      }
    };
    await expectBoth();
    await hawser.restart();
    await expectBoth();
  });
});
