import { execFileSync } from 'node:child_process';
import { expect } from 'chai';
import { shellJoin } from '../../../src/api/registration-keys/join-shell.ts';
import { Joining, type JoinShell } from '../../../src/api/registration-keys/joining.ts';
import { readConfig } from '../../../src/config.ts';
import type { HawserError } from '../../../src/lib/errors.ts';
import { sha256Hex } from '../../../src/lib/hash.ts';
import { createAuthority } from '../../../src/security/certificate-authority.ts';

const DIGEST = sha256Hex('the agent');
const PUBLIC = { HAWSER_PUBLIC_URL: 'https://hawser.example.org' };

const PLAIN = { HAWSER_ENV: 'development', HAWSER_PUBLIC_URL: 'http://localhost:8080' };
/** A terminal may take no more in one line. */
const LONGEST = 4_095;
const ASKED = 'localhost:8443';

describe('the line that joins a machine, by the settings', () => {
  const joiningBy = async (settings: Record<string, string>, more: object = {}) => {
    const authority = await createAuthority(Date.now());
    const clientFiles = { get: () => ({ digest: DIGEST }) };
    return new Joining({
      config: readConfig(settings),
      ...{ authority, issuesCertificates: true, clientFiles, ...more },
    });
  };
  const lineBy = async (settings: Record<string, string>) =>
    (await joiningBy(settings)).commandFor('reg_key');
  const refusal = (joining: Joining, shell: JoinShell = 'sh') => {
    try {
      joining.lineFor('reg_key', shell, ASKED);
      return null;
    } catch (error) {
      expect(error).to.include({ kind: 'conflict', code: 'no_join_line' });
      return (error as HawserError).message;
    }
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

  it('is not made without TLS, the agent, or certificates of the built-in authority, and the refusal says what to do', async () => {
    const plain = await joiningBy(PLAIN);
    expect(plain.commandFor('reg_key')).to.equal(null);
    expect(refusal(plain)).to.match(/without TLS.* Set HAWSER_PUBLIC_URL/);
    const unbuilt = await joiningBy(PUBLIC, { clientFiles: { get: () => undefined } });
    expect(unbuilt.commandFor('reg_key')).to.equal(null);
    expect(refusal(unbuilt)).to.include('npm run build');
    expect(refusal(unbuilt, 'powershell')).to.equal(null);
    const foreign = await joiningBy(PUBLIC, { issuesCertificates: false });
    expect(foreign.commandFor('reg_key')).to.equal(null);
    expect(refusal(foreign)).to.include('HAWSER_NODE_CA');
  });

  it('has the address by which it was asked for where no other is known, with the port of the nodes', async () => {
    const joining = await joiningBy({ HAWSER_PORT: '8443', HAWSER_UI_PORT: '9443' });
    expect(joining.commandFor('reg_key')).to.equal(null);
    for (const asked of [ASKED, 'localhost:9443']) {
      const { line, script } = joining.lineFor('reg_key', 'sh', asked);
      for (const text of [line, script])
        expect(text).to.include("'https://localhost:8443'").and.include('HAWSER_PUBLIC_URL is not set');
    }
    expect(() => joining.lineFor('reg_key', 'sh', 'a b')).to.throw('HAWSER_PUBLIC_URL');
    const untrusted = await joiningBy({ HAWSER_TLS: 'off' });
    expect(refusal(untrusted)).to.include('without TLS');
    const behind = await joiningBy({ HAWSER_TLS: 'off', HAWSER_TRUSTED_PROXIES: '127.0.0.1' });
    expect(behind.lineFor('reg_key', 'sh', 'hawser.example.org').line).to.include(
      "'https://hawser.example.org' 'system'",
    );
  });

  it('is short enough for a terminal, also with a long name and the note', async () => {
    const joining = await joiningBy({});
    const asked = `${'a'.repeat(63)}.${'b'.repeat(30)}.example.org:8443`;
    expect(joining.lineFor(`reg_${'k'.repeat(43)}`, 'sh', asked).line).to.have.length.below(LONGEST);
  });

  it('gives the program what it was made with, whatever a name looks like', () => {
    const server = "https://it's-$(id)`id`.example.org";
    const given = { server, trust: 'system', digest: DIGEST, note: "it's $HOME", signers: null };
    const { line } = shellJoin(given, 'reg_$KEY');
    const shown = `node() { printf '%s\\n' "$HAWSER_AGENT_REGISTRATION_KEY" "$3" "$4" "$5" "$6"; }; ${line}`;
    const words = execFileSync('sh', ['-c', shown], { encoding: 'utf8' }).split('\n');
    expect(words).to.deep.equal(['reg_$KEY', server, 'system', DIGEST, "it's $HOME", '']);
  });

  it('has the signers in base64 behind the note, also without one', () => {
    const given = { server: 'https://hawser.example.org', trust: 'system', digest: DIGEST, note: null };
    const { line, script } = shellJoin({ ...given, signers: 'ada ssh-ed25519 x\n' }, 'reg_KEY');
    expect(line).to.match(/ '' 'YWRhIHNzaC1lZDI1NTE5IHgK'$/);
    expect(script).to.include(" '' 'YWRhIHNzaC1lZDI1NTE5IHgK'\n");
    expect(shellJoin({ ...given, signers: null }, 'reg_KEY').line).to.not.include('--signers');
  });
});
