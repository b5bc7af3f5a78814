// full: SQLite
import { expect } from 'chai';
import type { Route } from '../../src/http/route.ts';
import { DAY } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import type { Client, Reply } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, type Hawser, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { addressOf, declaredRoutes } from '../support/routes.ts';
import { started } from '../support/started.ts';

/** Who else is refused by every route, test/scenario/access.test.ts has. */
describe('a node certificate opens the routes of its own node', () => {
  const hawser = started(startHawser);
  let own: NodeUnderTest;
  let routes: Route[];

  before(async () => {
    own = await hawser.registerNode('own.example.org');
    routes = (await declaredRoutes()).filter(({ access }) => access.kind.startsWith('node:self'));
    expect(routes).to.have.length.greaterThan(5);
  });

  /** Without a body: who calls is decided before anything is read. */
  const send = (client: Client, route: Route, nodeId: string): Promise<Reply> =>
    client.call(route.method, addressOf(route, { nodeId }));

  it('and no other id: unknown, no UUID, in upper case, nor empty-handed tricks', async () => {
    const ids = [newId(), 'own.example.org', '1', '%2e%2e', '%00', `${own.nodeId}%20`, own.nodeId.slice(1)];
    for (const route of routes)
      for (const id of [...ids, own.nodeId.toUpperCase()])
        expectRefusal(await send(own.client, route, id), 403, route);
  });

  it('until it has expired: then they answer 401 and close', async () => {
    for (const route of routes) {
      const brief = await registerBriefly(hawser);
      expect((await send(brief.client, route, brief.nodeId)).status).to.not.equal(401);
      hawser.clock.advance(2 * DAY);
      expectRefusal(await send(brief.client, route, brief.nodeId), 401, route);
    }
  });

  it('some of which are for nobody else, also not for an administrator', async () => {
    const others = routes.filter(({ access }) => access.kind === 'node:self');
    expect(others).to.not.have.length(0);
    for (const route of others) expectRefusal(await send(hawser.admin, route, own.nodeId), 403, route);
  });

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
  const hawser = started(startHawser);

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
    expect(hawser.log()).to.not.include('"level":"error"');
  });
});

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

function expectRefusal(reply: Reply, status: 401 | 403, route?: Route): void {
  expect(reply.status, route?.id).to.equal(status);
  expect(reply.headers['content-type']).to.match(/^application\/problem\+json/);
  expect(reply.json).to.include({ status, code: status === 401 ? 'unauthenticated' : 'forbidden' });
  if (status === 403) return;
  expect(reply.headers['www-authenticate']).to.be.a('string');
  expect(reply.headers['connection']).to.equal('close');
}
