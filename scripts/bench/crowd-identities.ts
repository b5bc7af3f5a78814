/** Makes thousands of client certificates quickly. They share one key pair, and all are copies of one certificate. */

import { createPrivateKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { type ClientCertificate, makeClientCertificate } from '../../test/support/client-certificates.ts';

const NAME = 'crowd-00000';

/**
 * The certificates differ only in their names, and each is self-signed. The server accepts them like any others: it
 * knows a node by its certificate's fingerprint, and the handshake proves that the client has the key.
 */
export async function makeCrowdIdentities(count: number): Promise<ClientCertificate[]> {
  const model = await makeClientCertificate({ commonName: NAME });
  const { raw } = new X509Certificate(model.cert);
  const key = createPrivateKey(model.key);
  return Array.from({ length: count }, (_, at) => {
    const certificate = new X509Certificate(
      renamed(raw, `crowd-${String(at).padStart(NAME.length - 6, '0')}`, key),
    );
    const thumbprint = certificate.fingerprint256.replaceAll(':', '');
    return { cert: certificate.toString(), key: model.key, thumbprint };
  });
}

/**
 * RFC 5280, section 4.1: a certificate is the signed part, the algorithm and the signature. The first two keep their
 * length.
 */
function renamed(model: Buffer, name: string, key: KeyObject): Buffer {
  const signedStart = contentStart(model, 0);
  const algorithmStart = elementEnd(model, signedStart);
  const algorithm = model.subarray(algorithmStart, elementEnd(model, algorithmStart));
  const text = model.subarray(signedStart, algorithmStart).toString('latin1');
  const signed = Buffer.from(text.replaceAll(NAME, name), 'latin1');
  const signature = sign('sha256', signed, key);
  const bits = Buffer.concat([Buffer.of(3, signature.length + 1, 0), signature]);
  const content = Buffer.concat([signed, algorithm, bits]);
  // A length of 256 bytes or more is encoded in two bytes.
  const head = Buffer.of(0x30, 0x82, content.length >> 8, content.length & 0xff);
  return Buffer.concat([head, content]);
}

/** DER: a tag, and then either a length below 128, or the number of the length bytes that follow. */
function contentStart(bytes: Buffer, at: number): number {
  const first = bytes[at + 1] ?? 0;
  return at + 2 + (first < 0x80 ? 0 : first - 0x80);
}

function elementEnd(bytes: Buffer, at: number): number {
  const start = contentStart(bytes, at);
  const lengthBytes = start - at - 2;
  return start + (lengthBytes === 0 ? (bytes[at + 1] ?? 0) : bytes.readUIntBE(at + 2, lengthBytes));
}
