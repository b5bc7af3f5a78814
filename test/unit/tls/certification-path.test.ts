// full: SQLite
/** Paths verified by hand, with stock `openssl verify` as the second opinion. */

import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { DAY, HOUR } from '../../../src/lib/clock.ts';
import { PathValidator } from '../../../src/security/certification-path.ts';
import { OpensslAuthority, type Pair, Workspace } from './openssl.ts';

const CLIENT = 'basicConstraints=CA:false\nextendedKeyUsage=clientAuth';
const CA = 'basicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign,cRLSign';
/** Later than all that is made here. */
const NOW = Date.now() + HOUR;

describe('a certificate that a proxy has passed on, under a node CA', () => {
  const spaces: Workspace[] = [];
  let space: Workspace;
  let authority: OpensslAuthority;
  let root: string;

  /** In a folder of its own, which goes at the end. */
  function newAuthority(name?: string): [OpensslAuthority, Workspace] {
    const own = new Workspace();
    spaces.push(own);
    return [new OpensslAuthority(own, name), own];
  }

  before(() => {
    [authority, space] = newAuthority();
    root = authority.certificate;
  });
  after(() => {
    for (const each of spaces) each.remove();
  });

  interface Case {
    leaf: string;
    issuers?: string[];
    authorities?: string;
    crl?: string | null;
    now?: number;
  }

  const parse = (pem: string) => new X509Certificate(pem);

  function isAccepted({ leaf, issuers = [], authorities = root, crl = null, now = NOW }: Case): boolean {
    const validator = new PathValidator({ nodeCa: authorities, nodeCrl: crl });
    return typeof validator.validate(parse(leaf), issuers.map(parse), now) === 'object';
  }

  /** As a handshake would have it. */
  function isAcceptedByOpenssl(each: Case): boolean {
    const { leaf, issuers = [], authorities = root, crl = null, now = NOW } = each;
    const files = { leaf, untrusted: issuers.join(''), anchors: authorities + (crl ?? '') };
    for (const [name, content] of Object.entries(files)) space.write(`${name}.pem`, content);
    const options = ['-purpose', 'sslclient', '-auth_level', '1', '-attime', String(Math.floor(now / 1_000))];
    if (issuers.length > 0) options.push('-untrusted', 'untrusted.pem');
    if (crl !== null) options.push('-crl_check_all');
    try {
      space.openssl('verify', '-CAfile', 'anchors.pem', ...options, 'leaf.pem');
      return true;
    } catch {
      return false;
    }
  }

  function expectBoth(what: string, expected: boolean, each: Case): void {
    expect(isAcceptedByOpenssl(each), `openssl: ${what}`).to.equal(expected);
    expect(isAccepted(each), what).to.equal(expected);
  }

  it('is accepted when the authority has issued it for clients, by way of others too', () => {
    const inner = space.sign('inner', 'ca', CA);
    const lower = space.sign('lower', 'inner', CA);
    const leaf = space.sign('leaf', 'lower', CLIENT);
    expectBoth('directly', true, { leaf: authority.issue().cert });
    expectBoth('any purpose', true, { leaf: space.sign('any', 'ca', 'basicConstraints=CA:false') });
    expectBoth('two between, in any order', true, { leaf, issuers: [inner, lower] });
    const both = inner + root;
    expectBoth('one between is with the authorities', true, { leaf, issuers: [lower], authorities: both });
    expectBoth('strangers along the way', true, { leaf, issuers: [leaf, root, lower, inner] });
    expectBoth('one missing', false, { leaf, issuers: [lower] });
    expectBoth('no root', false, { leaf, issuers: [lower], authorities: inner });
  });

  it('is refused when it is of somebody else, for another purpose, or out of its term', () => {
    const [impostor] = newAuthority();
    const { cert } = impostor.issue();
    expectBoth('another authority of the same name', false, { leaf: cert });
    expectBoth('which comes along', false, { leaf: cert, issuers: [impostor.certificate] });
    expectBoth('for servers', false, { leaf: authority.issue('server').cert });
    expectBoth('for signing only', false, { leaf: space.sign('ku', 'ca', `${CLIENT}\nkeyUsage=cRLSign`) });
    const { cert: leaf } = authority.issue();
    expectBoth('too early', false, { leaf, now: NOW - DAY });
    expectBoth('too late', false, { leaf, now: NOW + 6 * DAY });
    expectBoth('in time', true, { leaf, now: NOW + 4 * DAY });
    expectBoth('weakly signed', false, { leaf: space.sign('sha1', 'ca', CLIENT, '-sha1') });
  });

  it('is refused when one on the way may not issue it', () => {
    const issuers = {
      'no authority': 'basicConstraints=critical,CA:false',
      'no authority says so': 'extendedKeyUsage=clientAuth',
      'may not sign': 'basicConstraints=critical,CA:true\nkeyUsage=critical,cRLSign',
      'for servers alone': `${CA}\nextendedKeyUsage=serverAuth`,
    };
    for (const [what, extensions] of Object.entries(issuers)) {
      const issuer = space.sign('issuer', 'ca', extensions);
      expectBoth(what, false, { leaf: space.sign('under', 'issuer', CLIENT), issuers: [issuer] });
    }
    const short = space.sign('short', 'ca', CA.replace('CA:true', 'CA:true,pathlen:0'));
    const below = space.sign('below', 'short', CA);
    const [one, two] = [space.sign('one', 'short', CLIENT), space.sign('two', 'below', CLIENT)];
    expectBoth('right below a short one', true, { leaf: one, issuers: [short] });
    expectBoth('a step too far below', false, { leaf: two, issuers: [below, short] });
  });

  it('is refused where something is said of it that is not evaluated', () => {
    const constrained = space.sign('named', 'ca', `${CA}\nnameConstraints=permitted;DNS:example.org`);
    expect(isAccepted({ leaf: space.sign('n', 'named', CLIENT), issuers: [constrained] })).to.equal(false);
    const leaf = space.sign('odd', 'ca', `${CLIENT}\n1.2.3.4=critical,ASN1:NULL`);
    expectBoth('an unknown critical extension', false, { leaf });
    const even = space.sign('even', 'ca', `${CLIENT}\n1.2.3.4=ASN1:NULL`);
    expectBoth('the same, not critical', true, { leaf: even });
  });

  describe('with revocation lists', () => {
    let good: Pair;
    let bad: Pair;

    before(() => {
      [good, bad] = [authority.issue(), authority.issue()];
      authority.revoke(bad);
    });

    it('is refused when it is on one, and when there is none in force', () => {
      const crl = authority.crl();
      expectBoth('not on it', true, { leaf: good.cert, crl });
      expectBoth('on it', false, { leaf: bad.cert, crl });
      const brief = authority.crl('-crldays', '1');
      expectBoth('before its end', true, { leaf: good.cert, crl: brief, now: NOW + DAY / 2 });
      expectBoth('after its end', false, { leaf: good.cert, crl: brief, now: NOW + 2 * DAY });
      const [[other], [impostor]] = [newAuthority('Another CA'), newAuthority()];
      expectBoth('of another issuer', false, { leaf: good.cert, crl: other.crl() });
      expectBoth('of another key', false, { leaf: good.cert, crl: impostor.crl() });
      expectBoth('among others', true, { leaf: good.cert, crl: other.crl() + crl });
    });

    it('needs one of every authority on the way', () => {
      const [inner, innerSpace] = newAuthority();
      const issuer = space.sign('issuing', 'ca', CA);
      innerSpace.write('ca.crt', issuer);
      innerSpace.write('ca.key', space.read('issuing.key'));
      const { cert: leaf } = inner.issue();
      const crls = authority.crl() + inner.crl();
      expectBoth('all there', true, { leaf, issuers: [issuer], crl: crls });
      expectBoth("the root's alone", false, { leaf, issuers: [issuer], crl: authority.crl() });
      expectBoth("the lower one's alone", false, { leaf, issuers: [issuer], crl: inner.crl() });
      authority.revoke({ cert: issuer, key: '' });
      const revoked = authority.crl() + inner.crl();
      expectBoth('the lower one revoked', false, { leaf, issuers: [issuer], crl: revoked });
    });

    it('is refused where the list is for a part of the certificates only, or cannot be read', () => {
      space.write(
        'ca.cnf',
        `${space.read('ca.cnf')}\n[partial]\nissuingDistributionPoint=critical,@idp\n[idp]\nonlyuser=TRUE\n`,
      );
      const partial = authority.crl('-crlexts', 'partial');
      expect(isAccepted({ leaf: good.cert, crl: partial })).to.equal(false);
      const broken = '-----BEGIN X509 CRL-----\nMAA=\n-----END X509 CRL-----\n';
      const validator = new PathValidator({ nodeCa: root, nodeCrl: broken });
      expect(validator.isComplete).to.equal(false);
      expect(validator.validate(parse(good.cert), [], NOW)).to.equal('certificate_untrusted');
    });

    it('holds as long as everything that speaks for it', () => {
      const brief = authority.crl('-crldays', '1');
      const validator = new PathValidator({ nodeCa: root, nodeCrl: brief });
      const term = validator.validate(parse(good.cert), [], NOW + 1_000);
      expect(term)
        .to.have.property('notAfter')
        .closeTo(NOW - HOUR + DAY, 5 * 60_000);
      expect(validator.validate(parse(good.cert), [], NOW + 2 * DAY)).to.equal('crl_expired');
      expect(validator.validate(parse(bad.cert), [], NOW)).to.equal('certificate_revoked');
      const unlisted = new PathValidator({ nodeCa: root, nodeCrl: null }).validate(parse(good.cert), [], NOW);
      expect(unlisted).to.have.property('notAfter', Date.parse(parse(good.cert).validTo));
    });
  });

  for (const algorithm of ['rsa', 'rsa-pss', 'ed25519', 'p384'] as const) {
    it(`takes an authority and a list signed with ${algorithm}`, () => {
      const [other, own] = newAuthority(algorithm);
      const keys = {
        rsa: ['rsa:2048'],
        'rsa-pss': ['rsa-pss', '-pkeyopt', 'rsa_keygen_bits:2048'],
        ed25519: ['ed25519'],
        p384: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-384'],
      };
      const files = ['-nodes', '-keyout', 'ca.key', '-out', 'ca.crt'];
      own.openssl('req', '-x509', '-newkey', ...keys[algorithm], ...files, '-subj', '/CN=x', '-days', '30');
      if (algorithm === 'ed25519') own.write('ca.cnf', own.read('ca.cnf').replace('sha256', 'null'));
      const [first, second] = [other.issue(), other.issue()];
      other.revoke(second);
      const both = { authorities: other.certificate, crl: other.crl() };
      expectBoth('good', true, { leaf: first.cert, ...both });
      expectBoth('revoked', false, { leaf: second.cert, ...both });
    });
  }
});
