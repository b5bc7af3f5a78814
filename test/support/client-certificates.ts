/** Makes client certificates for scenario tests, self-signed like those that an agent makes for itself. */

import '../../src/lib/reflect.ts';
import { webcrypto, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { DAY, HOUR } from '../../src/lib/clock.ts';

export interface ClientCertificate {
  cert: string;
  key: string;
  /** The SHA-256 in 64 upper-case hexadecimal digits. */
  thumbprint: string;
}

export interface ClientCertificateOptions {
  commonName: string;
  /** In epoch milliseconds; by default from an hour ago until 90 days from now. */
  notBefore?: number;
  notAfter?: number;
  /** Uses RSA-2048 like the OpenDSC agent (slow to make) instead of P-256. */
  rsa?: boolean;
}

const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
  hash: 'SHA-256',
};

export async function makeClientCertificate(options: ClientCertificateOptions): Promise<ClientCertificate> {
  const algorithm = options.rsa ? RSA : EC;
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: new x509.Name([{ CN: [{ utf8String: options.commonName }] }]),
    notBefore: new Date(options.notBefore ?? Date.now() - HOUR),
    notAfter: new Date(options.notAfter ?? Date.now() + 90 * DAY),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
    ],
  });
  const cert = `${certificate.toString('pem').trim()}\n`;
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return {
    cert,
    key: x509.PemConverter.encode(der, 'PRIVATE KEY'),
    thumbprint: new X509Certificate(cert).fingerprint256.replaceAll(':', ''),
  };
}
