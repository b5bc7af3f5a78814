// everyday: SQLite
import { expect } from 'chai';
import { MINUTE, SECOND } from '../../src/lib/clock.ts';
import { auditedDuring, expectNothingAudited } from '../support/audit.ts';
import type { Reply } from '../support/client.ts';
import { eventually } from '../support/eventually.ts';
import { type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const NODES = '/api/v1/nodes';
const NOTHING = { configurationMode: null, configurationModeInterval: null, reportCompliance: null };
const ROTATION = { certificateRotationInterval: '60.00:00:00' };

describe("a node's LCM", () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;
  let other: NodeUnderTest;
  let nodes = 0;

  before(async () => {
    other = await hawser.registerNode('other.example.org');
  });

  beforeEach(async () => {
    nodes += 1;
    node = await hawser.registerNode(`web-${nodes}.example.org`);
  });

  const pathOf = (rest: string): string => `${NODES}/${node.nodeId}/${rest}`;
  const details = async (): Promise<Reply['json']> =>
    (await hawser.admin.get(`${NODES}/${node.nodeId}`)).json;

  describe('says what it is doing', () => {
    const say = (body: unknown): Promise<Reply> => node.client.put(pathOf('lcm-status'), body);

    for (const lcmStatus of ['Idle', 'Downloading', 'Testing', 'Remediating', 'Error', 'Unknown']) {
      it(`is shown as ${lcmStatus}, in any case, with what else it sent ignored`, async () => {
        const reply = await say({ lcmStatus: lcmStatus.toUpperCase(), progress: 7 });
        expect(reply.status).to.equal(204);
        expect(reply.text).to.equal('');
        expect((await details()).lcmStatus).to.equal(lcmStatus);
      });
    }

    it('answers 400 to anything else and changes nothing', async () => {
      await say({ lcmStatus: 'Idle' });
      for (const body of [{}, { lcmStatus: null }, { lcmStatus: 'Sleeping' }, { lcmStatus: 1 }, [], 'Idle'])
        await expectProblem(await say(body), 400, 'validation_failed');
      expect((await details()).lcmStatus).to.equal('Idle');
      expect((await hawser.admin.get(pathOf('status-history'))).json).to.have.length(1);
    });
  });

  describe('is told what to do', () => {
    const read = async (): Promise<Reply['json']> => {
      const [own, ops] = await Promise.all(
        [node.client, hawser.admin].map((client) => client.get(pathOf('lcm-config'))),
      );
      expect(own?.status).to.equal(200);
      expect(own?.json).to.deep.equal(ops?.json);
      return own?.json;
    };
    const set = (body: unknown): Promise<Reply> => hawser.admin.put(pathOf('lcm-config'), body);

    it('gets null where neither a desired value nor a default of the server is set', async () => {
      expect(await read()).to.deep.equal({ ...NOTHING, ...ROTATION });
    });

    it('gets what is desired of it, durations in one spelling', async () => {
      const reply = await set({
        configurationMode: 'remediate',
        configurationModeInterval: 'PT90M',
        reportCompliance: false,
      });
      const expected = {
        configurationMode: 'Remediate',
        configurationModeInterval: '01:30:00',
        reportCompliance: false,
      };
      expect(reply.status).to.equal(200);
      expect(reply.json).to.deep.equal({ ...expected, ...ROTATION });
      expect(await read()).to.deep.equal(reply.json);
      expect(await details()).to.include({
        desiredConfigurationMode: 'Remediate',
        desiredConfigurationModeInterval: '01:30:00',
        desiredReportCompliance: false,
        ...NOTHING,
      });
    });

    it('clears what is null or left out', async () => {
      const all = {
        configurationMode: 'Monitor',
        configurationModeInterval: '00:15:00',
        reportCompliance: true,
      };
      await set(all);
      expect((await set({ ...all, reportCompliance: null })).json).to.include({ reportCompliance: null });
      expect((await set({ reportCompliance: true })).json).to.deep.equal({
        ...NOTHING,
        ...ROTATION,
        reportCompliance: true,
      });
      expect((await set({})).json).to.deep.equal({ ...NOTHING, ...ROTATION });
      expect(await details()).to.include({ desiredConfigurationMode: null, desiredReportCompliance: null });
    });

    it('falls back to the defaults of the server, one by one', async () => {
      const settings = '/api/v1/settings';
      const defaults = {
        defaultConfigurationMode: 'Monitor',
        defaultConfigurationModeInterval: '00:30:00',
        defaultReportCompliance: true,
      };
      await hawser.admin.put(`${settings}/lcm-defaults`, defaults);
      await hawser.admin.put(settings, { certificateRotationInterval: '30.00:00:00' });
      expect(await read()).to.deep.equal({
        configurationMode: 'Monitor',
        configurationModeInterval: '00:30:00',
        reportCompliance: true,
        certificateRotationInterval: '30.00:00:00',
      });
      expect((await set({ reportCompliance: false })).json).to.include({
        configurationMode: 'Monitor',
        reportCompliance: false,
      });
      const none = Object.fromEntries(Object.keys(defaults).map((name) => [name, null]));
      await hawser.admin.put(`${settings}/lcm-defaults`, none);
      await hawser.admin.put(settings, ROTATION);
      expect(await read()).to.deep.equal({ ...NOTHING, ...ROTATION, reportCompliance: false });
    });

    it('has an ETag, which If-Match on a change must name', async () => {
      const { headers } = await node.client.get(pathOf('lcm-config'));
      const etag = String(headers['etag']);
      const known = await node.client.get(pathOf('lcm-config'), { 'If-None-Match': etag });
      expect(known.status).to.equal(304);
      const change = (json: unknown): Promise<Reply> =>
        hawser.admin.call('PUT', pathOf('lcm-config'), { json, headers: { 'If-Match': etag } });
      await ok(200, change({ reportCompliance: true }));
      await expectProblem(await change({ reportCompliance: false }), 412, 'precondition_failed');
    });

    it('answers 400 to what is no such setting and changes nothing', async () => {
      await set({ configurationMode: 'Monitor' });
      for (const body of [
        { configurationMode: 'Watch' },
        { configurationModeInterval: '0' },
        { configurationModeInterval: '00:00:00' },
        { configurationModeInterval: '-00:15:00' },
        { configurationModeInterval: 900 },
        { reportCompliance: 'yes' },
        { certificateRotationInterval: '1.00:00:00' },
        { mode: 'Monitor' },
      ])
        await expectProblem(await set(body), 400, 'validation_failed');
      expect((await read()).configurationMode).to.equal('Monitor');
    });

    it('leaves an entry of each change in the audit trail, and none where nothing changes', async () => {
      const entries = await auditedDuring(hawser, async () => {
        await set({ configurationMode: 'Monitor' });
        await set({ configurationMode: 'Monitor' });
        await set({ configurationMode: 'Remediate' });
      });
      expect(entries.map(({ action }) => action)).to.deep.equal([
        'node.lcm_config_changed',
        'node.lcm_config_changed',
      ]);
      expect(entries[1]).to.deep.include({ resourceId: node.nodeId, actorName: 'admin' });
      expect(entries[1]?.details).to.deep.include({
        fqdn: node.fqdn,
        configurationMode: { from: 'Monitor', to: 'Remediate' },
      });
    });
  });

  describe('says what it is set to do', () => {
    const say = (body: unknown): Promise<Reply> => node.client.put(pathOf('reported-config'), body);
    const reported = async (): Promise<unknown> => {
      const { configurationMode, configurationModeInterval, reportCompliance } = await details();
      return { configurationMode, configurationModeInterval, reportCompliance };
    };

    it('is shown with it; absent members stay, null ones are cleared, unknown ones ignored', async () => {
      const all = {
        configurationMode: 'monitor',
        configurationModeInterval: 'PT15M',
        reportCompliance: true,
      };
      const shown = { ...all, configurationMode: 'Monitor', configurationModeInterval: '00:15:00' };
      const reply = await say({ ...all, certificateRotationInterval: '1', agentVersion: '9' });
      expect(reply.status).to.equal(204);
      expect(await reported()).to.deep.equal(shown);
      await ok(204, say({}));
      expect(await reported()).to.deep.equal(shown);
      await say({ configurationMode: 'Remediate' });
      expect(await reported()).to.deep.equal({ ...shown, configurationMode: 'Remediate' });
      await say({ reportCompliance: null, configurationModeInterval: null });
      expect(await reported()).to.deep.equal({ ...NOTHING, configurationMode: 'Remediate' });
    });

    it('is neither what is desired of it nor an event, nor an entry in the audit trail', async () => {
      await expectNothingAudited(hawser, async () => {
        await say({ configurationMode: 'Remediate' });
        await node.client.put(pathOf('lcm-status'), { lcmStatus: 'Idle' });
      });
      expect(await details()).to.include({ desiredConfigurationMode: null, configurationSource: 'Pull' });
      expect((await hawser.admin.get(pathOf('status-history'))).json).to.have.length(1);
    });

    it('is stale by the interval that it reported, and not without one', async () => {
      await say({ configurationModeInterval: '00:15:00' });
      await say({});
      // Written up to two seconds late.
      await hawser.restart();
      node.client = hawser.client(node.identity);
      other.client = hawser.client(other.identity);
      hawser.clock.advance(29 * MINUTE);
      expect((await details()).isStale).to.equal(false);
      hawser.clock.advance(2 * MINUTE);
      expect((await details()).isStale).to.equal(true);
      await say({ configurationModeInterval: null });
      expect((await details()).isStale).to.equal(false);
    });

    it('answers 400 to what is no such setting and changes nothing', async () => {
      await say({ configurationMode: 'Monitor' });
      for (const body of [
        { configurationMode: 'Watch' },
        { configurationModeInterval: '00:00:00' },
        { reportCompliance: 1 },
        [],
        null,
      ])
        await expectProblem(await say(body), 400, 'validation_failed');
      expect(await reported()).to.deep.equal({ ...NOTHING, configurationMode: 'Monitor' });
    });
  });

  describe('is seen at every call of its own', () => {
    const calls: Record<string, () => Promise<Reply>> = {
      'GET configuration/checksum': () => node.client.get(pathOf('configuration/checksum')),
      'PUT lcm-status': () => node.client.put(pathOf('lcm-status'), { lcmStatus: 'Idle' }),
      'GET lcm-config': () => node.client.get(pathOf('lcm-config')),
      'PUT reported-config': () => node.client.put(pathOf('reported-config'), {}),
      'POST rotate-certificate': () => node.client.post(pathOf('rotate-certificate'), {}),
    };
    for (const [label, call] of Object.entries(calls)) {
      it(`moves lastCheckIn by ${label}`, async () => {
        const before = hawser.clock.now();
        await call();
        await eventually(async () => {
          const { lastCheckIn } = await details();
          expect(Date.parse(lastCheckIn ?? '')).to.be.within(before - SECOND, hawser.clock.now());
        });
      });
    }

    it('does not move by calls of others, and is kept over a restart', async () => {
      await hawser.admin.get(pathOf('lcm-config'));
      await other.client.get(pathOf('lcm-config'));
      await hawser.restart();
      expect((await details()).lastCheckIn).to.equal(null);
      node.client = hawser.client(node.identity);
      other.client = hawser.client(other.identity);
      await node.client.get(pathOf('lcm-config'));
      const at = hawser.clock.now();
      await hawser.restart();
      node.client = hawser.client(node.identity);
      other.client = hawser.client(other.identity);
      expect(Date.parse((await details()).lastCheckIn)).to.be.within(at - MINUTE, at);
    });
  });
});
