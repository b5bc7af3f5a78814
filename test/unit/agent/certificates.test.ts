import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { isRotationDue, isSelfSigned, makeSelfSigned, termOf } from '../../../src/agent/certificates.ts';
import { DAY, MINUTE } from '../../../src/lib/clock.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const TERM = { notBefore: NOW, notAfter: NOW + 90 * DAY };

describe("the agent's certificate", () => {
  it('is for TLS clients, on a P-256 key, for 90 days, under the name of the machine', async () => {
    const { certificate, key } = await makeSelfSigned('web-01.example.org', NOW);
    const parsed = new X509Certificate(certificate);
    expect(parsed.subject).to.equal('CN=web-01.example.org');
    expect(parsed.keyUsage).to.deep.equal(['1.3.6.1.5.5.7.3.2']);
    expect(parsed.publicKey.asymmetricKeyDetails).to.deep.equal({ namedCurve: 'prime256v1' });
    expect(termOf(certificate)).to.deep.equal({ notBefore: NOW - 5 * MINUTE, notAfter: NOW + 90 * DAY });
    expect(isSelfSigned(certificate)).to.equal(true);
    expect(key).to.match(/^-----BEGIN PRIVATE KEY-----\n/);
  });

  it('is due at two thirds of its life', () => {
    expect(isRotationDue(TERM, null, NOW + 60 * DAY - 1)).to.equal(false);
    expect(isRotationDue(TERM, null, NOW + 60 * DAY)).to.equal(true);
  });

  it('is due earlier where the server wants it, never later', () => {
    expect(isRotationDue(TERM, 30 * DAY, NOW + 30 * DAY)).to.equal(false);
    expect(isRotationDue(TERM, 30 * DAY, NOW + 30 * DAY + 5 * MINUTE)).to.equal(true);
    expect(isRotationDue(TERM, 80 * DAY, NOW + 60 * DAY)).to.equal(true);
  });
});
