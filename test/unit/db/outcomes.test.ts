import { expect } from 'chai';
import type { Database } from '../../../src/db/database.ts';
import { insertNode } from '../../../src/db/nodes.ts';
import { noteLcmFailed, noteOutcomes } from '../../../src/db/outcomes.ts';
import { readingRunning, readingRunningGeneration } from '../../../src/db/read-running.ts';
import { writeRunning } from '../../../src/db/running.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

const WEB = { kind: 'configurations', name: 'web', id: 'c' } as const;

for (const engine of ENGINES)
  describe(`how the last report went that names a checksum, on ${engine}`, () => {
    const opened = temporaryEngine(engine);
    const database = (): Database => opened().database;

    beforeEach(async () => {
      const { write } = database();
      const made = { created_at: 1, updated_at: 1, use_server_managed_parameters: 0, has_parameters: 0 };
      const web = { id: 'c', name: 'web', name_key: 'web', description: null, ...made };
      await write.insertInto('configurations').values(web).execute();
      for (const id of ['a', 'b']) {
        await insertNode(write, { id, fqdn: `${id}.example.org`, now: 1, settings: {} });
        await write
          .insertInto('assignments')
          .values({ node_id: id, configuration_id: 'c', assigned_at: 1 })
          .execute();
      }
    });

    /** The node runs this from now on. */
    async function runs(nodeId: string, checksum: string): Promise<void> {
      const running = { checksum, evidence: 'Declared', since: 1, last: 1 } as const;
      await database()
        .write.transaction()
        .execute((trx) => writeRunning(trx, [[nodeId, { running, answered: null, served: null }]]));
    }
    const report = (nodeId: string, checksum: string, hadErrors = false) =>
      noteOutcomes(database().write, [{ nodeId, checksum, hadErrors }]);
    const lcm = (isFailed: boolean, ...nodeIds: string[]) =>
      noteLcmFailed(database().write, nodeIds, isFailed);
    async function outcomes(): Promise<Record<string, string | null>> {
      const rows = await opened().reading.read(readingRunning(WEB, [WEB]));
      return Object.fromEntries([...rows].map(([id, { outcome }]) => [id, outcome]));
    }

    it('is known once a report names it, and is that of the last one', async () => {
      for (const nodeId of ['a', 'b']) await runs(nodeId, 'one');
      await report('a', 'other', true);
      expect(await outcomes()).to.deep.equal({ a: null, b: null });
      await report('a', 'one', true);
      await noteOutcomes(database().write, [
        { nodeId: 'a', checksum: 'one', hadErrors: false },
        { nodeId: 'b', checksum: 'one', hadErrors: false },
        { nodeId: 'b', checksum: 'one', hadErrors: true },
      ]);
      expect(await outcomes()).to.deep.equal({ a: 'Applied', b: 'Failed' });
    });

    it('is a failure while the LCM is in Error since, whatever the report was', async () => {
      for (const nodeId of ['a', 'b']) {
        await runs(nodeId, 'one');
        await report(nodeId, 'one');
      }
      await lcm(true, 'a', 'b');
      await report('b', 'one');
      expect(await outcomes()).to.deep.equal({ a: 'Failed', b: 'Applied' });
      await lcm(false, 'a');
      expect(await outcomes()).to.deep.equal({ a: 'Applied', b: 'Applied' });
    });

    it('is remembered for a node that runs a former checksum again, as long as anything names that', async () => {
      const { write, read } = database();
      await runs('a', 'one');
      await report('a', 'one');
      await runs('b', 'one');
      await runs('a', 'two');
      await report('a', 'two', true);
      await runs('a', 'one');
      expect((await outcomes())['a']).to.equal('Applied');
      await runs('b', 'two');
      await runs('a', 'two');
      await report('a', 'two');
      expect(await read.selectFrom('node_outcomes').select(['node_id', 'checksum']).execute()).to.deep.equal([
        { node_id: 'a', checksum: 'two' },
      ]);
      await write.deleteFrom('nodes').where('id', '=', 'a').execute();
      expect(await read.selectFrom('node_outcomes').selectAll().execute()).to.deep.equal([]);
    });

    it('raises the number of what nodes run only where it changes', async () => {
      const generation = () => opened().reading.read(readingRunningGeneration());
      await runs('a', 'one');
      await report('a', 'one');
      const before = await generation();
      await report('a', 'one');
      await lcm(false, 'a');
      expect(await generation()).to.equal(before);
      await report('a', 'one', true);
      expect(await generation()).to.be.greaterThan(before);
    });
  });
