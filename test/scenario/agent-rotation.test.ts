// full: SQLite
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { HOUR } from '../../src/lib/clock.ts';
import { type AgentUnderTest, makeAgentOf } from '../support/agent.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, type Hawser, startHawser } from '../support/hawser.ts';
import { rotateAlways } from '../support/rotation.ts';

describe('hawser-agent and its certificate', () => {
  let hawser: Hawser;
  let agent: AgentUnderTest;

  beforeEach(async () => {
    hawser = await startHawser();
    agent = makeAgentOf(hawser, {
      REGISTRATION_KEY: await createKey(hawser.admin, { maxUses: 1 }),
    });
  });
  afterEach(async () => {
    agent.remove();
    await hawser.close();
  });

  const read = (name: string) => readFileSync(join(agent.stateDir, name), 'utf8');
  const certificate = () => new X509Certificate(read('identity.pem'));
  const thumbprint = () => certificate().fingerprint256.replaceAll(':', '');
  const known = async () => (await hawser.admin.get(`/api/v1/nodes/${agent.nodeId()}`)).json.certificate;
  const identity = () => ({ cert: read('identity.pem'), key: read('identity.pem') });
  const nextIdentity = async () => {
    const { cert, key } = await makeClientCertificate({ commonName: 'agent-01.example.org' });
    writeFileSync(join(agent.stateDir, 'next-identity.pem'), cert + key, { mode: 0o600 });
    return { cert, key };
  };
  const announce = async (next: string) => {
    const path = `/api/v1/nodes/${agent.nodeId()}/rotate-certificate`;
    const reply = await hawser.client(identity()).post(path, { certificate: next });
    expect(reply.status, reply.text).to.equal(200);
  };
  const expectSettled = async () => {
    expect(existsSync(join(agent.stateDir, 'next-identity.pem'))).to.equal(false);
    expect(await known()).to.include({ thumbprint: thumbprint(), pendingThumbprint: null });
  };

  it('rotates when the server wants it, and goes on with the new one', async () => {
    await agent.cycle();
    const first = thumbprint();
    await rotateAlways(hawser);
    expect(await agent.cycle()).to.include('certificate rotated');
    expect(thumbprint()).not.to.equal(first);
    await expectSettled();
    await agent.cycle();
    await expectSettled();
  });

  it('gets its certificate from the authority with --csr, and renews it there', async () => {
    await agent.cycle(0, '--csr');
    expect(certificate().issuer).to.equal('CN=Hawser CA');
    const first = thumbprint();
    await expectSettled();
    await agent.cycle(0, '--csr');
    expect(thumbprint(), 'while it is fresh').to.equal(first);
    await rotateAlways(hawser);
    await agent.cycle(0, '--csr');
    expect(thumbprint()).not.to.equal(first);
    expect(certificate().issuer).to.equal('CN=Hawser CA');
    await expectSettled();
  });

  it('stays with the old one while its clock is ahead of the server, and says so', async () => {
    await agent.cycle();
    const old = thumbprint();
    await rotateAlways(hawser);
    hawser.clock.advance(-HOUR);
    const said = await agent.cycle();
    expect(said).to.include('certificate_not_yet_valid').and.to.include('Set the clock that is wrong');
    expect(thumbprint()).to.equal(old);
    await expectSettled();
    hawser.clock.advance(HOUR);
    expect(await agent.cycle()).to.include('certificate rotated');
    await expectSettled();
  });

  it('goes on with the old one when it was killed before the announcement', async () => {
    await agent.cycle();
    const old = thumbprint();
    await nextIdentity();
    expect(await agent.cycle()).to.include('the old one stays');
    expect(thumbprint()).to.equal(old);
    await expectSettled();
  });

  it('goes on with the new one when it was killed after the announcement', async () => {
    await agent.cycle();
    const next = await nextIdentity();
    await announce(next.cert);
    await agent.cycle();
    expect(thumbprint()).to.equal(new X509Certificate(next.cert).fingerprint256.replaceAll(':', ''));
    await expectSettled();
  });

  it('goes on with the new one when it was killed after its first use', async () => {
    await agent.cycle();
    const next = await nextIdentity();
    await announce(next.cert);
    const used = await hawser.client(next).get(`/api/v1/nodes/${agent.nodeId()}/lcm-config`);
    expect(used.status).to.equal(200);
    await agent.cycle();
    await expectSettled();
  });

  it('says what to do when the server knows it no more', async () => {
    await agent.cycle();
    await hawser.admin.delete(`/api/v1/nodes/${agent.nodeId()}`);
    const { code, stdout } = await agent.once();
    expect(code).to.equal(1);
    expect(stdout)
      .to.include('remove the state folder and give a registration key')
      .and.include(`The folder is ${agent.stateDir}`);
    expect(existsSync(join(agent.stateDir, 'identity.pem'))).to.equal(true);
  });
});
