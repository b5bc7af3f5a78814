// full: SQLite, PostgreSQL
import { expect } from 'chai';
import { MINUTE } from '../../src/lib/clock.ts';
import { auditedDuring } from '../support/audit.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, startHawser } from '../support/hawser.ts';
import { expectInvalid, expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const SETTINGS = '/api/v1/settings';
const PUBLIC = `${SETTINGS}/public`;
const NODES = '/api/v1/nodes';

interface Group {
  path: string;
  defaults: Record<string, unknown>;
  /** Members to set one after the other, as sent and as answered. */
  changes: [sent: object, answered: object][];
  bad: object[];
}

const each = (name: string, ...values: unknown[]) => values.map((value) => ({ [name]: value }));
/** 2147483647 is the highest that clients with 32-bit numbers can send. */
const NO_COUNTS = [-1, 1.5, 2_147_483_648, '5', true, [], {}];
const NO_FLAGS = ['true', 1, 0, [], {}];

const GROUPS: Record<string, Group> = {
  server: {
    path: SETTINGS,
    defaults: { certificateRotationInterval: '60.00:00:00', stalenessMultiplier: 2 },
    changes: [
      [{ certificateRotationInterval: 'P30DT12H' }, { certificateRotationInterval: '30.12:00:00' }],
      [{ certificateRotationInterval: '0.01:00:01.5' }, { certificateRotationInterval: '01:00:01.5000000' }],
      [{ certificateRotationInterval: 'PT60M' }, { certificateRotationInterval: '01:00:00' }],
      [{ stalenessMultiplier: 1_000 }, { stalenessMultiplier: 1_000 }],
      [{ stalenessMultiplier: 0.5 }, { stalenessMultiplier: 0.5 }],
    ],
    bad: [
      ...each('certificateRotationInterval', '00:00:00', '-00:15:00', '', 'soon', '25:00:00', 'P1M', 60),
      ...each('certificateRotationInterval', [], '99999999.00:00:00', '00:59:59.9999999', 'PT59M'),
      ...each('stalenessMultiplier', 0, -1, 1_000.1, '2', true, []),
      ...each('acceptNodes', -1, 1.5, '2', true, []),
    ],
  },
  'lcm-defaults': {
    path: `${SETTINGS}/lcm-defaults`,
    defaults: {
      defaultConfigurationMode: null,
      defaultConfigurationModeInterval: null,
      defaultReportCompliance: null,
    },
    changes: [
      [{ defaultConfigurationMode: 'rEMEDIATE' }, { defaultConfigurationMode: 'Remediate' }],
      [{ defaultConfigurationModeInterval: 'PT15M' }, { defaultConfigurationModeInterval: '00:15:00' }],
      [{ defaultReportCompliance: false }, { defaultReportCompliance: false }],
      [{ defaultConfigurationMode: null }, { defaultConfigurationMode: null }],
      [{ defaultConfigurationModeInterval: null }, { defaultConfigurationModeInterval: null }],
      [{ defaultReportCompliance: null }, { defaultReportCompliance: null }],
    ],
    bad: [
      ...each('defaultConfigurationMode', '', 'Audit', 1, true, []),
      ...each('defaultConfigurationModeInterval', '', '00:00:00', '15', 15, 'PT0S'),
      ...each('defaultReportCompliance', 'true', 1, []),
      { configurationMode: 'Monitor' },
    ],
  },
  validation: {
    path: `${SETTINGS}/validation`,
    defaults: {
      requireSemVer: true,
      defaultParameterValidationMode: 'Strict',
      // As servers under test have it (test/support/unchecked-documents.ts).
      defaultDocumentChecks: 'None',
      allowConfigurationOverride: true,
      allowParameterValidationOverride: true,
      pushIdentity: 'Any',
    },
    changes: [
      [{ defaultParameterValidationMode: 'warn' }, { defaultParameterValidationMode: 'Warn' }],
      [{ requireSemVer: false }, { requireSemVer: false }],
      [{ pushIdentity: 'cOMMITTER' }, { pushIdentity: 'Committer' }],
      [{ pushIdentity: 'Any' }, { pushIdentity: 'Any' }],
    ],
    bad: [
      ...each('requireSemVer', ...NO_FLAGS),
      ...each('allowConfigurationOverride', ...NO_FLAGS),
      ...each('defaultParameterValidationMode', 'Loose'),
      ...each('pushIdentity', '', 'Author', 1, true, []),
      { keepVersions: 1 },
      { parameterValidationMode: 'Warn' },
    ],
  },
  retention: {
    path: `${SETTINGS}/retention`,
    defaults: {
      enabled: false,
      keepVersions: 10,
      keepDays: 90,
      keepReleaseVersions: true,
      scheduleIntervalHours: 24,
      reportKeepCount: 1_000,
      reportKeepDays: 30,
      statusEventKeepCount: 200,
      statusEventKeepDays: 7,
      historyKeepDays: 400,
    },
    changes: [
      [{ keepVersions: 0 }, { keepVersions: 0 }],
      [
        { enabled: true, keepReleaseVersions: false },
        { enabled: true, keepReleaseVersions: false },
      ],
      [{ keepDays: 2_147_483_647 }, { keepDays: 2_147_483_647 }],
      [{ scheduleIntervalHours: 1 }, { scheduleIntervalHours: 1 }],
      [{ scheduleIntervalHours: 8_760 }, { scheduleIntervalHours: 8_760 }],
      [{ historyKeepDays: 1 }, { historyKeepDays: 1 }],
      [{ historyKeepDays: 3_650 }, { historyKeepDays: 3_650 }],
      [
        { reportKeepCount: 0, reportKeepDays: 0, statusEventKeepCount: 0, statusEventKeepDays: 0 },
        { reportKeepCount: 0, reportKeepDays: 0, statusEventKeepCount: 0, statusEventKeepDays: 0 },
      ],
    ],
    bad: [
      ...each('enabled', ...NO_FLAGS),
      ...each('keepReleaseVersions', ...NO_FLAGS),
      ...['keepVersions', 'keepDays', 'reportKeepCount', 'reportKeepDays'].flatMap((name) =>
        each(name, ...NO_COUNTS),
      ),
      ...['statusEventKeepCount', 'statusEventKeepDays'].flatMap((name) => each(name, ...NO_COUNTS)),
      ...each('scheduleIntervalHours', 0, 8_761, ...NO_COUNTS),
      ...each('historyKeepDays', 0, 3_651, ...NO_COUNTS),
      ...each('historyFrom', '2026-01-01T00:00:00.000Z'),
      { keepCount: 1 },
    ],
  },
};

describe("the server's settings", () => {
  for (const [name, group] of Object.entries(GROUPS)) describeGroup(name, group);

  it('are groups that share no member, because each member is stored under its own name', () => {
    const members = Object.values(GROUPS).flatMap(({ defaults }) => Object.keys(defaults));
    expect(new Set(members).size).to.equal(members.length);
  });
});

/** Without what the server says of itself. */
const settable = ({ historyFrom: _, ...settings }: Record<string, unknown>) => settings;

function describeGroup(name: string, { path, defaults, changes, bad }: Group): void {
  describe(`of the group ${name}`, () => {
    const hawser = started(startHawser);

    const get = async () => settable(await ok(200, hawser.admin.get(path)));
    const put = (json: unknown) => hawser.admin.put(path, json);
    const reset = async () => settable(await ok(200, put(defaults)));
    const putIf = (etag: string, json: unknown) =>
      hawser.admin.call('PUT', path, { json, headers: { 'If-Match': etag } });

    it('have the defaults of the contract at first', async () => {
      expect(await get()).to.deep.equal(defaults);
    });

    it('are changed by any subset, answered with all, and kept over a restart', async () => {
      let expected = defaults;
      for (const [sent, answered] of changes) {
        expected = { ...expected, ...answered };
        expect(settable(await ok(200, put(sent)))).to.deep.equal(expected);
        expect(await get()).to.deep.equal(expected);
      }
      expect(settable(await ok(200, put({})))).to.deep.equal(expected);
      await hawser.restart();
      expect(await get()).to.deep.equal(expected);
      for (const other of Object.values(GROUPS).filter((candidate) => candidate.path !== path)) {
        expect(settable(await ok(200, hawser.admin.get(other.path)))).to.deep.equal(other.defaults);
      }
      expect(await reset()).to.deep.equal(defaults);
    });

    it('take no other names, types or values, not even beside good ones', async () => {
      const [good] = changes[0] ?? [];
      for (const json of [...bad, { ...good, colour: 'red' }, ...bad.map((one) => ({ ...good, ...one }))]) {
        const reply = await expectProblem(put(json), 400, 'validation_failed', JSON.stringify(json));
        expect(reply.json.errors[0].path).to.match(/^\/\w+$/);
      }
      for (const json of [[], null, 'x', 5]) await expectInvalid(put(json));
      const headers = { 'Content-Type': 'application/json' };
      for (const member of Object.keys(defaults)) {
        const call = { headers, body: `{"${member}": 1e999}` };
        await expectProblem(hawser.admin.call('PUT', path, call), 400, 'validation_failed', call.body);
      }
      expect(await get()).to.deep.equal(defaults);
    });

    it('have a validator, which spares who knows them and stops who does not', async () => {
      const etag = String((await hawser.admin.get(path)).headers['etag']);
      const held = await hawser.admin.get(path, { 'If-None-Match': etag });
      expect([held.status, held.text]).to.deep.equal([304, '']);
      const [sent, answered] = changes[0] ?? [{}, {}];
      await expectProblem(putIf('"other"', sent), 412, 'precondition_failed');
      expect(await get()).to.deep.equal(defaults);
      expect(settable(await ok(200, putIf(etag, sent)))).to.deep.equal({ ...defaults, ...answered });
      await expectProblem(putIf(etag, defaults), 412, 'precondition_failed');
      const changed = await hawser.admin.get(path, { 'If-None-Match': etag });
      expect(changed.status).to.equal(200);
      expect(changed.headers['etag']).to.not.equal(etag);
      await reset();
      expect((await hawser.admin.get(path)).headers['etag']).to.equal(etag);
    });

    it('leave one audit entry per change with old and new values, and none where nothing changes', async () => {
      const [sent, answered] = changes[0] ?? [{}, {}];
      const silent = await auditedDuring(hawser, async () => {
        for (const json of [{}, defaults]) await ok(200, put(json));
        await expectInvalid(put(bad[0]));
        await expectProblem(putIf('"other"', sent), 412, 'precondition_failed');
      });
      expect(silent).to.deep.equal([]);
      // Twice: the second time, nothing changes any more.
      const entries = await auditedDuring(hawser, async () => {
        for (const json of [{ ...defaults, ...sent }, sent]) await ok(200, put(json));
      });
      expect(entries).to.have.length(1);
      const { action, resourceType, resourceId, actorName, details } = entries[0] ?? {};
      expect({ action, resourceType, resourceId, actorName }).to.deep.equal({
        ...{ action: 'settings.changed', resourceType: 'Settings', resourceId: null },
        actorName: 'admin',
      });
      const { tokenId: _, ...rest } = details ?? {};
      const changed = Object.entries(answered).map(([member, to]) => [
        member,
        { from: defaults[member], to },
      ]);
      expect(rest).to.deep.equal({ settings: name, ...Object.fromEntries(changed) });
      await reset();
    });
  });
}

describe('settings that nodes go by', () => {
  const hawser = started(startHawser);

  it('are public as far as an agent needs them before it is registered', async () => {
    const client = hawser.client();
    const first = await client.get(PUBLIC);
    expect([first.status, first.json]).to.deep.equal([200, { certificateRotationInterval: '60.00:00:00' }]);
    // Whoever keeps a copy has to ask each time whether it still holds.
    expect(first.headers['cache-control']).to.match(/no-cache/);
    const etag = String(first.headers['etag']);
    expect((await client.get(PUBLIC, { 'If-None-Match': etag })).status).to.equal(304);
    await ok(200, hawser.admin.put(SETTINGS, { stalenessMultiplier: 3 }));
    expect((await client.get(PUBLIC, { 'If-None-Match': etag })).status).to.equal(304);
    await ok(200, hawser.admin.put(SETTINGS, { certificateRotationInterval: 'PT1H' }));
    const changed = await client.get(`${PUBLIC}/`, { 'If-None-Match': etag });
    expect([changed.status, changed.json]).to.deep.equal([200, { certificateRotationInterval: '01:00:00' }]);
    for (const method of ['PUT', 'POST', 'DELETE']) {
      expect((await client.call(method, PUBLIC)).status, method).to.equal(405);
    }
  });

  it('say at once which nodes are stale', async () => {
    const identity = await makeClientCertificate({ commonName: 'quarter.example.org' });
    const node = hawser.client(identity);
    const registrationKey = await createKey(hawser.admin);
    const interval = { configurationModeInterval: '00:15:00' };
    const registration = { registrationKey, fqdn: 'quarter.example.org', ...interval };
    const { nodeId } = await ok(200, node.post(`${NODES}/register`, registration));
    await node.get(`${NODES}/${nodeId}/configuration/checksum`);
    // The time of the call is written at the close.
    await hawser.restart();
    hawser.clock.advance(20 * MINUTE);
    const expectStale = async (stalenessMultiplier: number, isStale: boolean) => {
      await ok(200, hawser.admin.put(SETTINGS, { stalenessMultiplier }));
      expect((await ok(200, hawser.admin.get(`${NODES}/${nodeId}`))).isStale).to.equal(isStale);
      expect((await ok(200, hawser.admin.get(NODES)))[0].isStale).to.equal(isStale);
      expect(await ok(200, hawser.admin.get(`${NODES}?stale=${isStale}`))).to.have.length(1);
      expect(await ok(200, hawser.admin.get(`${NODES}?stale=${!isStale}`))).to.have.length(0);
    };
    await expectStale(2, false);
    await expectStale(1.25, true);
    await expectStale(1.5, false);
    await expectStale(0.001, true);
    await expectStale(1_000, false);
  });
});
