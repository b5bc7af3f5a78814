import { expect } from 'chai';
import { type AppOptions, allRoutes } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import type { Route } from '../../src/http/route.ts';
import { DAY } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { Metrics } from '../../src/lib/metrics/metrics.ts';
import type { Client, Reply } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import {
  createKey,
  type Hawser,
  type NodeUnderTest,
  publishConfiguration,
  useHawser,
} from '../support/hawser.ts';

const labelOf = (route: Route): string => `${route.method} ${route.path}`;
/** Only declared, never called: what the routes would work with is not needed. */
const { pull, api } = allRoutes({
  ...{ config: readConfig({}), database: {}, metrics: new Metrics({ version: '', pollPath: '' }) },
  ...{ fleetThreads: {}, clientFiles: new Map() },
} as unknown as AppOptions);
const routes = [...pull, ...api];
const nodeRoutes = routes.filter((route) => route.access.kind.startsWith('node:self'));
/** The metrics have a token of their own, and tests. */
const otherRoutes = routes.filter(({ access: { kind } }) => !/^(?:public|metrics|node:self.*)$/.test(kind));

describe('a node certificate opens the routes of its own node and nothing else', () => {
  const hawser = useHawser();
  let own: NodeUnderTest;
  let other: NodeUnderTest;

  before(async () => {
    own = await hawser.registerNode('own.example.org');
    other = await hawser.registerNode('other.example.org');
    await publishConfiguration(hawser.admin, 'web', { '1.0.0': { 'main.dsc.yaml': 'x' } });
    for (const { nodeId } of [own, other]) {
      const body = { configurationName: 'web' };
      const reply = await hawser.admin.put(`/api/v1/nodes/${nodeId}/configuration`, body);
      expect(reply.status).to.equal(204);
    }
  });

  /** Without a body: who calls is decided before anything is read. */
  const send = (client: Client, route: Route, nodeId: string): Promise<Reply> =>
    client.call(route.method, pathOf(route, nodeId));

  it('covers the routes that there are', () => {
    expect(nodeRoutes.map(labelOf)).to.include('GET /api/v1/nodes/{nodeId}/configuration/bundle');
    expect(otherRoutes.length).to.be.greaterThan(10);
  });

  for (const route of nodeRoutes) {
    describe(labelOf(route), () => {
      it('lets the node itself pass', async () => {
        expect((await send(own.client, route, own.nodeId)).status).to.be.oneOf([200, 201, 204, 400, 415]);
      });

      it('answers 403 to the certificate of another node', async () => {
        expectRefusal(await send(other.client, route, own.nodeId), 403);
      });

      it('answers 403 to any other id: unknown, no UUID, upper case, empty-handed tricks', async () => {
        const ids = [
          newId(),
          'own.example.org',
          '1',
          '%2e%2e',
          '%00',
          `${own.nodeId}%20`,
          own.nodeId.slice(1),
        ];
        for (const id of [...ids, own.nodeId.toUpperCase()])
          expectRefusal(await send(own.client, route, id), 403);
      });

      it('answers 401 and closes: no certificate, an unregistered one', async () => {
        expectRefusal(await send(hawser.client(), route, own.nodeId), 401);
        const identity = await makeClientCertificate({ commonName: 'own.example.org' });
        expectRefusal(await send(hawser.client(identity), route, own.nodeId), 401);
      });

      it('answers 401 and closes: a registered certificate once it has expired', async () => {
        const brief = await registerBriefly(hawser);
        expect((await send(brief.client, route, brief.nodeId)).status).to.not.equal(401);
        hawser.clock.advance(2 * DAY);
        expectRefusal(await send(brief.client, route, brief.nodeId), 401);
      });

      it('lets no other credential stand for the certificate', async () => {
        const bad = own.client.with({ Authorization: 'Bearer pat_wrong' });
        expect((await send(bad, route, own.nodeId)).status).to.equal(401);
        if (route.access.kind === 'node:self')
          expectRefusal(await send(hawser.admin, route, own.nodeId), 403);
      });
    });
  }

  for (const route of otherRoutes) {
    it(`answers 403 to a node on ${labelOf(route)}`, async () => {
      expectRefusal(await send(own.client, route, own.nodeId), 403);
      const nobody = await send(hawser.client(), route, own.nodeId);
      // Git asks without credentials first, every time, and then again over the same connection.
      if (route.caller === 'git') expect(nobody.status).to.equal(401);
      else expectRefusal(nobody, 401);
    });
  }

  it('is not fooled by a certificate that says the same of itself', async () => {
    const twin = await makeClientCertificate({ commonName: own.fqdn });
    const path = `/api/v1/nodes/${own.nodeId}/configuration/checksum`;
    expectRefusal(await hawser.client(twin).get(path), 401);
    // Nor by headers in which proxies pass certificates on.
    const headers = {
      'X-Client-Cert': encodeURIComponent(own.identity.cert),
      'X-ARR-ClientCert': own.identity.cert.replaceAll(/-----[^-]+-----|\n/g, ''),
      'X-SSL-Client-Fingerprint': own.identity.thumbprint,
    };
    expectRefusal(await hawser.client().get(path, headers), 401);
  });
});

describe('a node that is deleted', () => {
  const hawser = useHawser();

  it('is known no more, on an open connection too, and holds up nobody else', async () => {
    const node = await hawser.registerNode('deleted.example.org');
    const own = await hawser.registerNode('kept.example.org');
    const path = `/api/v1/nodes/${node.nodeId}/configuration/checksum`;
    expect((await node.client.get(path)).status).to.equal(404);
    expect((await hawser.admin.delete(`/api/v1/nodes/${node.nodeId}`)).status).to.equal(204);
    expectRefusal(await node.client.get(path), 401);
    // Its last call was noted and never written, as there is no row for it any more; others' are.
    await own.client.get(`/api/v1/nodes/${own.nodeId}/configuration/checksum`);
    await hawser.restart();
    expect((await hawser.admin.get(`/api/v1/nodes/${own.nodeId}`)).json.lastCheckIn).to.be.a('string');
    expect(hawser.log()).to.not.include('check-ins could not be written');
  });
});

function pathOf(route: Route, nodeId: string): string {
  return route.path.replace(/\{\*?(\w+)\}/g, (_, name: string) => (name === 'nodeId' ? nodeId : newId()));
}

async function registerBriefly(hawser: Hawser): Promise<{ nodeId: string; client: Client }> {
  const identity = await makeClientCertificate({
    commonName: 'brief',
    notAfter: hawser.clock.now() + DAY,
  });
  const client = hawser.client(identity);
  const registrationKey = await createKey(hawser.admin);
  const fqdn = `brief-${newId()}.example.org`;
  const reply = await client.post('/api/v1/nodes/register', { registrationKey, fqdn });
  expect(reply.status).to.equal(200);
  return { nodeId: reply.json.nodeId, client };
}

function expectRefusal(reply: Reply, status: 401 | 403): void {
  expect(reply.status).to.equal(status);
  expect(reply.headers['content-type']).to.match(/^application\/problem\+json/);
  expect(reply.json).to.include({ status, code: status === 401 ? 'unauthenticated' : 'forbidden' });
  if (status === 403) return;
  expect(reply.headers['www-authenticate']).to.be.a('string');
  expect(reply.headers['connection']).to.equal('close');
}
