// full: SQLite
import { expect } from 'chai';
import type { Db } from '../../../src/db/database.ts';
import { EVIDENCE, type Evidence } from '../../../src/db/node-tables.ts';
import { insertNode } from '../../../src/db/nodes.ts';
import { joinNotes, type RunningNote, writeRunning } from '../../../src/db/running.ts';
import { newId } from '../../../src/lib/ids.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

type Told = [checksum: string, evidence: Evidence, since: number];

const noteOf = ([checksum, evidence, since]: Told): RunningNote => ({
  running: { checksum, evidence, since, last: since },
  answered: null,
  served: null,
});

for (const engine of ENGINES)
  describe(`the evidence of what a node runs on ${engine}`, () => {
    const opened = temporaryEngine(engine, 'all tests');
    const database = () => opened().database;

    const write = (nodeId: string, note: RunningNote) =>
      database()
        .write.transaction()
        .execute((trx) => writeRunning(trx, [[nodeId, note]]));
    async function addNode(): Promise<string> {
      const id = newId();
      await insertNode(database().write, { id, fqdn: `${id}.example.org`, now: 1, settings: {} });
      return id;
    }
    async function rowOf(nodeId: string, db: Db = database().read) {
      const row = await db
        .selectFrom('node_running')
        .select(['checksum', 'evidence', 'since'])
        .where('node_id', '=', nodeId)
        .executeTakeFirst();
      return row && [row.checksum, row.evidence, row.since];
    }

    /** What stands by the rule, one piece after the other. */
    function stands(told: readonly Told[]): Told | undefined {
      return told.reduce<Told | undefined>((before, then) => {
        if (before === undefined || before[0] !== then[0]) return then;
        return EVIDENCE.indexOf(then[1]) > EVIDENCE.indexOf(before[1]) ? then : before;
      }, undefined);
    }

    it('comes out the same, however its pieces are joined before they are written', async () => {
      const pieces: [string, Evidence][] = ['a', 'b'].flatMap((checksum) =>
        EVIDENCE.map((evidence): [string, Evidence] => [checksum, evidence]),
      );
      const all = pieces.flatMap((one) => pieces.flatMap((two) => pieces.map((three) => [one, two, three])));
      expect(all).to.have.length(216);
      const nodeId = await addNode();
      for (const some of all) {
        const told = some.map((piece, at): Told => [...(piece as [string, Evidence]), 100 + at]);
        const [one, two, three] = told.map(noteOf) as [RunningNote, RunningNote, RunningNote];
        const ways = [
          [one, two, three],
          [joinNotes(one, two), three],
          [one, joinNotes(two, three)],
          [joinNotes(joinNotes(one, two), three)],
          [joinNotes(one, joinNotes(two, three))],
        ];
        await database()
          .write.transaction()
          .execute(async (trx) => {
            for (const notes of ways) {
              for (const note of notes) await writeRunning(trx, [[nodeId, note]]);
              expect(await rowOf(nodeId, trx), JSON.stringify([told, notes])).to.deep.equal(stands(told));
              await trx.deleteFrom('node_running').where('node_id', '=', nodeId).execute();
            }
          });
      }
    });

    it('changes nothing where it comes after later evidence of another checksum', async () => {
      const nodeId = await addNode();
      await write(nodeId, noteOf(['a', 'Declared', 200]));
      await write(nodeId, noteOf(['b', 'Declared', 199]));
      expect(await rowOf(nodeId)).to.deep.equal(['a', 'Declared', 200]);
      await write(nodeId, noteOf(['b', 'Told', 200]));
      expect(await rowOf(nodeId)).to.deep.equal(['b', 'Told', 200]);
      await write(nodeId, noteOf(['b', 'Declared', 150]));
      expect(await rowOf(nodeId)).to.deep.equal(['b', 'Declared', 150]);
    });

    it('stands where it came again after evidence of another checksum', async () => {
      const nodeId = await addNode();
      await write(nodeId, noteOf(['a', 'Declared', 200]));
      await write(nodeId, joinNotes(noteOf(['b', 'Declared', 199]), noteOf(['b', 'Declared', 201])));
      expect(await rowOf(nodeId)).to.deep.equal(['b', 'Declared', 201]);
    });

    it('is taken again after the clock was set back', async () => {
      const nodeId = await addNode();
      await write(nodeId, noteOf(['a', 'Declared', 10_000_000]));
      await write(nodeId, noteOf(['b', 'Told', 1_000]));
      expect(await rowOf(nodeId)).to.deep.equal(['b', 'Told', 1_000]);
    });

    it('stands beside the node for lists, and a node that was deleted is skipped', async () => {
      const nodeId = await addNode();
      const listed = () =>
        database().read.selectFrom('nodes').select('evidence').where('id', '=', nodeId).executeTakeFirst();
      await write(nodeId, noteOf(['a', 'Served', 1]));
      expect(await listed()).to.deep.equal({ evidence: 'Served' });
      await write(nodeId, noteOf(['a', 'Declared', 2]));
      expect(await listed()).to.deep.equal({ evidence: 'Declared' });
      await database().write.deleteFrom('nodes').where('id', '=', nodeId).execute();
      await write(nodeId, noteOf(['a', 'Declared', 3]));
      expect(await rowOf(nodeId)).to.equal(undefined);
    });
  });
