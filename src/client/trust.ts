/** How a client recognises its server. */

import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { SECOND } from '../lib/clock.ts';
import { Unreachable } from './errors.ts';
import { describeFailure, hostOf, portOf } from './network.ts';

export type Trust =
  /** The authorities that Node knows vouch for it. */
  | { kind: 'system' }
  /** These authorities alone vouch for it. They are in PEM. */
  | { kind: 'authority'; pem: string }
  /** It has this very certificate, which is in PEM, whatever names are in it. */
  | { kind: 'certificate'; pem: string };

const PATIENCE = 20 * SECOND;
const FINGERPRINT = /^[0-9a-f]{64}$/;
const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Brings a SHA-256 to lower-case hex without colons. @returns null if it is none */
export function readFingerprint(text: string): string | null {
  const plain = text.trim().replaceAll(':', '').toLowerCase();
  return FINGERPRINT.test(plain) ? plain : null;
}

/** Whether the text holds certificates in PEM, and nothing that cannot be read. */
export function isCertificates(pem: string): boolean {
  try {
    return splitCertificates(pem).length > 0;
  } catch {
    return false;
  }
}

/** Without it the environment could switch the check off (NODE_TLS_REJECT_UNAUTHORIZED). */
export const VERIFIED = { rejectUnauthorized: true };

/** What these are for the connection to the server. */
export function tlsOptions(trust: Trust): ConnectionOptions {
  if (trust.kind === 'system') return VERIFIED;
  // The authority may be one that another has signed.
  const options = { ...VERIFIED, ca: trust.pem, allowPartialTrustChain: true };
  if (trust.kind === 'authority') return options;
  const pinned = new X509Certificate(trust.pem);
  return {
    ...options,
    checkServerIdentity: (_host, presented) =>
      presented.raw.equals(pinned.raw)
        ? undefined
        : new Error("the server's certificate is not the pinned one"),
  };
}

/**
 * Finds the certificate with this fingerprint: the server's own, or that of its authority, which the server presents or
 * hands out. The connection for it proves nothing yet, so nothing secret goes over it; the certificate that was found
 * must prove each later connection.
 * @param fingerprint as `readFingerprint` gives it
 * @throws Unreachable
 */
export async function trustByFingerprint(url: URL, fingerprint: string): Promise<Trust> {
  const matches = (certificate: X509Certificate) =>
    readFingerprint(certificate.fingerprint256) === fingerprint;
  const [own, ...above] = await presentedBy(url);
  if (own !== undefined && matches(own)) return { kind: 'certificate', pem: own.toString() };
  const authorities = above.some(matches) ? above : await handedOutBy(url);
  const authority = authorities.find(matches);
  if (authority === undefined)
    throw new Unreachable(
      `Neither the certificate of ${url.origin} nor that of its authority has this fingerprint, so the server is not trusted, and nothing secret was sent.`,
    );
  return { kind: 'authority', pem: authority.toString() };
}

/** The server's certificate, and those above it that it presents. */
function presentedBy(url: URL): Promise<X509Certificate[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      ...{ host: hostOf(url), port: portOf(url), rejectUnauthorized: false },
      ...servername(url),
    });
    const fail = (error: Error) => reject(new Unreachable(describeFailure(url, error), { cause: error }));
    socket.setTimeout(PATIENCE, () => socket.destroy(new Error('it does not answer')));
    socket.once('error', fail);
    socket.once('secureConnect', () => {
      resolve(chainOf(socket));
      socket.destroy();
    });
  });
}

function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next = socket.getPeerCertificate(true);
  // The last one, if it has signed itself, is its own issuer.
  while (next?.raw !== undefined && !chain.some(({ raw }) => raw.equals(next.raw))) {
    chain.push(new X509Certificate(next.raw));
    next = next.issuerCertificate;
  }
  return chain;
}

/** Servers with the built-in authority do not present it, but hand it out to everybody. */
function handedOutBy(url: URL): Promise<X509Certificate[]> {
  return new Promise((resolve, reject) => {
    const outgoing = request(new URL('/api/v1/ca.pem', url), {
      ...{ rejectUnauthorized: false, agent: false, timeout: PATIENCE },
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error('it does not answer')));
    outgoing.once('error', (error) => reject(new Unreachable(describeFailure(url, error), { cause: error })));
    outgoing.once('response', (incoming) => {
      buffer(incoming)
        .then((body) => resolve(incoming.statusCode === 200 ? splitCertificates(body.toString()) : []))
        .catch(() => resolve([]));
    });
    outgoing.end();
  });
}

/** The certificates in a text of PEM, in their order. @throws the error of Node for one that cannot be read */
export function splitCertificates(pem: string): X509Certificate[] {
  return (pem.match(PEM) ?? []).map((block) => new X509Certificate(block));
}

/** An address of numbers is no name that TLS could ask for. */
function servername(url: URL): { servername?: string } {
  return /^[\d.]+$|^\[/.test(url.hostname) ? {} : { servername: url.hostname };
}
