import { expect } from 'chai';
import type { Evidence } from '../../../src/db/node-tables.ts';
import type { RunningRow } from '../../../src/db/read-running.ts';
import { type ProofNode, ProofTable } from '../../../src/resolve/proof-table.ts';

const ONE = '1'.repeat(64);
const TWO = '2'.repeat(64);
const EVERYTHING = { skip: 0, take: 1_000 };

interface Given {
  offered: string | null;
  via?: string;
  isPinned?: boolean;
  outcome?: RunningRow['outcome'];
  checksum?: string;
  evidence?: Evidence;
  answered?: string;
  runs?: string;
}

/** Each node is offered the checksum of its version: 1.0.0 is ONE, 2.0.0 is TWO. */
function tableOf(given: Record<string, Given>): ProofTable {
  const running = new Map<string, RunningRow>();
  const nodes = Object.entries(given).map(([name, each]) => {
    const { offered, checksum, evidence, answered, outcome = null, runs = null } = each;
    const since = evidence ? 5 : null;
    const known = { checksum: checksum ?? null, evidence: evidence ?? null, since };
    if (evidence || answered) running.set(name, { ...known, answered: answered ?? null, outcome, runs });
    const offer =
      offered === null ? null : { checksum: offered, version: offered === ONE ? '1.0.0' : '2.0.0' };
    const { via = null, isPinned = false } = each;
    return { nodeId: name, fqdn: name, via, isPinned, offered: offer };
  });
  return new ProofTable(nodes, running);
}

const FLEET: Record<string, Given> = {
  a: { offered: ONE, checksum: ONE, evidence: 'Declared', answered: ONE, runs: '1.0.0' },
  b: { offered: ONE, checksum: ONE, evidence: 'Served', answered: ONE, runs: '1.0.0', via: 'farm' },
  c: { offered: ONE, checksum: ONE, evidence: 'Told', answered: ONE, runs: '1.0.0', isPinned: true },
  d: { offered: ONE, checksum: TWO, evidence: 'Declared', answered: ONE, runs: '2.0.0' },
  e: { offered: ONE, checksum: TWO, evidence: 'Told', answered: TWO, runs: '2.0.0' },
  // A report named something, and the node has never polled.
  f: { offered: ONE, checksum: TWO, evidence: 'Declared', outcome: 'Failed', via: 'farm', isPinned: true },
  g: { offered: ONE },
  h: { offered: null, checksum: ONE, evidence: 'Declared', answered: ONE, runs: '1.0.0' },
  i: { offered: TWO, checksum: TWO, evidence: 'Declared', answered: TWO, runs: '2.0.0', outcome: 'Failed' },
  j: { offered: TWO, checksum: TWO, evidence: 'Declared', answered: TWO, runs: '2.0.0', outcome: 'Applied' },
};

describe('the table of a proof', () => {
  const table = tableOf(FLEET);
  const reasons = (rows: readonly ProofNode[]) =>
    Object.fromEntries(rows.map(({ fqdn, reason }) => [fqdn, reason]));

  it('gives each node that is offered the version one reason, and none to those that declare it', () => {
    expect(reasons(table.page('1.0.0', {}, EVERYTHING).rows)).to.deep.equal({
      ...{ a: null, b: 'NotReported', c: 'NotDownloaded', d: 'RunsOther' },
      ...{ e: 'NotPolledSince', f: 'NotPolledSince', g: 'NeverPolled', h: 'Unresolvable' },
    });
  });

  it('counts them, with those that get nothing beside each version', () => {
    expect(table.proof('1.0.0')).to.deep.equal({
      nodes: {
        ...{ offered: 7, direct: 4, viaComposites: 1, pinned: 2 },
        ...{ declared: 1, served: 1, told: 1, others: 4, failed: 0, applied: 0, untested: 1 },
      },
      reasons: [
        { reason: 'NeverPolled', nodes: 1 },
        { reason: 'NotPolledSince', nodes: 2 },
        { reason: 'NotDownloaded', nodes: 1 },
        { reason: 'NotReported', nodes: 1 },
        { reason: 'RunsOther', nodes: 1 },
        { reason: 'Unresolvable', nodes: 1 },
      ],
    });
    expect(table.proof('2.0.0')).to.deep.equal({
      nodes: {
        ...{ offered: 2, direct: 2, viaComposites: 0, pinned: 0 },
        ...{ declared: 2, served: 0, told: 0, others: 0, failed: 1, applied: 1, untested: 0 },
      },
      reasons: [{ reason: 'Unresolvable', nodes: 1 }],
    });
    expect(table.proof('3.0.0').nodes.offered).to.equal(0);
  });

  it('says how it went for those alone that declare what they are offered', () => {
    const outcomes = table.page('2.0.0', {}, EVERYTHING).rows.map(({ fqdn, outcome }) => [fqdn, outcome]);
    expect(outcomes).to.deep.equal([
      ['h', null],
      ['i', 'Failed'],
      ['j', 'Applied'],
    ]);
    expect(table.page('1.0.0', { outcome: 'Failed' }, EVERYTHING).total).to.equal(0);
  });

  it('counts by the version that nodes run, whatever they are offered', () => {
    expect(Object.fromEntries(table.versions)).to.deep.equal({
      '1.0.0': { offered: 7, direct: 4, viaComposites: 1, pinned: 2, declared: 2, served: 1, told: 1 },
      '2.0.0': { offered: 2, direct: 2, viaComposites: 0, pinned: 0, declared: 3, served: 0, told: 1 },
    });
  });

  it('gives the same nodes by pages and by slices, filtered or not', () => {
    const filters = [
      {},
      { evidence: 'Declared' as const },
      { reason: 'NotPolledSince' as const },
      { outcome: 'Untested' as const },
    ];
    for (const filter of filters) {
      const { rows, total } = table.page('1.0.0', filter, EVERYTHING);
      expect(rows).to.have.length(total);
      const paged = rows.flatMap((_row, skip) => table.page('1.0.0', filter, { skip, take: 1 }).rows);
      expect(paged).to.deep.equal(rows);
      const sliced: ProofNode[] = [];
      for (;;) {
        const slice = table.next('1.0.0', filter, { after: sliced.at(-1)?.fqdn ?? null, take: 2 });
        sliced.push(...slice);
        if (slice.length < 2) break;
      }
      expect(sliced).to.deep.equal(rows);
    }
  });
});
