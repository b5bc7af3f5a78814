// full: SQLite
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';
import { admitServerSettings } from '../../src/deeds/admit-settings.ts';
import { DAY, HOUR } from '../../src/lib/clock.ts';
import { auditedDuring } from '../support/audit.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { openDatabaseOf } from '../support/database.ts';
import { createKey, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { started } from '../support/started.ts';

const SETTINGS = '/api/v1/settings';

/** The interval of the OpenDSC agent is 60 days at first, and its certificates are valid for 90. */
describe('a longer interval of certificate rotation', () => {
  const hawser = started(startHawser);
  const nodes: Record<string, string> = {};

  before(async () => {
    for (const [name, days] of Object.entries({ young: 89, old: 31, older: 30, expiring: 1 })) {
      const notAfter = hawser.clock.now() + days * DAY;
      const identity = await makeClientCertificate({ commonName: name, notAfter });
      const body = { registrationKey: await createKey(hawser.admin), fqdn: name };
      nodes[name] = (await ok(200, hawser.client(identity).post('/api/v1/nodes/register', body))).nodeId;
    }
    // One that has expired is locked out already, and is not counted.
    hawser.clock.advance(DAY);
  });

  const put = (json: object) => hawser.admin.put(SETTINGS, json);
  const interval = async () => (await ok(200, hawser.admin.get(SETTINGS))).certificateRotationInterval;
  const afterwards = async (json: object) => (await ok(200, put(json))).certificateRotationInterval;

  it('is refused where agents would replace certificates unannounced, and says how many', async () => {
    const entries = await auditedDuring(hawser, async () => {
      const refused = await put({ certificateRotationInterval: '118.00:00:00', stalenessMultiplier: 9 });
      await expectProblem(refused, 409, 'certificates_too_old');
      expect(refused.json.nodes).to.equal(1);
      expect(refused.json.detail).to.match(/acceptNodes: 1\b/);
      const more = await put({ certificateRotationInterval: 'P121D' });
      expect(more.json).to.include({ code: 'certificates_too_old', nodes: 2 });
    });
    expect(entries).to.deep.equal([]);
    expect(await ok(200, hawser.admin.get(SETTINGS))).to.deep.equal({
      certificateRotationInterval: '60.00:00:00',
      stalenessMultiplier: 2,
    });
  });

  it('passes where more than a quarter of it is left of all certificates', async () => {
    expect(await afterwards({ certificateRotationInterval: '115.00:00:00' })).to.equal('115.00:00:00');
    expect(await afterwards({ certificateRotationInterval: '60.00:00:00' })).to.equal('60.00:00:00');
  });

  it('passes with that very number alone, and an audit entry says so', async () => {
    const wish = { certificateRotationInterval: '121.00:00:00' };
    for (const acceptNodes of [0, 1, 3, null])
      expect((await put({ ...wish, acceptNodes })).json).to.include({
        code: 'certificates_too_old',
        nodes: 2,
      });
    expect(await interval()).to.equal('60.00:00:00');
    const [entry, ...others] = await auditedDuring(hawser, async () => {
      expect(await afterwards({ ...wish, acceptNodes: 2 })).to.equal('121.00:00:00');
    });
    expect(others).to.deep.equal([]);
    expect(entry).to.include({ action: 'settings.changed', actorName: 'admin' });
    expect(entry?.details).to.deep.include({
      settings: 'server',
      certificateRotationInterval: { from: '60.00:00:00', to: '121.00:00:00' },
      acceptedNodes: 2,
    });
    // The number is no setting, and is not remembered.
    expect(await ok(200, hawser.admin.get(SETTINGS))).to.not.have.property('acceptNodes');
    expect((await put({ certificateRotationInterval: '122.00:00:00' })).json).to.include({ nodes: 2 });
  });

  it('is asked about only where it is longer, and about nodes that there are', async () => {
    const [entry] = await auditedDuring(hawser, async () => {
      expect(await afterwards({ certificateRotationInterval: '120.12:00:00', acceptNodes: 7 })).to.match(
        /^120/,
      );
    });
    expect(entry?.details).to.not.have.property('acceptedNodes');
    expect(await afterwards({ stalenessMultiplier: 4 })).to.match(/^120/);
    expect(await afterwards({ certificateRotationInterval: 'P60D' })).to.equal('60.00:00:00');
    for (const name of ['old', 'older']) await ok(204, hawser.admin.delete(`/api/v1/nodes/${nodes[name]}`));
    expect(await afterwards({ certificateRotationInterval: '121.00:00:00' })).to.equal('121.00:00:00');
    await expectProblem(put({ certificateRotationInterval: '10000.00:00:00' }), 409, 'certificates_too_old');
  });
});

describe('the certificates that are too old for an interval', () => {
  const NOW = Date.UTC(2026, 10, 22);
  let folder: string;
  let database: Database;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hawser-interval-'));
    database = await openDatabaseOf(join(folder, 'data'));
  });
  after(async () => {
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Gives the only node this certificate, in whole seconds as certificates have it, and an announced one. */
  async function setNotAfter(notAfter: number): Promise<void> {
    await sql`delete from nodes`.execute(database.write);
    await sql`insert into nodes (id, fqdn, status, lcm_status, created_at) values ('n', 'n', 'Idle', 'Idle', 1)`.execute(
      database.write,
    );
    for (const [state, end] of [
      ['current', notAfter],
      ['pending', NOW + HOUR],
    ])
      await sql`insert into node_certificates
        (thumbprint, node_id, state, subject, not_before, not_after, created_at)
        values (${state}, 'n', ${state}, 'CN=n', 1, ${end}, 1)`.execute(database.write);
  }
  const nodesOf = (certificateRotationInterval: string): Promise<unknown> =>
    database.write
      .transaction()
      .execute((trx) =>
        admitServerSettings(trx, { certificateRotationInterval, stalenessMultiplier: undefined }, NOW),
      )
      .then(
        () => 0,
        (error) => error.data.nodes,
      );

  // The agent keeps a certificate while `notAfter > now + interval / 4`.
  for (const [left, interval, nodes] of [
    [30 * DAY + 1_000, '120.00:00:00', 0],
    [30 * DAY, '120.00:00:00', 1],
    [30 * DAY, '119.23:59:59.9960000', 0],
    [30 * DAY - 1_000, '120.00:00:00', 1],
    [1_000, '120.00:00:00', 1],
    [0, '120.00:00:00', 0],
    [-DAY, '120.00:00:00', 0],
    [1_000, '60.00:00:00', 0],
    [1_000, '60.00:00:00.0000001', 1],
  ] as const) {
    it(`are ${nodes} where ${left} ms are left of one, for ${interval}`, async () => {
      await setNotAfter(NOW + left);
      expect(await nodesOf(interval)).to.equal(nodes);
    });
  }
});
