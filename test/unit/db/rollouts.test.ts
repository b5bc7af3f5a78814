import { expect } from 'chai';
import { keepManifests } from '../../../src/db/manifests.ts';
import { insertNode } from '../../../src/db/nodes.ts';
import { readingNoted, readingRollout, type SeenReports } from '../../../src/db/read-rollouts.ts';
import {
  listKeptRollouts,
  noteNodes,
  readRolloutCounts,
  removeRolloutCounts,
  removeTakers,
  saveRolloutCounts,
} from '../../../src/db/rollouts.ts';
import { writeReports } from '../../../src/deeds/take-report.ts';
import { NO_FAULTS } from '../../../src/domain/report-faults.ts';
import type { NodeStatus } from '../../../src/domain/report-verdict.ts';
import { NO_COUNTS } from '../../../src/domain/rollout.ts';
import { newId } from '../../../src/lib/ids.ts';
import { ENGINES, temporaryEngine } from '../../support/engines/open.ts';

const TAG = { objectId: 'a', commit: 'b', tagger: 'alice', taggedAt: '2026-03-01T10:00:00.000Z' };
/** When the version was taken, and when its rollout began. */
const [TAKEN, BEGAN, NOW] = [1_000, 900, 9_000_000];

const STATUSES = {
  ok: { in_desired_state: 1, had_errors: 0 },
  bad: { in_desired_state: 0, had_errors: 0 },
  error: { in_desired_state: 1, had_errors: 1 },
  mute: { in_desired_state: null, had_errors: 0 },
} as const;

type Operation = 'Test' | 'Set' | 'Get';
type Status = keyof typeof STATUSES;

/** What a node sends, and what is known of it then: the status before, and the last report with a Set before it. */
const CASES: Record<string, { sent: string; before: NodeStatus; last: string | null; mode?: string }> = {
  nothing: { sent: '', before: 'Unknown', last: null },
  'a report before': { sent: '500 Test bad old', before: 'NonCompliant', last: null },
  'only the last one before counts': {
    sent: '400 Test error old, 500 Test ok old, 600 Get bad old',
    before: 'Compliant',
    last: null,
  },
  'reports of the version, before it is known to be taken': {
    sent: '500 Test ok old, 950 Test bad new',
    before: 'Compliant',
    last: 'Test NonCompliant',
  },
  'a late report of the old version': {
    sent: '500 Test ok old, 1100 Test mute new, 1200 Test error old',
    before: 'Error',
    last: 'Test Unknown',
  },
  'reports that name nothing, by their time': {
    sent: '999 Set error, 1000 Set ok, 1001 Test bad',
    before: 'Error',
    last: 'Set>Test NonCompliant',
  },
  'a Set of the old version': {
    sent: '990 Set ok old, 1100 Test bad new',
    before: 'Compliant',
    last: 'Test NonCompliant',
  },
  'a Set of a node in Remediate says nothing': {
    sent: '1100 Test ok new, 1200 Set ok new',
    before: 'Unknown',
    last: 'Test Compliant',
    mode: 'Remediate',
  },
  'a Set with errors does, in Remediate too': {
    sent: '1100 Test ok new, 1200 Set error new',
    before: 'Unknown',
    last: 'Set Error',
    mode: 'Remediate',
  },
  'a composite with the version': { sent: '1100 Set ok farm', before: 'Unknown', last: 'Set Compliant' },
  'a name that only resembles it': { sent: '1100 Test bad similar', before: 'NonCompliant', last: null },
  'a report from before the clock was set back': {
    sent: `${NOW * 2} Test ok new, 1100 Test error new`,
    before: 'Unknown',
    last: 'Test Error',
  },
};

for (const engine of ENGINES)
  describe(`the nodes of a rollout on ${engine}`, () => {
    const opened = temporaryEngine(engine, 'all tests');
    const database = () => opened().database;
    const of = { kind: 'configurations' as const, id: newId(), name: 'web' };
    const rolledOut = { ...of, key: '1.4.0', version: '1.4.0', tags: [] };
    const key = { kind: rolledOut.kind, resource_id: rolledOut.id, version: rolledOut.version };

    before(async () => {
      const common = { description: null, use_server_managed_parameters: 1, created_at: 1, updated_at: 1 };
      const row = { id: rolledOut.id, name: 'web', name_key: 'web', ...common };
      await database().write.insertInto('configurations').values(row).execute();
    });

    const counted = (evaluatedAt = 5) =>
      saveRolloutCounts(database().write, rolledOut, { evaluatedAt, counts: [NO_COUNTS], lastReport: 7 });
    const note = (nodeIds: readonly string[], takenAt: number | null = TAKEN, step: number | null = 0) =>
      noteNodes(
        database().write,
        rolledOut,
        nodeIds.map((id) => [id, takenAt, step, 1, 0]),
        { began: BEGAN, now: NOW },
      );

    /** @param sent its reports: when, which operation, with what status, and the checksum that it names */
    async function addNode(sent = '', mode?: string): Promise<string> {
      const id = newId();
      const settings = mode === undefined ? {} : { configuration_mode: mode };
      await insertNode(database().write, { id, fqdn: `${id}.example.org`, now: 1, settings });
      for (const each of sent.split(', ').filter(Boolean)) await send(id, each);
      return id;
    }

    async function send(node_id: string, sent: string): Promise<void> {
      const [at, operation, status, checksum] = sent.split(' ') as [string, Operation, Status, string?];
      const said = { timestamp: Number(at), operation, result: '{}', ...STATUSES[status] };
      const row = { id: newId(), node_id, ...said };
      const report = {
        row,
        nodeStatus: null,
        checksum: checksum ?? null,
        servedChecksum: null,
        faults: NO_FAULTS,
      };
      await database()
        .write.transaction()
        .execute((trx) => writeReports(trx, [report]));
      const part = (configurationName: string, version: string) => ({
        ...{ configurationName, version, tag: TAG, parameters: [] },
      });
      const manifests = {
        old: { name: 'web', version: '1.0.0', parts: [part('web', '1.0.0')] },
        new: { name: 'web', version: '1.4.0', parts: [part('web', '1.4.0')] },
        farm: { name: 'farm', version: '2.0.0', parts: [part('db', '1.0.0'), part('web', '1.4.0')] },
        similar: { name: 'farm', version: '1.4.0', parts: [part('web_', '1.4.0'), part('web', '1.4.0-a')] },
      };
      const records = Object.entries(manifests).map(([of, { name, version, parts }]) => ({
        ...{ checksum: of, configurationName: name, isComposite: name === 'farm', version },
        content: { tag: TAG, entryPoint: 'main', parts },
      }));
      await keepManifests(database().write, records);
    }

    async function known(nodeId: string) {
      const row = await database()
        .read.selectFrom('rollout_nodes')
        .selectAll()
        .where('node_id', '=', nodeId)
        .executeTakeFirst();
      if (row === undefined) return null;
      const { status_before: before, operation, status, has_set } = row;
      return { before, last: operation && `${has_set ? 'Set>' : ''}${operation} ${status}` };
    }

    it('are not noted before the rollout was counted', async () => {
      const node = await addNode();
      await note([node]);
      expect(await known(node)).to.equal(null);
    });

    for (const [title, { sent, before, last, mode }] of Object.entries(CASES))
      it(`are known by their reports: ${title}`, async () => {
        await counted();
        const node = await addNode(sent, mode);
        await note([node, newId()]);
        await note([node]);
        expect(await known(node)).to.deep.equal({ before, last });
      });

    it('keep what they were before, whatever is reported or deleted since', async () => {
      await counted();
      const node = await addNode('500 Test bad old');
      await note([node]);
      await send(node, '1100 Test ok old');
      await send(node, '1200 Test ok new');
      await note([node]);
      expect(await known(node)).to.deep.equal({ before: 'NonCompliant', last: 'Test Compliant' });
      await database().write.deleteFrom('reports').where('timestamp', '<', 1_150).execute();
      await note([node]);
      expect(await known(node)).to.deep.equal({ before: 'NonCompliant', last: 'Test Compliant' });
    });

    it('are noted before they have taken it, and keep what they said where they have something else by now', async () => {
      await counted();
      const node = await addNode('500 Test ok old');
      const noted = async () => {
        const found = await opened().reading.read(readingNoted(rolledOut, { after: '', take: 1_000 }));
        const { step, takenAt, statusBefore, report } = found.find(({ nodeId }) => nodeId === node) ?? {};
        return [step, takenAt, statusBefore, report?.status];
      };
      await note([node], null, 2);
      expect(await noted()).to.deep.equal([2, null, null, undefined]);
      await send(node, '1100 Test error new');
      await note([node], TAKEN, 2);
      expect(await noted()).to.deep.equal([2, TAKEN, 'Compliant', 'Error']);
      await note([node], null, 1);
      expect(await noted()).to.deep.equal([1, TAKEN, 'Compliant', 'Error']);
      await note([node], null, null);
      expect(await noted()).to.deep.equal([undefined, undefined, undefined, undefined]);
    });

    it('are looked at again where a report came after one with a higher number', async () => {
      await counted();
      const [late, early] = [await addNode(), await addNode()];
      const reporters = async (seen: SeenReports | null) => {
        const found: string[] = [];
        const take = (nodeId: string, _node: unknown, hasReported: boolean) => {
          if (hasReported && [late, early].includes(nodeId)) found.push(nodeId);
        };
        const next = await opened().reading.read(
          readingRollout(rolledOut, seen, { givenTo: () => [], take }),
        );
        return { seen: next, found: found.sort() };
      };
      const report = async (nodeId: string, seq: number) => {
        const said = { timestamp: 1_100, operation: 'Test' as const, result: '{}', ...STATUSES.ok };
        const row = { id: newId(), node_id: nodeId, ...said, seq };
        await database().write.insertInto('reports').values(row).execute();
      };
      const first = await reporters(null);
      expect(first.found, 'all, where none are known').to.deep.equal([late, early].sort());
      const { upTo } = first.seen;
      await report(early, upTo + 2);
      const second = await reporters(first.seen);
      expect(second.found).to.deep.equal([early]);
      expect((await reporters(second.seen)).found).to.deep.equal([]);
      await report(late, upTo + 1);
      const third = await reporters(second.seen);
      expect(third.found).to.deep.equal([late, early].sort());
      expect((await reporters(third.seen)).found).to.deep.equal([]);
    });

    it('go with the node, in slices after the rollout, and with what rolls out', async () => {
      await counted();
      const gone = await addNode();
      const [first, second, third] = [await addNode(), await addNode(), await addNode()];
      await note([gone, first, second, third]);
      await database().write.deleteFrom('nodes').where('id', '=', gone).execute();
      expect(await known(gone)).to.equal(null);
      while (!(await removeTakers(database().write, key, 2)));
      expect(await known(first)).to.equal(null);
      const kept = { evaluatedAt: 5, counts: [NO_COUNTS], lastReport: 7, faults: [] };
      expect(await readRolloutCounts(database().read, rolledOut)).to.deep.equal(kept);
      await note([first, second, third]);
      await removeRolloutCounts(database().write, key);
      expect(await known(second)).to.equal(null);
      await counted(6);
      await note([first, second, third]);
      expect(await listKeptRollouts(database().read)).to.deep.equal([key]);
      await database().write.deleteFrom('configurations').where('id', '=', rolledOut.id).execute();
      expect(await listKeptRollouts(database().read)).to.deep.equal([]);
      expect(await known(third)).to.equal(null);
      await counted();
      expect(await readRolloutCounts(database().read, rolledOut)).to.equal(null);
    });
  });
