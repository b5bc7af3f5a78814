// full: SQLite
import { expect } from 'chai';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, type Hawser, type NodeUnderTest, startHawser } from '../support/hawser.ts';
import { announce, call, rotate, withCertificate } from '../support/rotation.ts';
import { OpensslAuthority, type Pair, Workspace } from '../unit/tls/openssl.ts';

function makeRequest(space: Workspace): { csr: string; key: string } {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', 'next.key'];
  space.openssl('req', '-new', ...key, '-out', 'next.csr', '-subj', '/CN=somebody.else');
  return { csr: space.read('next.csr'), key: space.read('next.key') };
}

const identityOf = (pair: Pair): NodeUnderTest['identity'] => ({ ...pair, thumbprint: '' });

describe('a node rotates with a certificate signing request', () => {
  let hawser: Hawser;
  let space: Workspace;

  before(async () => {
    space = new Workspace();
    hawser = await startHawser();
  });
  after(async () => {
    space.remove();
    await hawser.close();
  });

  it('gets a certificate of its own name from the built-in authority, and comes in with it', async () => {
    const node = await hawser.registerNode('web-01.example.org');
    const { csr, key } = makeRequest(space);
    const reply = await rotate(node, { csr });
    expect(reply.status).to.equal(200);
    expect(reply.json).to.have.all.keys('message', 'certificate');
    space.write('ca.crt', hawser.target().ca);
    space.write('next.crt', reply.json.certificate);
    expect(space.openssl('verify', '-CAfile', 'ca.crt', '-purpose', 'sslclient', 'next.crt')).to.match(/OK/);
    expect(await call(node)).to.equal(200);
    const next = withCertificate(hawser, node, identityOf({ cert: reply.json.certificate, key }));
    expect(await call(next)).to.equal(200);
    expect(await call(node)).to.equal(401);
    const { certificate } = (await hawser.admin.get(`/api/v1/nodes/${node.nodeId}`)).json;
    expect(certificate).to.include({ subject: 'CN=web-01.example.org', pendingThumbprint: null });
    expect(hawser.log()).to.not.include(key.slice(40, 80));
  });
});

describe('with a node CA of the operator, a node rotates to certificates of it alone', () => {
  let hawser: Hawser;
  let space: Workspace;
  let authority: OpensslAuthority;
  let node: NodeUnderTest;
  let nodes = 0;

  before(async () => {
    space = new Workspace();
    authority = new OpensslAuthority(space);
    hawser = await startHawser({ HAWSER_NODE_CA: space.file('ca.crt') });
  });
  after(async () => {
    await hawser.close();
    space.remove();
  });

  beforeEach(async () => {
    nodes += 1;
    const fqdn = `web-${nodes}.example.org`;
    const identity = identityOf(authority.issue());
    const client = hawser.client(identity);
    const registrationKey = await createKey(hawser.admin);
    const reply = await client.post('/api/v1/nodes/register', { registrationKey, fqdn });
    node = { nodeId: reply.json.nodeId, fqdn, identity, client };
    expect(await call(node)).to.equal(200);
  });

  it('takes one of the authority, announced or in PEM', async () => {
    const first = withCertificate(hawser, node, identityOf(authority.issue()));
    expect((await rotate(node, announce(first.identity))).status).to.equal(200);
    expect(await call(first)).to.equal(200);
    expect(await call(node)).to.equal(401);
    const second = withCertificate(hawser, node, identityOf(authority.issue()));
    expect((await rotate(first, { certificate: second.identity.cert })).status).to.equal(200);
    expect(await call(second)).to.equal(200);
    expect(await call(first)).to.equal(401);
  });

  it('refuses another in PEM at once, and when it comes if it was only announced', async () => {
    const identity = await makeClientCertificate({ commonName: node.fqdn });
    const stray = withCertificate(hawser, node, identity);
    const reply = await rotate(node, { certificate: identity.cert });
    expect(`${reply.status} ${reply.json.code}`).to.equal('403 certificate_not_trusted');
    expect((await rotate(node, announce(identity))).status).to.equal(200);
    expect(await call(stray)).to.equal(401);
    expect(await call(node)).to.equal(200);
  });

  it('refuses one for servers, and refuses to issue any', async () => {
    const reply = await rotate(node, { certificate: authority.issue('server').cert });
    expect(reply.json.code).to.equal('certificate_not_trusted');
    const { csr } = makeRequest(space);
    const refused = await rotate(node, { csr });
    expect(`${refused.status} ${refused.json.code}`).to.equal('400 client_certificate_required');
    expect(await call(node)).to.equal(200);
  });
});
