// full: SQLite
/** What readers of YAML take for different things is refused as it comes in, and what is there reaches nodes as dsc reads it. */

import { expect } from 'chai';
import { type Hawser, type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { assign, configurationId, pullParameters, saveParameters } from '../support/parameter-files.ts';
import { askFor, setting } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { DEFAULT_ID } from '../support/scopes.ts';
import { startedForEach } from '../support/started.ts';

const CONTENT = 'parameters:\n  code: 007\n  isOn: yes\n  name: "007"\n';
const UPLOAD = '/api/v1/configurations/web/parameters/parameter-files';

describe('a parameter file with values that can be read in more than one way', () => {
  const hawser = startedForEach(startHawser);
  let node: NodeUnderTest;

  beforeEach(async () => {
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': '$schema: x\nresources: []\n' },
    });
    node = await hawser.registerNode('web-01.example.org');
    await assign(hawser as Hawser, node, 'web');
  });

  const versions = async () =>
    ok(200, hawser.admin.get(`/api/v1/configurations/web/parameter-files?scopeTypeName=Default`));

  it('is refused by every way in, with each place and both ways to write it, and changes nothing', async () => {
    const put = `/api/v1/parameters/${DEFAULT_ID}/${await configurationId(hawser.admin, 'web')}`;
    const part = { name: 'parametersFile', filename: 'p.yaml', content: CONTENT };
    const fields = { scopeTypeName: 'Default', version: '1.0.0', publish: 'true' };
    for (const [path, reply] of [
      ['/content', await hawser.admin.put(put, { version: '1.0.0', content: CONTENT })],
      ['/parametersFile', await hawser.admin.upload(UPLOAD, { fields, part })],
      ['/changes/0/content', await askFor(hawser.admin, [setting('web', '1.0.0', CONTENT)])],
    ] as const) {
      await expectProblem(Promise.resolve(reply), 400, 'validation_failed');
      const { errors } = reply.json;
      expect(errors).to.have.length(2);
      expect(errors[0]).to.deep.equal({
        path: `${path}/parameters/code`,
        code: 'ambiguous_scalar',
        message:
          'Line 2, column 9: 007 means different things to YAML readers; write it in quotes, "007", or as 7',
        line: 2,
        column: 9,
      });
      expect(errors[1].message).to.include('"yes", or as true');
    }
    expect(await versions()).to.deep.equal([]);
  });

  it('reaches nodes with text in quotes, as dsc reads it', async () => {
    await saveParameters(hawser, {
      configuration: 'web',
      content: 'parameters:\n  code: "007"\n  at: 2026-11-28\n  rate: 1e3\n  mask: 0x1F\n  y: n\n',
    });
    expect(await pullParameters(node)).to.equal(
      'parameters:\n  code: "007"\n  at: "2026-11-28"\n  rate: 1.0e+3\n  mask: 31\n  "y": "n"\n',
    );
  });
});
