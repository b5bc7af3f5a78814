/** What a node's page says about what it should get and what it runs. */

import { expect } from 'chai';
import { standingOf } from '../../../src/ui/pages/nodes/standing.ts';

const CHECKSUM = 'a'.repeat(64);
const OTHER = 'b'.repeat(64);

type Facts = Parameters<typeof standingOf>[0];

const facts = ({
  evidence,
  version = '1.0.0',
  checksum = CHECKSUM,
  ...more
}: Partial<NonNullable<Facts['running']>> & Partial<Facts> = {}): Facts => ({
  assignment: {
    ...{ configurationName: 'web', isComposite: false, majorVersion: null, prereleaseChannel: null },
    ...{ version: null, resolvedVersion: '1.0.0', pinnedToWithdrawn: false },
  },
  running: evidence
    ? { checksum, version, evidence, configurationName: 'web', since: '2026-11-20T09:08:00.000Z' }
    : null,
  lastCheckIn: '2026-11-20T09:08:00.000Z',
  ...{ status: 'Compliant', lcmStatus: 'Idle' },
  ...more,
});

describe('what the console says about a node', () => {
  const wordOf = (given: Facts, offered: string | null = CHECKSUM) => standingOf(given, offered).word;

  it('says how sure it is that the node runs what it should get', () => {
    expect(wordOf(facts({ evidence: 'Declared' }))).to.equal('Declared');
    expect(wordOf(facts({ evidence: 'Served' }))).to.equal('NotReported');
    expect(wordOf(facts({ evidence: 'Told' }))).to.equal('NotDownloaded');
  });

  it('does not call what failed to be applied good', () => {
    for (const failed of [{ status: 'Error' }, { lcmStatus: 'Error' }] as const)
      expect(standingOf(facts({ evidence: 'Declared', ...failed }), CHECKSUM)).to.include({
        ...{ tone: 'bad', word: 'Failed' },
      });
    expect(wordOf(facts({ evidence: 'Served', status: 'Error' }))).to.equal('NotReported');
  });

  it('tells a node that has not polled since from one that may have reported another state', () => {
    expect(wordOf(facts({ evidence: 'Served', checksum: OTHER }))).to.equal('NotPolledSince');
    expect(wordOf(facts({ evidence: 'Told', checksum: OTHER }))).to.equal('NotPolledSince');
    expect(wordOf(facts({ evidence: 'Declared', checksum: OTHER }))).to.equal('Differs');
  });

  it('says that other parameters make the difference where the version is the same', () => {
    const same = standingOf(facts({ evidence: 'Told', checksum: OTHER }), CHECKSUM).sentence;
    expect(same).to.contain('this version with other parameters');
    const another = facts({ evidence: 'Told', checksum: OTHER, version: '0.9.0' });
    expect(standingOf(another, CHECKSUM).sentence).to.contain('something else');
  });

  it('compares versions where the checksum may not be read', () => {
    expect(wordOf(facts({ evidence: 'Declared', checksum: OTHER }), null)).to.equal('Declared');
    expect(wordOf(facts({ evidence: 'Declared', version: '0.9.0' }), null)).to.equal('Differs');
  });

  it('says why a node gets or runs nothing', () => {
    const { assignment } = facts();
    expect(wordOf(facts({ assignment: null }))).to.equal('Unassigned');
    expect(wordOf(facts())).to.equal('NeverPolled');
    expect(standingOf(facts({ lastCheckIn: null }), null).sentence).to.contain('has not called since');
    const unresolved = assignment && { ...assignment, resolvedVersion: null };
    expect(wordOf(facts({ assignment: unresolved, evidence: 'Declared' }), null)).to.equal('Unresolvable');
  });
});
