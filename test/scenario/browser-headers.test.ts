// everyday: SQLite
import { expect } from 'chai';
import type { Reply } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import {
  ADMIN_PASSWORD,
  createKey,
  type NodeUnderTest,
  publishConfiguration,
  startHawser,
} from '../support/hawser.ts';
import { started } from '../support/started.ts';

const NO_DOCUMENT = "default-src 'none'; frame-ancestors 'none'";

describe('what answers tell browsers', () => {
  const hawser = started(startHawser);
  let node: NodeUnderTest;

  before(async () => {
    node = await hawser.registerNode('web-01.example.org');
    await publishConfiguration(hawser.admin, 'web', {
      '1.0.0': { 'main.dsc.yaml': 'parameters: {}', 'page.html': '<script>alert(1)</script>' },
    });
    await hawser.admin.put(`/api/v1/nodes/${node.nodeId}/configuration`, { configurationName: 'web' });
  });

  const expectEverywhere = ({ headers }: Reply, name: string) => {
    expect(headers['x-content-type-options'], name).to.equal('nosniff');
    expect(headers['strict-transport-security'], name).to.equal('max-age=31536000');
  };

  it('is to come by TLS, to guess no type, to show no frame and to run nothing, whatever the answer', async () => {
    const fresh = await hawser.admin.get('/api/v1/settings');
    const answers: Record<string, Reply> = {
      list: await hawser.admin.get('/api/v1/nodes'),
      resource: fresh,
      'not modified': await hawser.admin.get('/api/v1/settings', {
        'If-None-Match': String(fresh.headers['etag']),
      }),
      'nobody signed in': await hawser.client().get('/api/v1/nodes'),
      'not there': await hawser.client().get('/nothing'),
      'wrong method': await hawser.client().call('DELETE', '/health'),
      options: await hawser.client().call('OPTIONS', '/health'),
      health: await hawser.client().get('/health'),
      'redirect without a session': await hawser.client().get('/api/v1/auth/logout-redirect'),
      'in a browser': await hawser.client().get('/api/v1/nodes', { Accept: 'text/html,*/*;q=0.8' }),
    };
    for (const [name, reply] of Object.entries(answers)) {
      expectEverywhere(reply, name);
      expect(reply.headers['content-security-policy'], name).to.equal(NO_DOCUMENT);
      expect(reply.headers['x-frame-options'], name).to.equal('DENY');
    }
  });

  it('is the same on what nodes poll, but for what concerns documents alone', async () => {
    const path = `/api/v1/nodes/${node.nodeId}/configuration/checksum`;
    const poll = await node.client.get(path);
    expect(poll.status).to.equal(200);
    const steady = await node.client.get(path, { 'If-None-Match': String(poll.headers['etag']) });
    expect(steady.status).to.equal(304);
    for (const reply of [poll, steady]) {
      expectEverywhere(reply, path);
      expect(reply.headers).to.not.have.any.keys('content-security-policy', 'x-frame-options');
    }
    expectEverywhere(await node.client.get(path.replace('checksum', 'bundle')), 'bundle');
  });

  it('leaves an uploaded page without any rights', async () => {
    const reply = await hawser.admin.get('/api/v1/configurations/web/versions/1.0.0/files/page.html');
    expectEverywhere(reply, 'file');
    expect(String(reply.headers['content-security-policy']).split('; ')).to.have.members([
      ...["default-src 'none'", 'sandbox', "frame-ancestors 'none'"],
    ]);
    expect(reply.headers['content-disposition']).to.equal('attachment');
  });

  it('is to store nothing of what carries a credential', async () => {
    const credentials = { username: 'admin', password: ADMIN_PASSWORD };
    const session = hawser.client().with({ Cookie: hawser.session });
    const identity = await makeClientCertificate({ commonName: 'web-02.example.org' });
    const registrationKey = await createKey(hawser.admin);
    const answers: Record<string, Reply> = {
      'sign-in': await hawser.client().post('/api/v1/auth/login', credentials),
      'sign-in by form': await hawser.client().call('POST', '/login', {
        body: String(new URLSearchParams(credentials)),
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      }),
      'sign-in page': await session.get('/login'),
      token: await session.post('/api/v1/auth/tokens', { name: 'x', scopes: [] }),
      'registration key': await hawser.admin.post('/api/v1/admin/registration-keys', {}),
      registration: await hawser
        .client(identity)
        .post('/api/v1/nodes/register', { registrationKey, fqdn: 'web-02.example.org' }),
    };
    for (const [name, reply] of Object.entries(answers)) {
      expect(reply.status, `${name}: ${reply.text}`).to.be.lessThan(400);
      expect(reply.headers['cache-control'], name).to.equal('no-store');
    }
  });
});
