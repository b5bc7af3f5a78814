// full: SQLite
import { expect } from 'chai';
import { itOnSqlite } from '../support/engine.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { Outside } from '../support/outside.ts';
import { assign, configurationPath } from '../support/parameter-files.ts';
import { started } from '../support/started.ts';
import { unzip } from '../support/unzip.ts';
import { makeZip, unixMode } from '../support/zip.ts';

describe('the executable bit of a file', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let outside: Outside;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    outside = new Outside(hawser, 'web');
    const archive = makeZip([
      { name: 'main.dsc.yaml', content: '$schema: x\nresources: []\n', attributes: unixMode(0o100644) },
      { name: 'run.sh', content: '#!/bin/sh\n', attributes: unixMode(0o100755) },
    ]);
    await hawser.admin.upload('/api/v1/configurations', { fields: { name: 'web' }, archive });
    await hawser.admin.put('/api/v1/configurations/web/versions/1.0.0/publish');
    await assign(hawser, node, 'web');
  });

  const checksum = async () => (await node.client.get(`${configurationPath(node)}/checksum`)).headers['etag'];
  const modesInBundle = async () => {
    const { bytes } = await node.client.get(`${configurationPath(node)}/bundle`);
    return Object.fromEntries((await unzip(bytes)).map(({ path, mode }) => [path, mode.toString(8)]));
  };

  it('goes from a ZIP through Git into the bundle', async () => {
    expect(outside.git('ls-tree', 'v1.0.0')).to.match(/^100644 .*main\.dsc\.yaml\n100755 .*run\.sh$/);
    expect(await modesInBundle()).to.deep.equal({ 'main.dsc.yaml': '100644', 'run.sh': '100755' });
  });

  itOnSqlite(
    'is covered by the checksum: without it a node gets another bundle of the same version',
    async () => {
      const before = await checksum();
      const tree = outside.pipe(outside.git('ls-tree', 'v1.0.0').replace('100755', '100644'), 'mktree');
      const commit = outside.git('commit-tree', tree, '-m', 'The script is not to be run');
      outside.git('tag', '-f', '-a', 'v1.0.0', '-m', 'Version 1.0.0', commit);
      await eventually(async () => expect(await checksum()).to.not.equal(before));
      expect(await modesInBundle()).to.deep.equal({ 'main.dsc.yaml': '100644', 'run.sh': '100644' });
    },
  );
});
