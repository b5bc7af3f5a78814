// full: SQLite
import { createHash, X509Certificate } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DAY } from '../../src/lib/clock.ts';
import type { Reply } from '../support/client.ts';
import { makeClientCertificate } from '../support/client-certificates.ts';
import { createKey, type Hawser, startHawser } from '../support/hawser.ts';
import { expectProblem, ok } from '../support/replies.ts';
import { Workspace } from '../unit/tls/openssl.ts';

const REGISTER = '/api/v1/nodes/register';

/** In milliseconds, before a client that was told to come again does so. */
const PAUSE = 100;

const KEYS: Record<string, string[]> = {
  'RSA-2048': ['rsa:2048'],
  'P-256': ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  'P-384': ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
};

describe('a node registers with a certificate signing request', () => {
  let hawser: Hawser;
  let space: Workspace;
  let key: string;

  before(async () => {
    space = new Workspace();
    hawser = await startHawser();
    key = await createKey(hawser.admin);
    space.write('ca.crt', hawser.target().ca);
  });

  after(async () => {
    space.remove();
    await hawser.close();
  });

  /** Made by stock openssl, with a subject that the server must not take over. */
  function makeRequest(name: string, ...keyOptions: string[]): { csr: string; key: string } {
    const key = ['-newkey', ...keyOptions, '-nodes', '-keyout', `${name}.key`];
    space.openssl('req', '-new', ...key, '-out', `${name}.csr`, '-subj', '/CN=somebody.else/O=Admins');
    return { csr: space.read(`${name}.csr`), key: space.read(`${name}.key`) };
  }

  const register = (fqdn: string, csr: unknown, registrationKey = key): Promise<Reply> =>
    hawser.client().post(REGISTER, { registrationKey, fqdn, csr });
  const usesOf = async (secret: string): Promise<number> =>
    (await hawser.admin.get('/api/v1/admin/registration-keys')).json.find((row: { keyPrefix: string }) =>
      secret.startsWith(row.keyPrefix),
    ).currentUses;

  it('gets one for a name with an underscore, which openssl verifies, and polls with it', async () => {
    const { csr, key: privateKey } = makeRequest('underscore', ...(KEYS['P-256'] ?? []));
    const { certificate, nodeId } = await ok(200, register('WIN_APP_01.example.org.', csr));
    expect(new X509Certificate(certificate).subject).to.equal('CN=win_app_01.example.org');
    space.write('underscore.crt', certificate);
    const verdict = space.openssl('verify', '-CAfile', 'ca.crt', '-purpose', 'sslclient', 'underscore.crt');
    expect(verdict).to.equal('underscore.crt: OK\n');
    const client = hawser.client({ cert: certificate, key: privateKey });
    expect((await client.get(`/api/v1/nodes/${nodeId}/lcm-config`)).status).to.equal(200);
  });

  for (const [name, options] of Object.entries(KEYS)) {
    it(`gets a certificate for its ${name} key that openssl verifies, and polls with it`, async () => {
      const fqdn = `${name.toLowerCase()}.example.org`;
      const request = makeRequest(name, ...options);
      const reply = await register(fqdn, request.csr);
      expect(reply.status).to.equal(200);
      expect(reply.json).to.have.all.keys('nodeId', 'certificate', 'caCertificate');
      expect(reply.json.caCertificate).to.equal(hawser.target().ca);
      space.write(`${name}.crt`, reply.json.certificate);
      const verdict = space.openssl('verify', '-CAfile', 'ca.crt', '-purpose', 'sslclient', `${name}.crt`);
      expect(verdict).to.equal(`${name}.crt: OK\n`);
      const certificate = new X509Certificate(reply.json.certificate);
      expect(certificate.subject).to.equal(`CN=${fqdn}`);
      expect(certificate.subjectAltName).to.equal(`DNS:${fqdn}`);
      const client = hawser.client({ cert: reply.json.certificate, key: request.key });
      const poll = await client.get(`/api/v1/nodes/${reply.json.nodeId}/configuration/checksum`);
      expect(poll.json.code).to.equal('no_configuration_assigned');
      const details = (await hawser.admin.get(`/api/v1/nodes/${reply.json.nodeId}`)).json;
      expect(details.certificate.thumbprint).to.equal(
        createHash('sha256').update(certificate.raw).digest('hex').toUpperCase(),
      );
    });
  }

  it('counts a use per node, and answers a known name 409 node_exists, as its certificate is another', async () => {
    const limited = await createKey(hawser.admin, { maxUses: 3 });
    const { csr } = makeRequest('twice', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256');
    expect((await register('twice.example.org', csr, limited)).status).to.equal(200);
    const again = await register('twice.example.org', csr, limited);
    expect(again.json).to.include({ status: 409, code: 'node_exists' });
    expect(await usesOf(limited)).to.equal(1);
  });

  it('lets exactly maxUses of many requests at once succeed', async () => {
    const limited = await createKey(hawser.admin, { maxUses: 3 });
    const { csr } = makeRequest('crowd', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256');
    // The server reads eight bodies at once from an address of callers that it does not know yet. It tells others to come
    // again.
    const registerAgain = async (fqdn: string): Promise<Reply> => {
      const reply = await register(fqdn, csr, limited);
      if (reply.status !== 503) return reply;
      await expectProblem(reply, 503, 'unavailable');
      expect(reply.headers['retry-after']).to.match(/^[1-9]\d*$/);
      await sleep(PAUSE);
      return registerAgain(fqdn);
    };
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, at) => registerAgain(`crowd-${at}.example.org`)),
    );
    const statuses = replies.map((reply) => reply.status).sort();
    expect(statuses).to.deep.equal([...Array(3).fill(200), ...Array(9).fill(403)]);
    expect(await usesOf(limited)).to.equal(3);
    expect((await hawser.admin.get('/api/v1/nodes?fqdn=crowd-')).json.length).to.equal(3);
  });

  it('issues anew under a key with allowReregistration, and ends the certificate before', async () => {
    const allowing = await createKey(hawser.admin, { allowReregistration: true });
    const request = makeRequest('renewed', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256');
    const first = (await register('renewed.example.org', request.csr, allowing)).json;
    const before = hawser.client({ cert: first.certificate, key: request.key });
    const checksum = `/api/v1/nodes/${first.nodeId}/configuration/checksum`;
    expect((await before.get(checksum)).status).to.equal(404);
    const second = (await register('renewed.example.org', request.csr, allowing)).json;
    expect(second.nodeId).to.equal(first.nodeId);
    expect((await before.get(checksum)).status).to.equal(401);
    const renewed = hawser.client({ cert: second.certificate, key: request.key });
    expect((await renewed.get(checksum)).status).to.equal(404);
  });

  it('takes the csr even over a connection whose own certificate has expired', async () => {
    const now = Date.now();
    const identity = await makeClientCertificate({
      commonName: 'old',
      notBefore: now - 2 * DAY,
      notAfter: now - DAY,
    });
    const { csr } = makeRequest('lapsed', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256');
    const body = { registrationKey: key, fqdn: 'lapsed.example.org', csr };
    expect((await hawser.client(identity).post(REGISTER, body)).status).to.equal(200);
  });

  it('refuses requests that are tampered with, broken or weak with 400 validation_failed, counting no use', async () => {
    const limited = await createKey(hawser.admin, { maxUses: 1 });
    const good = makeRequest('good', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256').csr;
    const weak = makeRequest('weak', 'rsa:1024').csr;
    const curve = makeRequest('curve', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1').csr;
    const faulty = {
      tampered: tamper(good),
      truncated: `${good.slice(0, 200)}\n-----END CERTIFICATE REQUEST-----\n`,
      doubled: good + good,
      'a certificate instead': hawser.target().ca,
      garbage: 'let me in',
      empty: '',
      'a weak RSA key': weak,
      'an unusual curve': curve,
    };
    for (const [fault, csr] of Object.entries(faulty)) {
      const reply = await register('faulty.example.org', csr, limited);
      await expectProblem(reply, 400, 'validation_failed: invalid_csr', fault);
    }
    expect(await usesOf(limited)).to.equal(0);
    expect((await hawser.admin.get('/api/v1/nodes?fqdn=faulty')).json).to.deep.equal([]);
  });

  it('looks at the key before it looks at the csr', async () => {
    const reply = await register('faulty.example.org', 'garbage', 'reg_wrong');
    expect(reply.json).to.include({ status: 403, code: 'registration_key_rejected' });
  });

  it('refuses a csr that is no text with 400 validation_failed', async () => {
    const reply = await register('faulty.example.org', { pem: true });
    expect(reply.json).to.include({ status: 400, code: 'validation_failed' });
  });
});

/** Another subject under the same signature. */
function tamper(pem: string): string {
  const der = Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64');
  const at = der.indexOf('somebody.else');
  der.write('SOMEBODY.ELSE', at, 'latin1');
  const lines = der.toString('base64').replace(/(.{64})/g, '$1\n');
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines}\n-----END CERTIFICATE REQUEST-----\n`;
}
