/** The built-in authority, judged by openssl; and certificates of strangers, described without a fall. */

import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { DAY, MINUTE } from '../../../src/lib/clock.ts';
import {
  createAuthority,
  issueNodeCertificate,
  issueServerCertificate,
  type KeyedCertificate,
} from '../../../src/security/certificate-authority.ts';
import { hasNames } from '../../../src/security/certificate-names.ts';
import { describeCertificate, isWithinTerm } from '../../../src/security/certificates.ts';
import { makeClientCertificate } from '../../support/client-certificates.ts';
import { refusalOf } from '../../support/failures.ts';
import { words } from '../../support/words.ts';
import { Workspace } from './openssl.ts';

const NOW = Math.floor(Date.now() / 1000) * 1000;
const P256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];

describe('certificates', () => {
  let space: Workspace;
  let ca: KeyedCertificate;

  before(async () => {
    space = new Workspace();
    ca = await createAuthority(NOW);
    space.write('ca.crt', ca.certificate);
  });

  after(() => space.remove());

  /** A request made by stock openssl. */
  function makeRequest(...key: string[]): string {
    const subject = ['-subj', '/CN=root/O=Somebody else', '-addext', 'subjectAltName=DNS:evil.example'];
    space.openssl('req', '-new', '-nodes', '-keyout', 'r.key', '-out', 'r.csr', ...subject, ...key);
    return space.read('r.csr');
  }

  async function faultOf(csr: string): Promise<string> {
    const refusal = await refusalOf(issueNodeCertificate(ca, csr, 'web-01.example', NOW));
    const { kind, code, message, data } = refusal;
    expect({ kind, code }).to.deep.equal({ kind: 'invalid', code: 'validation_failed' });
    expect(data['errors']).to.deep.equal([{ path: '/csr', code: 'invalid_csr', message }]);
    return message;
  }

  describe('the authority', () => {
    it('is a P-256 root for ten years that may sign leaves only', () => {
      const text = space.openssl('x509', '-in', 'ca.crt', '-noout', '-text');
      expect(text).to.match(/Subject: CN = Hawser CA/);
      expect(text).to.match(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
      expect(text).to.match(/Key Usage: critical\s+Certificate Sign, CRL Sign\n/);
      expect(text)
        .to.match(/Subject Key Identifier/)
        .and.to.match(/NIST CURVE: P-256/);
      expect(describeCertificate(new X509Certificate(ca.certificate)).notAfter).to.equal(NOW + 3650 * DAY);
      expect(space.openssl('verify', '-x509_strict', '-CAfile', 'ca.crt', 'ca.crt')).to.contain('OK');
    });

    it('has a positive serial of up to 128 bits, another one each time', async () => {
      const serials = [ca, await createAuthority(NOW)].map(
        (made) => new X509Certificate(made.certificate).serialNumber,
      );
      expect(serials[0]).to.match(/^[0-9A-F]{20,32}$/);
      expect(serials[0]).to.not.equal(serials[1]);
    });

    it('can certify its key again, so that what it signed stays valid', async () => {
      const server = await issueServerCertificate(ca, ['localhost'], NOW);
      const again = await createAuthority(NOW + MINUTE, ca.key);
      space.write('again.crt', again.certificate);
      space.write('server.crt', server.certificate);
      expect(space.openssl('verify', '-CAfile', 'again.crt', 'server.crt')).to.contain('OK');
    });
  });

  describe("the server's certificate", () => {
    const names = words('localhost 127.0.0.1 ::1 FE80::1 Hawser.Example *.wild.example bücher.example');
    let server: KeyedCertificate;

    before(async () => {
      server = await issueServerCertificate(ca, names, NOW);
      space.write('server.crt', server.certificate);
    });

    it('satisfies openssl as a server, by host name and by address', () => {
      const verify = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', 'ca.crt'];
      for (const name of ['localhost', 'hawser.example', 'a.wild.example', 'xn--bcher-kva.example']) {
        expect(space.openssl(...verify, '-verify_hostname', name, 'server.crt')).to.contain('OK');
      }
      for (const address of ['127.0.0.1', '::1', 'fe80::1']) {
        expect(space.openssl(...verify, '-verify_ip', address, 'server.crt')).to.contain('OK');
      }
      expect(() => space.openssl(...verify, '-verify_hostname', 'other.example', 'server.crt')).to.throw();
      expect(() => space.openssl(...verify, '-verify_ip', '127.0.0.2', 'server.crt')).to.throw();
    });

    it('has its key, 397 days, a start in the past, and names of the right kind', () => {
      const parsed = new X509Certificate(server.certificate);
      expect(parsed.checkPrivateKey(createPrivateKey(server.key))).to.equal(true);
      const { notBefore, notAfter } = describeCertificate(parsed);
      expect([NOW - notBefore, notAfter - NOW]).to.deep.equal([5 * MINUTE, 397 * DAY]);
      expect(parsed.subjectAltName).to.contain('IP Address:127.0.0.1').and.to.contain('DNS:localhost');
      expect(parsed.subjectAltName).to.not.contain('DNS:127.0.0.1').and.to.not.contain('DNS:::1');
      expect(parsed.keyUsage).to.deep.equal(['1.3.6.1.5.5.7.3.1']);
    });

    it('knows its names in any order and any case, and no others', () => {
      expect(hasNames(new X509Certificate(server.certificate), [...names].reverse())).to.equal(true);
      expect(hasNames(new X509Certificate(server.certificate), [...names, 'LOCALHOST'])).to.equal(true);
      expect(hasNames(new X509Certificate(server.certificate), names.slice(1))).to.equal(false);
      expect(hasNames(new X509Certificate(server.certificate), [...names, '10.0.0.1'])).to.equal(false);
      expect(hasNames(new X509Certificate(server.certificate), names.with(-1, '10.0.0.1'))).to.equal(false);
    });

    it('never outlives the authority', async () => {
      const late = NOW + 3640 * DAY;
      const { certificate } = await issueServerCertificate(ca, ['localhost'], late);
      expect(describeCertificate(new X509Certificate(certificate)).notAfter).to.equal(NOW + 3650 * DAY);
    });

    for (const name of ['', 'a b', 'a..b', 'fe80::1%eth0', 'x\ny']) {
      it(`refuses the name ${JSON.stringify(name)}`, async () => {
        const refusal = await refusalOf(issueServerCertificate(ca, [name], NOW));
        expect(refusal.code).to.equal('invalid_tls_name');
      });
    }
  });

  describe("a node's certificate", () => {
    const KEYS: Record<string, string[]> = {
      'RSA-2048': ['-newkey', 'rsa:2048'],
      'RSA-3072 with SHA-512': ['-newkey', 'rsa:3072', '-sha512'],
      'P-256': P256,
      'P-384': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-384', '-sha384'],
      'P-521': ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-521', '-sha512'],
      Ed25519: ['-newkey', 'ed25519'],
    };
    for (const [name, key] of Object.entries(KEYS)) {
      it(`is issued for a ${name} key and satisfies openssl as a client`, async () => {
        const issued = await issueNodeCertificate(ca, makeRequest(...key), 'web-01.example', NOW);
        space.write('node.crt', issued.certificate);
        const verify = ['verify', '-x509_strict', '-purpose', 'sslclient', '-CAfile', 'ca.crt'];
        expect(space.openssl(...verify, 'node.crt')).to.contain('OK');
        const parsed = new X509Certificate(issued.certificate);
        expect(parsed.checkPrivateKey(createPrivateKey(space.read('r.key')))).to.equal(true);
      });
    }

    it('carries the given name alone, whatever the request asks for', async () => {
      const request = makeRequest(...P256);
      const { certificate, ...issued } = await issueNodeCertificate(ca, request, 'web-01.example', NOW);
      const parsed = new X509Certificate(certificate);
      expect(parsed.subject).to.equal('CN=web-01.example');
      expect(parsed.subjectAltName).to.equal('DNS:web-01.example');
      expect(parsed.keyUsage).to.deep.equal(['1.3.6.1.5.5.7.3.2']);
      expect(parsed.ca).to.equal(false);
      expect(issued).to.deep.equal(describeCertificate(parsed));
      expect(issued.notAfter).to.equal(NOW + 90 * DAY);
      expect(issued.thumbprint).to.match(/^[0-9A-F]{64}$/);
    });

    it('takes a name of digits for a name', async () => {
      const { certificate } = await issueNodeCertificate(ca, makeRequest(...P256), '12345', NOW);
      expect(new X509Certificate(certificate).subjectAltName).to.equal('DNS:12345');
    });

    it('does not let a name become another attribute', async () => {
      const { certificate } = await issueNodeCertificate(ca, makeRequest(...P256), 'web-01', NOW);
      expect(new X509Certificate(certificate).subject).to.equal('CN=web-01');
      await refusalOf(issueNodeCertificate(ca, makeRequest(...P256), 'a,O=Admin', NOW));
    });

    it('is refused when the signature is another one', async () => {
      const csr = makeRequest(...P256);
      const der = Buffer.from(csr.replace(/-----[^-]+-----|\s/g, ''), 'base64');
      der[der.indexOf('Somebody')] = 'T'.charCodeAt(0);
      const tampered = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----`;
      expect(await faultOf(tampered)).to.contain('signature');
    });

    it('is refused for weak and unusual keys', async () => {
      expect(await faultOf(makeRequest('-newkey', 'rsa:1024'))).to.contain('1024 bits');
      const exponent = ['-newkey', 'rsa:2048', '-pkeyopt', 'rsa_keygen_pubexp:8589934593'];
      expect(await faultOf(makeRequest(...exponent))).to.contain('exponent');
      const koblitz = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp256k1'];
      expect(await faultOf(makeRequest(...koblitz))).to.contain('curve');
      expect(await faultOf(makeRequest('-newkey', 'ed448'))).to.contain('none of');
    });

    const pem = (body: string) =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${body}\n-----END CERTIFICATE REQUEST-----\n`;
    const GARBAGE: Record<string, () => string> = {
      nothing: () => '',
      'plain text': () => 'let me in',
      'an empty block': () => pem(''),
      'random bytes': () => pem(Buffer.from('no ASN.1 at all').toString('base64')),
      'deep nesting': () => pem(Buffer.from('3080'.repeat(5000), 'hex').toString('base64')),
      'a certificate': () => ca.certificate,
      'a certificate under the label of a request': () =>
        ca.certificate.replaceAll('CERTIFICATE', 'CERTIFICATE REQUEST'),
      'two requests': () => makeRequest(...P256).repeat(2),
      'a public key': () =>
        generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      'more than 16 KiB': () => makeRequest(...P256) + '\n'.repeat(16 * 1024),
    };
    for (const [name, make] of Object.entries(GARBAGE)) {
      it(`is refused for ${name}`, async () => {
        expect(await faultOf(make())).to.match(/^The certificate request is refused: .+\.$/);
      });
    }
  });

  describe('a description', () => {
    function selfSigned(...options: string[]): X509Certificate {
      const request = words('req -x509 -nodes -keyout s.key -out s.crt -days 1');
      space.openssl(...request, ...P256, ...options);
      return new X509Certificate(space.read('s.crt'));
    }

    it('has the thumbprint that openssl prints and the subject in one line, most specific first', () => {
      const certificate = selfSigned('-subj', '/C=DE/O=Example/CN=web-01');
      const printed = space.openssl('x509', '-in', 's.crt', '-noout', '-fingerprint', '-sha256');
      const described = describeCertificate(certificate);
      expect(described.thumbprint).to.equal(printed.trim().replace(/^.*=/, '').replaceAll(':', ''));
      expect(described.subject).to.equal('CN=web-01, O=Example, C=DE');
      expect(described.notAfter - described.notBefore).to.equal(DAY);
    });

    it('keeps odd subjects to one harmless line', () => {
      const subject = '/O=Ex, Inc/OU=\u202Eevil\u2028line/CN=a\nb\tc\u0085"<>;';
      const described = describeCertificate(selfSigned('-utf8', '-subj', subject));
      expect(described.subject).to.not.match(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      expect(described.subject)
        .to.contain('O=Ex\\, Inc')
        .and.to.contain('\\E2\\80\\AEevil')
        .and.to.contain('\\0A');
    });

    it('takes an empty subject and a very long one', () => {
      expect(describeCertificate(selfSigned('-subj', '/')).subject).to.equal('');
      const parts = Array.from({ length: 40 }, (_, index) => `/OU=${index}${'x'.repeat(60)}`);
      expect(describeCertificate(selfSigned('-subj', parts.join(''))).subject).to.have.length(1024);
    });

    it('reads dates outside the usual, and counts unreadable ones as expired', async () => {
      const notAfter = Date.UTC(9999, 11, 31, 23, 59, 59);
      const far = await makeClientCertificate({ commonName: 'x', notAfter });
      expect(describeCertificate(new X509Certificate(far.cert)).notAfter).to.equal(notAfter);
      const term = { validFrom: 'Bad time value', validTo: 'Jan  1 00:00:00 49 GMT' };
      const odd = { fingerprint: 'BB', fingerprint256: 'AA', subject: undefined, ...term };
      const described = describeCertificate(odd as unknown as X509Certificate);
      expect(described.subject).to.equal('');
      expect(described.notBefore).to.equal(0);
      expect(described.notAfter).to.be.lessThan(0);
      expect(isWithinTerm(described, NOW)).to.equal(false);
    });

    it('agrees with the certificates that scenario tests present', async () => {
      for (const rsa of [false, true]) {
        const made = await makeClientCertificate({ commonName: 'web-02', rsa });
        const parsed = new X509Certificate(made.cert);
        expect(describeCertificate(parsed)).to.include({ thumbprint: made.thumbprint, subject: 'CN=web-02' });
        expect(parsed.publicKey.asymmetricKeyType).to.equal(rsa ? 'rsa' : 'ec');
        expect(parsed.checkPrivateKey(createPrivateKey(made.key))).to.equal(true);
      }
    });
  });
});
