/** Thousands of client certificates, quickly: one key pair, and one certificate of which all others are copies. */

import { createPrivateKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { type ClientCertificate, makeClientCertificate } from '../../test/support/client-certificates.ts';

const NAME = 'crowd-00000';

/**
 * Certificates that differ in their names alone, each signed by itself. To the server they are as good as any: it knows a
 * node by its certificate's fingerprint, and the handshake proves that the key is held.
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

/** RFC 5280, 4.1: what is signed, how, and the signature; the first two stay as long as they were. */
function renamed(model: Buffer, name: string, key: KeyObject): Buffer {
  const signedStart = contentStart(model, 0);
  const algorithmStart = elementEnd(model, signedStart);
  const algorithm = model.subarray(algorithmStart, elementEnd(model, algorithmStart));
  const text = model.subarray(signedStart, algorithmStart).toString('latin1');
  const signed = Buffer.from(text.replaceAll(NAME, name), 'latin1');
  const signature = sign('sha256', signed, key);
  const bits = Buffer.concat([Buffer.of(3, signature.length + 1, 0), signature]);
  const content = Buffer.concat([signed, algorithm, bits]);
  // With 256 bytes or more, the length takes two.
  const head = Buffer.of(0x30, 0x82, content.length >> 8, content.length & 0xff);
  return Buffer.concat([head, content]);
}

/** DER: a tag, then a length below 128, or how many bytes of length follow. */
function contentStart(bytes: Buffer, at: number): number {
  const first = bytes[at + 1] ?? 0;
  return at + 2 + (first < 0x80 ? 0 : first - 0x80);
}

function elementEnd(bytes: Buffer, at: number): number {
  const start = contentStart(bytes, at);
  const lengthBytes = start - at - 2;
  return start + (lengthBytes === 0 ? (bytes[at + 1] ?? 0) : bytes.readUIntBE(at + 2, lengthBytes));
}
