/** What stands under data/tls, first start to last, and the files that settings name. */

import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { chmod, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import { DAY } from '../../../src/lib/clock.ts';
import type { HawserError } from '../../../src/lib/errors.ts';
import { createLog } from '../../../src/lib/log.ts';
import { loadTlsMaterial, type TlsFiles, type TlsMaterial } from '../../../src/security/tls-files.ts';
import { refusalOf } from '../../support/failures.ts';
import { words } from '../../support/words.ts';
import { OpensslAuthority, Workspace } from './openssl.ts';

const NOW = Date.now();
const NO_FILES = {
  certFile: null,
  keyFile: null,
  nodeCaFile: null,
  nodeCrlFile: null,
  sharedAuthority: null,
};

describe('TLS files', () => {
  let space: Workspace;
  let lines: { level: string; msg: string }[];

  beforeEach(() => {
    space = new Workspace();
    lines = [];
  });

  afterEach(() => space.remove());

  function load(changes: Partial<TlsFiles> = {}): Promise<TlsMaterial> {
    const log = createLog('debug', { write: (line) => lines.push(JSON.parse(line)) });
    const given = { dataDir: space.file('data'), isOn: true, names: ['localhost'], now: NOW, log };
    return loadTlsMaterial({ ...NO_FILES, ...given, ...changes });
  }

  async function refusalWith(changes: Partial<TlsFiles> = {}): Promise<HawserError> {
    const error = await refusalOf(load(changes));
    expect(error.message).to.not.contain('\n').and.to.not.contain('-----');
    return error;
  }

  const path = (name: string) => space.file(`data/tls/${name}`);
  const modeOf = async (file: string) => ((await stat(file)).mode & 0o777).toString(8);
  const expectPrivate = async () => {
    const modes = await Promise.all(['', 'ca.key', 'server.key'].map(path).map(modeOf));
    expect(modes).to.deep.equal(['700', '600', '600']);
  };

  describe('of our own making', () => {
    it('are made on the first start, for nobody else to read', async () => {
      const made = await load();
      expect((await readdir(path(''))).sort()).to.deep.equal(words('ca.crt ca.key server.crt server.key'));
      await expectPrivate();
      expect(space.openssl('verify', '-CAfile', path('ca.crt'), path('server.crt'))).to.contain('OK');
      expect([made.nodeCa, made.nodeCrl]).to.deep.equal([null, null]);
      expect(lines.map((line) => line.level)).to.deep.equal(['info', 'info']);
    });

    it('are the same on the next start', async () => {
      expect(await load()).to.deep.equal(await load());
      expect(await load({ now: NOW + 366 * DAY })).to.deep.equal(await load());
    });

    it('renew the server certificate, under the same authority, when its term or its names call for it', async () => {
      const first = await load();
      const [late, early] = [{ now: NOW + 368 * DAY }, { now: NOW - DAY }];
      for (const changes of [late, { names: ['localhost', '10.0.0.1'] }, early]) {
        const next = await load(changes);
        expect(next.ca).to.deep.equal(first.ca);
        expect(next.server?.certificate).to.not.equal(first.server?.certificate);
        expect(next.server?.key).to.not.equal(first.server?.key);
        expect(next).to.deep.equal(await load(changes));
      }
    });

    it('are the authority alone where TLS is off', async () => {
      const { server, ca } = await load({ isOn: false });
      expect(server).to.equal(null);
      expect(ca.certificate).to.contain('BEGIN CERTIFICATE');
      expect(await readdir(path(''))).to.have.members(['ca.crt', 'ca.key']);
    });

    it('repair a start that was cut off at any point', async () => {
      const first = await load();
      // New key written, new certificate not yet.
      const { privateKey } = generateKeyPairSync('ed25519');
      await writeFile(path('server.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const second = await load();
      expect(second.server?.certificate).to.not.equal(first.server?.certificate);
      await unlink(path('server.crt'));
      expect((await load()).server?.certificate).to.not.equal(second.server?.certificate);
      // The authority's key written, its certificate not yet; and a write that never became a file.
      await unlink(path('ca.crt'));
      await writeFile(`${path('ca.crt')}.1234.tmp`, 'half');
      const third = await load();
      expect(third.ca.key).to.equal(first.ca.key);
      const { publicKey } = new X509Certificate(third.ca.certificate);
      expect(new X509Certificate(third.server?.certificate ?? '').verify(publicKey)).to.equal(true);
      expect((await readdir(path(''))).filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
    });

    it('replace a server certificate of another authority', async () => {
      const first = await load();
      await rename(path('ca.crt'), space.file('ca.crt.old'));
      await unlink(path('ca.key'));
      const second = await load();
      expect(second.ca.key).to.not.equal(first.ca.key);
      expect(space.openssl('verify', '-CAfile', path('ca.crt'), path('server.crt'))).to.contain('OK');
    });

    it('replace a server certificate that cannot be read', async () => {
      await load();
      await writeFile(path('server.crt'), 'nonsense');
      expect((await load()).server?.certificate).to.contain('BEGIN CERTIFICATE');
    });

    it('tighten what others could read, and say so', async () => {
      await load();
      for (const name of ['ca.key', 'server.key']) await chmod(path(name), 0o644);
      await chmod(path(''), 0o755);
      lines = [];
      await load();
      await expectPrivate();
      expect(lines.map((line) => line.level)).to.deep.equal(['warn', 'warn', 'warn']);
    });

    it('stop the start rather than lose the authority', async () => {
      await load();
      await rename(path('ca.key'), space.file('kept.key'));
      expect(await refusalWith()).to.include({ kind: 'internal', code: 'tls_files_damaged' });
      const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
      await writeFile(path('ca.key'), other.export({ type: 'pkcs8', format: 'pem' }));
      expect((await refusalWith()).message).to.contain('belongs to another certificate');
      await writeFile(path('ca.key'), 'nonsense');
      expect((await refusalWith()).message).to.contain('cannot be read');
      await rename(space.file('kept.key'), path('ca.key'));
      await load();
    });

    it('call for someone before the authority ends', async () => {
      await load();
      await load({ now: NOW + 3630 * DAY });
      expect(lines.map((line) => line.level)).to.contain('error');
    });
  });

  describe('named by settings', () => {
    function given(name: string, ...options: string[]): { certFile: string; keyFile: string } {
      const key =
        options.length > 0 ? options : ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
      const files = ['-keyout', `${name}.key`, '-out', `${name}.crt`];
      space.openssl('req', '-x509', ...key, ...files, '-subj', '/CN=given', '-days', '9');
      return { certFile: space.file(`${name}.crt`), keyFile: space.file(`${name}.key`) };
    }

    it('are used in place of the made certificate, the authority stays', async () => {
      const material = await load(given('a'));
      const own = { certificate: space.read('a.crt'), key: space.read('a.key') };
      expect(material.server).to.deep.equal(own);
      expect(material.ca.certificate).to.contain('BEGIN CERTIFICATE');
      expect(await readdir(path(''))).to.have.members(['ca.crt', 'ca.key']);
    });

    it('warn when the certificate has expired, or the key is open to all', async () => {
      const files = given('a');
      await chmod(files.keyFile, 0o644);
      await load({ ...files, now: NOW + 10 * DAY });
      expect(lines.filter((line) => line.level === 'warn')).to.have.length(2);
      expect(await modeOf(files.keyFile)).to.equal('644');
    });

    it('are refused by name of the setting', async () => {
      const files = given('a');
      const other = given('b');
      const none = space.file('none');
      const junk = space.write('junk', 'nonsense');
      const broken = space.write('broken', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
      const locked = given('c', '-newkey', 'rsa:2048', '-passout', 'pass:secret');
      const weak = given('d', '-newkey', 'rsa:512', '-nodes');
      const FAULTS: [Partial<TlsFiles>, string, string][] = [
        [{ certFile: files.certFile }, 'HAWSER_TLS_KEY', 'missing'],
        [{ keyFile: files.keyFile }, 'HAWSER_TLS_CERT', 'missing'],
        [{ ...files, certFile: none }, 'HAWSER_TLS_CERT', 'ENOENT'],
        [{ ...files, keyFile: none }, 'HAWSER_TLS_KEY', 'ENOENT'],
        [{ ...files, certFile: junk }, 'HAWSER_TLS_CERT', 'no certificate'],
        [{ ...files, certFile: broken }, 'HAWSER_TLS_CERT', 'cannot be read'],
        [{ ...files, keyFile: junk }, 'HAWSER_TLS_KEY', 'no private key'],
        [{ ...files, keyFile: other.keyFile }, 'HAWSER_TLS_KEY', 'does not belong'],
        [locked, 'HAWSER_TLS_KEY', 'encrypted'],
        [weak, 'HAWSER_TLS_CERT', 'ee key too small'],
      ];
      for (const [changes, setting, fault] of FAULTS) {
        const error = await refusalWith(changes);
        expect(error).to.include({ kind: 'invalid', code: 'invalid_tls_setting' });
        expect(error.message).to.match(new RegExp(`^${setting}: .*${fault}`));
      }
    });

    it('say whom node certificates come from', async () => {
      const authority = new OpensslAuthority(space);
      authority.crl();
      const files = { nodeCaFile: space.file('ca.crt'), nodeCrlFile: space.file('crl.pem') };
      const material = await load(files);
      expect(material).to.include({ nodeCa: space.read('ca.crt'), nodeCrl: space.read('crl.pem') });
      expect(lines.filter((line) => line.level === 'error')).to.have.length(0);
      await load({ ...files, now: NOW + 11 * DAY });
      expect(lines.filter((line) => line.level === 'error')).to.have.length(1);
    });

    it('are refused when they name no authority or no list', async () => {
      const authority = new OpensslAuthority(space);
      const nodeCaFile = space.file('ca.crt');
      const leaf = space.write('leaf.crt', authority.issue().cert);
      const broken = space.write('broken', '-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n');
      const FAULTS: [Partial<TlsFiles>, string, string][] = [
        [{ nodeCaFile: leaf }, 'HAWSER_NODE_CA', 'not one of an authority'],
        [{ nodeCaFile: space.file('none') }, 'HAWSER_NODE_CA', 'ENOENT'],
        [{ nodeCaFile, nodeCrlFile: nodeCaFile }, 'HAWSER_NODE_CRL', 'no revocation list'],
        [{ nodeCaFile, nodeCrlFile: broken }, 'HAWSER_NODE_CRL', 'OpenSSL refuses it'],
        [{ nodeCrlFile: nodeCaFile }, 'HAWSER_NODE_CRL', 'no effect'],
      ];
      for (const [changes, setting, fault] of FAULTS) {
        expect((await refusalWith(changes)).message).to.match(new RegExp(`^${setting}: .*${fault}`));
      }
    });
  });
});
