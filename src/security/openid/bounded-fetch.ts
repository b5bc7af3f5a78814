/** Asks an identity provider: with its own authorities, within some time, and without reading more than a little. */

import { SECOND } from '../../lib/clock.ts';

/** An answer of a provider is a few kilobytes. */
const MOST_BYTES = 1024 * 1024;
const PATIENCE = 10 * SECOND;

export type Fetch = (url: string | URL, options?: RequestInit) => Promise<Response>;

/** A provider that cannot be reached, or whose answer makes no sense. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway';
}

/**
 * Makes a function that works as `fetch`, but follows no redirects: what leads elsewhere would get the secret.
 * @param ca the authorities as PEM; null for those of Node.js
 * @returns a function that throws ProviderAway
 */
export async function boundedFetch(ca: string | null): Promise<Fetch> {
  // It is loaded only where somebody signs in by a provider. In the build it has no other export than this.
  const { Agent, fetch } = (await import('undici')).default;
  const dispatcher = new Agent({
    // Without `rejectUnauthorized` the environment could switch the check off (NODE_TLS_REJECT_UNAUTHORIZED).
    connect: { timeout: PATIENCE, rejectUnauthorized: true, ...(ca !== null && { ca }) },
    keepAliveTimeout: SECOND,
  });
  return async (url, options = {}) => {
    const signals = [AbortSignal.timeout(PATIENCE), ...(options.signal ? [options.signal] : [])];
    const asked = { ...options, redirect: 'manual', signal: AbortSignal.any(signals), dispatcher };
    try {
      const { status, headers, body } = await fetch(url, asked as Parameters<typeof fetch>[1]);
      const bytes = await readBody(body ?? []);
      if (status >= 500 || (status >= 300 && status < 400)) throw new Error(`It answers ${status}`);
      // All that is asked for is JSON.
      if (status < 300 && !isJson(bytes)) throw new Error('The answer is not JSON');
      // A body is not allowed with some statuses, not even an empty one.
      return new Response(bytes.length === 0 ? null : bytes, { status, headers: [...headers] });
    } catch (cause) {
      throw new ProviderAway('The provider cannot be asked', { cause });
    }
  };
}

async function readBody(body: AsyncIterable<Uint8Array> | readonly []): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) throw new Error('The answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The error of JSON.parse is not passed on: it repeats a part of the text, which may be that of a token. */
function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
