// full: SQLite, PostgreSQL
/** The number of nodes that a caller expects a change set to change holds until it is applied. */

import { expect } from 'chai';
import { AtomicFs } from '../../src/git/atomic-fs.ts';
import { proposed, setOf } from '../support/change-sets.ts';
import { addVersion, MAIN } from '../support/configurations.ts';
import { type NodeUnderTest, publishConfiguration, startHawser } from '../support/hawser.ts';
import { HeldDisk, holdWrites } from '../support/held-writes.ts';
import { assign, poll } from '../support/parameter-files.ts';
import { publishing } from '../support/previews.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

describe('the number of nodes that a change set is expected to change', () => {
  const disk = new HeldDisk();
  const hawser = started(() => startHawser({}, { fs: new AtomicFs(disk) }));
  let nodes: NodeUnderTest[];
  before(async () => {
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { [MAIN]: '{}' } });
    await publishConfiguration(hawser.admin, 'db', { '1.0.0': { [MAIN]: '{}' } });
    nodes = await Promise.all(['a', 'b', 'c'].map((name) => hawser.registerNode(`${name}.example.org`)));
    await assign(hawser, nodes[0] as NodeUnderTest, 'web');
  });

  /** Applies a set that publishes a version, and assigns a node while it has been counted and is being written. */
  const applyAmid = async (version: string, expectedChanged: number, node: NodeUnderTest, name: string) => {
    await ok(201, addVersion(hawser.admin, 'web', { version }));
    const set = await proposed(hawser.admin, [publishing('web', version)]);
    const { isHeld, letGo } = await holdWrites(disk, hawser.databaseUrl);
    try {
      const reply = hawser.admin.post(`${setOf(set)}/apply`, { digest: set.digest, expectedChanged });
      await isHeld;
      await assign(hawser, node, name);
      letGo();
      return { set, reply: await reply };
    } finally {
      letGo();
    }
  };

  it('is counted again where somebody assigns a node meanwhile, and then refuses it', async () => {
    const [a, b] = nodes as [NodeUnderTest, NodeUnderTest];
    const { set, reply } = await applyAmid('1.1.0', 1, b, 'web');
    await expectProblem(reply, 409, 'effect_changed');
    expect((await ok(200, hawser.admin.get(setOf(set)))).state).to.equal('Open');
    expect((await poll(a)).json.version).to.equal('1.0.0');
    await ok(200, hawser.admin.post(`${setOf(set)}/apply`, { digest: set.digest, expectedChanged: 2 }));
  });

  it('lets it through where what somebody has changed meanwhile does not concern it', async () => {
    const { reply } = await applyAmid('1.2.0', 2, nodes[2] as NodeUnderTest, 'db');
    await ok(200, Promise.resolve(reply));
    expect((await poll(nodes[0] as NodeUnderTest)).json.version).to.equal('1.2.0');
  });
});
