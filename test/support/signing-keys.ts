/** The keys that hand-made issuers of tokens sign with, and the ways to sign badly. */

import { createHmac, randomUUID, webcrypto } from 'node:crypto';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK } from 'jose';

/** Algorithms that keys can be made for, with what WebCrypto wants to be told for each. */
const ALGORITHMS = {
  RS256: { name: 'RSASSA-PKCS1-v1_5' },
  PS256: { name: 'RSA-PSS', saltLength: 32 },
  ES256: { name: 'ECDSA', hash: 'SHA-256' },
} as const;

export type Algorithm = keyof typeof ALGORITHMS;

/**
 * - own: the published key
 * - other: a key that is not published, under the name of the published one
 * - none: `alg` is `none`, and the signature is empty
 * - hmac: HS256 with the client secret
 * - hmac-by-public-key: HS256 with the text of the public key, which everybody can read
 */
export type SignWith = 'own' | 'other' | 'none' | 'hmac' | 'hmac-by-public-key';

export type Payload = Record<string, unknown>;

export interface Signing {
  signWith?: SignWith | undefined;
  /** Laid over the honest header. A member that is undefined is left out. */
  header?: Record<string, unknown> | undefined;
  /** Of the client, for `hmac`. */
  secret?: string;
  /** Changes the payload once it is signed. */
  alter?: ((payload: Payload) => Payload) | undefined;
}

interface Pair {
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

export class SigningKeys {
  readonly algorithm: Algorithm;
  /** The name of the key that is published now. */
  keyId = randomUUID();
  private own: Pair;
  private other: Promise<Pair> | null = null;

  private constructor(algorithm: Algorithm, own: Pair) {
    this.algorithm = algorithm;
    this.own = own;
  }

  static async make(algorithm: Algorithm = 'RS256'): Promise<SigningKeys> {
    return new SigningKeys(algorithm, await generateKeyPair(algorithm));
  }

  /** What the issuer publishes: the one key that it has now. */
  async published(): Promise<{ keys: JWK[] }> {
    const jwk = await exportJWK(this.own.publicKey);
    return { keys: [{ ...jwk, kid: this.keyId, alg: this.algorithm, use: 'sig' }] };
  }

  /** A new key with a new name takes the place of the old one. */
  async rotate(): Promise<void> {
    this.own = await generateKeyPair(this.algorithm);
    this.keyId = randomUUID();
  }

  /** @returns a token in the compact form of JWS. Members of the payload that are undefined are left out. */
  async sign(payload: Payload, signing: Signing = {}): Promise<string> {
    const { signWith = 'own', header = {}, secret = '', alter } = signing;
    const alg = algorithmOf(signWith) ?? this.algorithm;
    const head = encode({ alg, typ: 'JWT', kid: this.keyId, ...header });
    const signature = await this.signatureOf(`${head}.${encode(payload)}`, signWith, secret);
    return `${head}.${encode(alter?.(payload) ?? payload)}.${Buffer.from(signature).toString('base64url')}`;
  }

  /** jose refuses to sign under a header that does not fit the key, so the bytes are signed here. */
  private async signatureOf(text: string, signWith: SignWith, secret: string): Promise<Uint8Array> {
    if (signWith === 'none') return new Uint8Array();
    if (signWith === 'hmac') return createHmac('sha256', secret).update(text).digest();
    if (signWith === 'hmac-by-public-key') {
      return createHmac('sha256', await exportSPKI(this.own.publicKey))
        .update(text)
        .digest();
    }
    const { privateKey } = signWith === 'own' ? this.own : await this.foreign();
    const signature = await webcrypto.subtle.sign(
      ALGORITHMS[this.algorithm],
      privateKey as webcrypto.CryptoKey,
      Buffer.from(text),
    );
    return new Uint8Array(signature);
  }

  /** It is made when it is first needed, because a pair of keys takes a while. */
  private foreign(): Promise<Pair> {
    this.other ??= generateKeyPair(this.algorithm);
    return this.other;
  }
}

function algorithmOf(signWith: SignWith): string | null {
  if (signWith === 'none') return 'none';
  return signWith.startsWith('hmac') ? 'HS256' : null;
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
