import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { Joining, joiningBy } from '../../../src/api/registration-keys/joining.ts';
import { readConfig } from '../../../src/config.ts';
import { sha256Hex } from '../../../src/lib/hash.ts';
import { createAuthority } from '../../../src/security/certificate-authority.ts';

const DIGEST = sha256Hex('the agent');
const PUBLIC = { HAWSER_PUBLIC_URL: 'https://hawser.example.org' };

describe('the line that joins a machine, by the settings', () => {
  const lineBy = async (settings: Record<string, string>, more: object = {}) => {
    const authority = await createAuthority(Date.now());
    const clientFiles = { get: () => ({ digest: DIGEST }) };
    const options = { authority, issuesCertificates: true, clientFiles, ...more };
    return joiningBy({ config: readConfig(settings), ...options })?.commandFor('reg_key') ?? null;
  };

  it('holds a fingerprint where the server makes its own certificate', async () => {
    expect(await lineBy(PUBLIC)).to.match(/ 'https:\/\/hawser\.example\.org' '[0-9a-f]{64}' '[0-9a-f]{64}'$/);
  });

  for (const [name, settings] of Object.entries({
    'the certificate is given': { HAWSER_TLS_CERT: 'own.crt', HAWSER_TLS_KEY: 'own.key' },
    'a proxy ends TLS': { HAWSER_TLS: 'off' },
    'a proxy passes certificates on': { HAWSER_TRUSTED_PROXIES: '10.0.0.1' },
  }))
    it(`holds none where ${name}`, async () => {
      expect(await lineBy({ ...PUBLIC, ...settings })).to.match(/ 'system' '[0-9a-f]{64}'$/);
    });

  it('is not made without an address, TLS, the agent, or certificates of the built-in authority', async () => {
    expect(await lineBy({})).to.equal(null);
    const plain = { HAWSER_ENV: 'development', HAWSER_PUBLIC_URL: 'http://localhost:8080' };
    expect(await lineBy(plain)).to.equal(null);
    expect(await lineBy(PUBLIC, { clientFiles: { get: () => undefined } })).to.equal(null);
    expect(await lineBy(PUBLIC, { issuesCertificates: false })).to.equal(null);
  });

  it('gives the program what it was made with, whatever a name looks like', () => {
    const server = "https://it's-$(id)`id`.example.org";
    const line = new Joining({ server, trust: 'system', digest: DIGEST }).commandFor('reg_$KEY');
    const shown = `node() { printf '%s\\n' "$HAWSER_AGENT_REGISTRATION_KEY" "$3" "$4" "$5"; }; ${line}`;
    const words = execFileSync('sh', ['-c', shown], { encoding: 'utf8' }).split('\n');
    expect(words).to.deep.equal(['reg_$KEY', server, 'system', DIGEST, '']);
  });
});
