import { expect } from 'chai';
import type { Evidence } from '../../../src/db/node-tables.ts';
import { deleteNodeRow, insertNode } from '../../../src/db/nodes.ts';
import {
  evidenceAt,
  findPastNode,
  findRan,
  historyFrom,
  listStretches,
  movePastBegin,
  NOW,
  notePastBegin,
} from '../../../src/db/past.ts';
import { joinNotes, type RunningNote, writeRunning } from '../../../src/db/running.ts';
import { cleanPast } from '../../../src/deeds/clean-past.ts';
import { DAY, HOUR } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/ids.ts';
import { Outcome } from '../../../src/versions/cleanup-run.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

type Told = [checksum: string, evidence: Evidence, at: number];

const noteOf = ([checksum, evidence, since]: Told): RunningNote => ({
  ...{ running: { checksum, evidence, since, last: since }, answered: null, served: null },
});

for (const engine of ENGINES)
  describe(`what a node ran at which time, on ${engine}`, () => {
    const opened = temporaryEngine(engine, 'all tests');
    const write = () => opened().database.write;
    const read = () => opened().database.read;

    async function addNode(): Promise<string> {
      const id = newId();
      await insertNode(write(), { id, fqdn: `${id}.example.org`, now: 1, settings: {} });
      return id;
    }
    const tell = (nodeId: string, ...notes: RunningNote[]) =>
      write()
        .transaction()
        .execute((trx) => writeRunning(trx, [[nodeId, notes.reduce(joinNotes)]]));
    /** Each as `checksum from-to`, with the times of the evidence, the oldest first. */
    async function past(nodeId: string): Promise<string[]> {
      const { rows } = await listStretches(read(), nodeId, 0, { take: 100, skip: 0 });
      return rows
        .map(({ checksum, from, to, toldAt, servedAt, declaredAt }) =>
          [`${checksum} ${from}-${to ?? ''}`, toldAt ?? '', servedAt ?? '', declaredAt ?? ''].join(' '),
        )
        .reverse();
    }
    async function ran(nodeId: string, at: number): Promise<string | null> {
      const found = await findRan(read(), nodeId, at);
      return found === undefined ? null : `${found.checksum} ${found.evidence} ${found.since}`;
    }

    const STORY: Told[] = [
      ['a', 'Told', 100],
      ['a', 'Served', 110],
      ['a', 'Served', 115],
      ['a', 'Declared', 120],
      ['b', 'Told', 200],
      ['a', 'Told', 210],
      ['a', 'Declared', 220],
      ['a', 'Told', 230],
    ];
    const TOLD = ['a 100-200 100 110 120', 'b 200-210 200  ', 'a 210- 210  220'];

    it('is the same whether its calls are written one by one or together', async () => {
      const [one, all, some] = [await addNode(), await addNode(), await addNode()];
      for (const told of STORY) await tell(one, noteOf(told));
      await tell(all, ...STORY.map(noteOf));
      await tell(some, ...STORY.slice(0, 5).map(noteOf));
      await tell(some, ...STORY.slice(5).map(noteOf));
      for (const nodeId of [one, all, some]) expect(await past(nodeId)).to.deep.equal(TOLD);
    });

    it('is told with the evidence of then; the begin belongs to a stretch and the end does not', async () => {
      const nodeId = await addNode();
      await tell(nodeId, ...STORY.map(noteOf));
      const moments = [99, 100, 109, 110, 119, 120, 199, 200, 209, 210, 219, 220, NOW];
      const found: (string | null)[] = [];
      for (const at of moments) found.push(await ran(nodeId, at));
      expect(found).to.deep.equal([
        ...[null, 'a Told 100', 'a Told 100', 'a Served 110', 'a Served 110', 'a Declared 120'],
        ...['a Declared 120', 'b Told 200', 'b Told 200', 'a Told 210', 'a Told 210', 'a Declared 220'],
        'a Declared 220',
      ]);
    });

    it('has no two stretches that overlap or begin at once, also where the clock is set back', async () => {
      const nodeId = await addNode();
      await tell(nodeId, noteOf(['a', 'Told', 5_000_000]));
      await tell(nodeId, noteOf(['b', 'Told', 5_000_000]));
      await tell(nodeId, noteOf(['c', 'Told', 1_000]));
      await tell(nodeId, noteOf(['c', 'Served', 1_001]));
      expect(await past(nodeId)).to.deep.equal([
        'a 5000000-5000001 5000000  ',
        'b 5000001-5000002 5000001  ',
        'c 5000002- 5000002 5000002 ',
      ]);
      expect(evidenceAt({ toldAt: 5, servedAt: 5, declaredAt: null }, 5)).to.include({ evidence: 'Served' });
    });

    it('stays when the node is deleted, and ends then', async () => {
      const nodeId = await addNode();
      await tell(nodeId, noteOf(['a', 'Told', 100]));
      await deleteNodeRow(write(), nodeId, 300);
      expect(await past(nodeId)).to.deep.equal(['a 100-300 100  ']);
      expect([await ran(nodeId, 299), await ran(nodeId, 300)]).to.deep.equal(['a Told 100', null]);
      expect(await findPastNode(read(), nodeId)).to.include({ nodeId, deletedAt: 300 });
    });

    it('is kept for some days, and what held at the bound with it', async () => {
      const [busy, quiet, gone] = [await addNode(), await addNode(), await addNode()];
      const begin = 100 * DAY;
      const at = (day: number) => begin + day * DAY;
      await notePastBegin(write(), begin);
      await notePastBegin(write(), begin + 1);
      for (const [day, checksum] of [...'klmnk'].entries())
        await tell(busy, noteOf([checksum, 'Told', at(day)]));
      await tell(quiet, noteOf(['q', 'Told', at(0)]));
      await tell(gone, noteOf(['g', 'Told', at(0)]));
      await deleteNodeRow(write(), gone, at(1));
      expect(await historyFrom(read(), at(4))).to.equal(begin);
      const run = (isDryRun: boolean) => {
        const outcome = new Outcome();
        const signal = new AbortController().signal;
        const made = cleanPast(opened().database, 2, { runId: '', now: at(4), isDryRun, outcome, signal });
        return made.then(() => outcome.deletedCount);
      };
      expect(await run(true)).to.be.at.least(3);
      const before = (await past(busy)).length;
      expect(before).to.equal(5);
      await run(false);
      expect((await past(busy)).map((each) => each[0])).to.deep.equal(['m', 'n', 'k']);
      expect((await past(quiet)).length).to.equal(1);
      expect(await findPastNode(read(), gone)).to.equal(undefined);
      // What is gone does not come back with a longer time of keeping.
      expect(await historyFrom(read(), at(4))).to.equal(at(2));
      await movePastBegin(write(), at(1));
      expect(await historyFrom(read(), at(4))).to.equal(at(2));
      expect(await historyFrom(read(), at(2) + 400 * DAY + HOUR)).to.equal(at(2) + HOUR);
      const uses = await read().selectFrom('checksum_uses').select(['checksum', 'past', 'uses']).execute();
      expect(uses.filter(({ checksum }) => 'lg'.includes(checksum))).to.deep.equal([]);
      expect(uses.find(({ checksum }) => checksum === 'm')).to.include({ past: 1, uses: 0 });
    });
  });
