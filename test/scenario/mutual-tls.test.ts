// full: SQLite
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:tls';
import { expect } from 'chai';
import { readConfig } from '../../src/config.ts';
import { DAY } from '../../src/lib/clock.ts';
import { createLog } from '../../src/lib/log.ts';
import { startServer } from '../../src/server.ts';
import type { Client, Reply } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { databaseSettings } from '../support/engine.ts';
import { createKey, type Hawser, startHawser, TestClock } from '../support/hawser.ts';
import { readMetrics, sumOf } from '../support/prometheus.ts';
import { expectProblem } from '../support/replies.ts';
import { OpensslAuthority, type Pair, Workspace } from '../unit/tls/openssl.ts';

const REGISTER = '/api/v1/nodes/register';
const METRICS_TOKEN = 'the-token-that-opens-the-metrics';

interface RegisteredNode {
  pair: Pair;
  client: Client;
  path: string;
}

describe('with a node CA of the operator, certificates must chain to it', () => {
  let hawser: Hawser;
  let space: Workspace;
  let otherSpace: Workspace;
  let authority: OpensslAuthority;
  let key: string;

  before(async () => {
    space = new Workspace();
    otherSpace = new Workspace();
    authority = new OpensslAuthority(space);
    authority.crl();
    hawser = await startHawser({
      HAWSER_NODE_CA: space.file('ca.crt'),
      HAWSER_NODE_CRL: space.file('crl.pem'),
      HAWSER_METRICS_TOKEN: METRICS_TOKEN,
    });
    key = await createKey(hawser.admin, { allowReregistration: true });
  });

  after(async () => {
    await hawser.close();
    space.remove();
    otherSpace.remove();
  });

  const register = (pair: Pair, fqdn: string, more: Record<string, unknown> = {}): Promise<Reply> =>
    hawser.client(pair).post(REGISTER, { registrationKey: key, fqdn, ...more });

  async function registered(fqdn: string): Promise<RegisteredNode> {
    const pair = authority.issue();
    const reply = await register(pair, fqdn);
    expect(reply.status, reply.text).to.equal(200);
    const path = `/api/v1/nodes/${reply.json.nodeId}/configuration/checksum`;
    return { pair, client: hawser.client(pair), path };
  }

  const metric = async (name: string) => sumOf(await readMetrics(hawser, METRICS_TOKEN), name);

  it('registers and serves a node whose certificate does', async () => {
    const { client, path } = await registered('web-01.example.org');
    expect((await client.get(path)).json.code).to.equal('no_configuration_assigned');
  });

  it('refuses to register others: self-signed, of another CA of the same name, for servers, revoked', async () => {
    const impostor = new OpensslAuthority(otherSpace);
    const revoked = authority.issue();
    authority.revoke(revoked);
    authority.crl();
    await hawser.server.reloadTls();
    const identities: Record<string, Pair> = {
      'self-signed': await makeClientCertificate({ commonName: 'web' }),
      impostor: impostor.issue(),
      'for servers': authority.issue('server'),
      revoked,
    };
    for (const [fault, pair] of Object.entries(identities)) {
      const reply = await register(pair, 'refused.example.org');
      expect(`${fault}: ${reply.status} ${reply.json.code}`).to.equal(
        `${fault}: 403 certificate_not_trusted`,
      );
    }
    expect((await hawser.admin.get('/api/v1/nodes?fqdn=refused')).json).to.deep.equal([]);
  });

  it('still says certificate_expired, certificate_not_yet_valid and client_certificate_required where that is the fault', async () => {
    const expired = authority.issue('client', '-startdate', '20200101000000Z', '-enddate', '20200201000000Z');
    expect((await register(expired, 'old.example.org')).json.code).to.equal('certificate_expired');
    const early = authority.issue('client', '-startdate', '20900101000000Z', '-enddate', '20910101000000Z');
    expect((await register(early, 'early.example.org')).json.code).to.equal('certificate_not_yet_valid');
    const bare = await hawser.client().post(REGISTER, { registrationKey: key, fqdn: 'bare.example.org' });
    expect(bare.json.code).to.equal('client_certificate_required');
  });

  it('refuses a csr with a clear answer: what it would issue would be refused at every call', async () => {
    space.openssl(
      'req',
      '-new',
      '-newkey',
      'rsa:2048',
      '-nodes',
      '-keyout',
      'c.key',
      '-out',
      'c.csr',
      '-subj',
      '/CN=c',
    );
    const csr = space.read('c.csr');
    const body = { registrationKey: key, fqdn: 'csr.example.org', csr };
    for (const client of [hawser.client(), hawser.client(authority.issue())]) {
      const reply = await client.post(REGISTER, body);
      expect(reply.json).to.include({ status: 400, code: 'client_certificate_required' });
      expect(reply.json.detail).to.match(/issues no certificates/);
    }
    expect((await hawser.admin.get('/api/v1/nodes?fqdn=csr')).json).to.deep.equal([]);
  });

  it('stops a node once its certificate is on the list, on an open connection too; others go on', async () => {
    const bad = await registered('stolen.example.org');
    const good = await registered('kept.example.org');
    expect((await bad.client.get(bad.path)).status).to.equal(404);
    expect((await good.client.get(good.path)).status).to.equal(404);
    authority.revoke(bad.pair);
    authority.crl();
    expect((await bad.client.get(bad.path)).status).to.equal(404);
    await hawser.server.reloadTls();
    for (const client of [bad.client, hawser.client(bad.pair)]) {
      const reply = await expectProblem(getAgain(client, bad.path), 401, 'certificate_revoked');
      expect(reply.headers['connection']).to.equal('close');
    }
    // Who holds the certificate of no node learns nothing of the list.
    const unknown = authority.issue();
    authority.revoke(unknown);
    authority.crl();
    await hawser.server.reloadTls();
    expect((await hawser.client(unknown).get(bad.path)).json.code).to.equal('unauthenticated');
    expect((await getAgain(good.client, good.path)).status).to.equal(404);
    // It cannot come back under its name either, nor take another.
    expect((await register(bad.pair, 'stolen.example.org')).json.code).to.equal('certificate_not_trusted');
  });

  it('keeps the old list when the new one cannot be read, and says so in the log and the metrics', async () => {
    const node = await registered('steady.example.org');
    const list = space.read('crl.pem');
    writeFileSync(space.file('crl.pem'), 'nothing');
    const before = hawser.log().length;
    await hawser.server.reloadTls();
    expect(hawser.log().slice(before)).to.include('HAWSER_NODE_CRL');
    expect(await metric('hawser_reload_failed')).to.equal(1);
    expect((await node.client.get(node.path)).status).to.equal(404);
    // The list is the same again: nobody has to connect anew.
    writeFileSync(space.file('crl.pem'), list);
    await hawser.server.reloadTls();
    expect(await metric('hawser_reload_failed')).to.equal(0);
  });

  it('says of a list that is overdue that it is, and of when the next one is due in the metrics', async () => {
    const node = await registered('overdue.example.org');
    const due = 'hawser_crl_next_update_timestamp_seconds';
    expect(await metric(due)).to.be.closeTo((Date.now() + 10 * DAY) / 1_000, 600);
    authority.crl('-crl_lastupdate', '20200101000000Z', '-crl_nextupdate', '20210101000000Z');
    await hawser.server.reloadTls();
    expect(await metric(due)).to.equal(Date.parse('2021-01-01T00:00:00Z') / 1_000);
    await expectProblem(getAgain(node.client, node.path), 401, 'crl_expired');
    authority.crl();
    await hawser.server.reloadTls();
    expect((await getAgain(node.client, node.path)).status).to.equal(404);
  });

  it('stops a certificate at its end even while the connection stays', async () => {
    const node = await registered('ending.example.org');
    expect((await node.client.get(node.path)).status).to.equal(404);
    hawser.clock.advance(6 * DAY);
    await expectProblem(node.client.get(node.path), 401, 'unauthenticated');
  });
});

describe('a node CA set later takes in no node that does not chain to it', () => {
  it('answers 401 to a node that had registered with a self-signed certificate', async () => {
    const space = new Workspace();
    new OpensslAuthority(space);
    const folders = { HAWSER_DATA_DIR: space.file('data'), HAWSER_REPOS_DIR: space.file('repos') };
    const before = await startHawser(folders);
    const node = await before.registerNode('web-01.example.org');
    await before.close();
    const hawser = await startHawser({ ...folders, HAWSER_NODE_CA: space.file('ca.crt') });
    try {
      const path = `/api/v1/nodes/${node.nodeId}/configuration/checksum`;
      await expectProblem(hawser.client(node.identity).get(path), 401, 'certificate_untrusted');
    } finally {
      await hawser.close();
      space.remove();
    }
  });
});

describe("the operator's own server certificate", () => {
  it('is served in place of the made one, and a renewed one after a reload', async () => {
    const space = new Workspace();
    const authority = new OpensslAuthority(space);
    const [first, second] = [authority.issue('server'), authority.issue('server')];
    const write = ({ cert, key }: Pair) => ({
      HAWSER_TLS_CERT: space.write('own.crt', cert),
      HAWSER_TLS_KEY: space.write('own.key', key),
    });
    const config = readConfig({
      ...{ HAWSER_HOST: '127.0.0.1', HAWSER_PORT: '0' },
      ...{ HAWSER_DATA_DIR: space.file('data'), HAWSER_REPOS_DIR: space.file('repos') },
      ...(await databaseSettings(space.file('data'))),
      ...write(first),
    });
    const options = { config, clock: new TestClock(), log: createLog('silent') };
    const server = await startServer({ ...options, showFirstPassword: () => undefined });
    try {
      const expectServed = async ({ cert }: Pair) =>
        expect(await servedTo(authority.certificate, server.port)).to.equal(
          new X509Certificate(cert).serialNumber,
        );
      await expectServed(first);
      write(second);
      await server.reloadTls();
      await expectServed(second);
      space.write('own.key', 'nothing');
      await server.reloadTls();
      await expectServed(second);
    } finally {
      await server.close();
      space.remove();
    }
  });
});

/** The serial number of what a client is shown that trusts this authority. The name in it is the test's own. */
async function servedTo(ca: string, port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', ca, checkServerIdentity: () => undefined });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** As HTTP clients do where a kept connection turns out to have ended: over a new one. */
async function getAgain(client: Client, path: string): Promise<Reply> {
  try {
    return await client.get(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    return client.get(path);
  }
}
