/** Kills the server while many nodes report: whatever was acknowledged is there afterwards. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Client, makeClient, type Target } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { buildProgram, removePrograms } from '../support/crash/programs.ts';
import { ServerProcess } from '../support/crash/server-process.ts';
import { testedService, testOutput } from '../support/dsc-results.ts';
import { ADMIN_PASSWORD, createKey, createToken, signIn } from '../support/hawser.ts';

const NODES = 16;
const ROUNDS = 2;
/** Acknowledged in a round before the kill. */
const ENOUGH = 150;
const SCOPES = ['nodes.read', 'reports.read', 'reports.read-all', 'registration-keys.manage'];

interface Reporter {
  nodeId: string;
  identity: { cert: string; key: string };
}

describe('a report that was acknowledged', () => {
  let folder: string;
  let server: ServerProcess;
  let target: Target;
  let token: string;
  let reporters: Reporter[];
  /** Ids with what was in them. */
  const acknowledged = new Map<string, string>();
  let sent = 0;

  before(async function () {
    this.timeout(180_000);
    folder = mkdtempSync(join(tmpdir(), 'hawser-reports-'));
    await buildProgram('server');
    server = new ServerProcess(folder);
    target = await server.start();
    const client = makeClient(target);
    token = await createToken(client, await signIn(client, 'admin', ADMIN_PASSWORD), SCOPES);
    const registrationKey = await createKey(client.with({ Authorization: `Bearer ${token}` }));
    reporters = await Promise.all(
      Array.from({ length: NODES }, async (_, index) => {
        const fqdn = `node-${index}.example.org`;
        const identity = await makeClientCertificate({ commonName: fqdn });
        const own = makeClient(target, identity);
        const reply = await own.post('/api/v1/nodes/register', { registrationKey, fqdn });
        own.close();
        return { nodeId: reply.json.nodeId, identity };
      }),
    );
    client.close();
  });
  after(async () => {
    await server.kill();
    removePrograms();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Reports without a pause until the server is gone. */
  async function keepReporting(client: Client, nodeId: string, onTaken: () => void): Promise<void> {
    for (;;) {
      sent += 1;
      const marker = `report ${sent}`;
      const result = { ...testOutput([testedService(sent % 2 === 0)]), marker };
      const reply = await client
        .post(`/api/v1/nodes/${nodeId}/reports`, { operation: 'Test', result })
        .catch(() => null);
      if (reply === null) return;
      expect(reply.status, reply.text).to.equal(201);
      acknowledged.set(reply.json.id, marker);
      onTaken();
    }
  }

  async function reportUntilKilled(): Promise<void> {
    let taken = 0;
    let killed: Promise<void> | undefined;
    const clients = reporters.map(({ identity }) => makeClient(target, identity));
    await Promise.all(
      clients.map((client, index) =>
        keepReporting(client, reporters[index]?.nodeId ?? '', () => {
          taken += 1;
          if (taken === ENOUGH) killed = server.kill();
        }),
      ),
    );
    await killed;
    expect(taken).to.be.at.least(ENOUGH);
    for (const client of clients) client.close();
  }

  it('survives kill -9, with its result, its place in the lists, and its node in the state it told', async function () {
    this.timeout(180_000);
    for (let round = 0; round < ROUNDS; round += 1) {
      await reportUntilKilled();
      target = await server.start();
    }
    const client = makeClient(target);
    const admin = client.with({ Authorization: `Bearer ${token}` });
    await Promise.all(
      [...acknowledged].map(async ([id, marker]) => {
        const reply = await admin.get(`/api/v1/reports/${id}`);
        expect(reply.status, marker).to.equal(200);
        expect(reply.json.result.marker).to.equal(marker);
      }),
    );
    let total = 0;
    for (const { nodeId } of reporters) {
      const own = await admin.get(`/api/v1/nodes/${nodeId}/reports?take=1000`);
      total += own.json.length;
      expect(own.headers['x-total-count']).to.equal(String(own.json.length));
      const newest = own.json[0];
      if (newest === undefined) continue;
      const wanted = newest.inDesiredState ? 'Compliant' : 'NonCompliant';
      expect((await admin.get(`/api/v1/nodes/${nodeId}`)).json.status).to.equal(wanted);
      const events = await admin.get(`/api/v1/nodes/${nodeId}/status-history?take=1`);
      expect(events.json[0].status).to.equal(wanted);
    }
    // What was written and not answered may be there too, whole; the counts know of it.
    expect(total).to.be.at.least(acknowledged.size);
    const all = await admin.get('/api/v1/reports?take=1');
    expect(all.headers['x-total-count']).to.equal(String(total));
    expect(server.errors).to.deep.equal([]);
    client.close();
  });
});
