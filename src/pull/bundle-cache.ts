/** Bundles by checksum, within a budget of bytes; nodes that ask at once share one build. */

import type { Awaitable } from '../lib/awaitable.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { sha256Base64 } from '../lib/hash.ts';
import type { Manifest } from '../resolve/manifest.ts';
import type { Resolver } from '../resolve/resolver.ts';
import { buildBundle } from './bundle.ts';

export interface Bundle {
  bytes: Buffer;
  /** RFC 9530 `Repr-Digest` of the bytes. */
  digest: string;
}

export interface BundleCacheOptions {
  /** Budget for finished bundles; a larger one is built anew each time. */
  maxBytes: number;
  /** Told of each bundle how long it took to build, and of how many bytes it is. */
  onBuilt(milliseconds: number, bytes: number): void;
}

export class BundleCache {
  private readonly resolver: Resolver;
  private readonly onBuilt: BundleCacheOptions['onBuilt'];
  private readonly cache: CountedCache<Bundle>;
  private readonly building = new Map<string, Promise<Bundle>>();

  constructor(resolver: Resolver, { maxBytes, onBuilt }: BundleCacheOptions) {
    this.resolver = resolver;
    this.onBuilt = onBuilt;
    this.cache = new CountedCache({
      maxSize: maxBytes,
      sizeCalculation: (bundle) => bundle.bytes.length + 200,
    });
  }

  get facts(): CacheFacts {
    return this.cache.facts;
  }

  /** @throws HawserError `repository_damaged` when a blob is missing: never a smaller bundle */
  get(manifest: Manifest): Awaitable<Bundle> {
    const { checksum } = manifest;
    const cached = this.cache.get(checksum);
    if (cached) return cached;
    const running = this.building.get(checksum);
    if (running) return running;
    const build = this.build(manifest).finally(() => this.building.delete(checksum));
    this.building.set(checksum, build);
    return build;
  }

  private async build(manifest: Manifest): Promise<Bundle> {
    const start = performance.now();
    const files = await this.resolver.files(manifest);
    const entries = [];
    for (const { path, read } of files) entries.push({ path, content: await read() });
    const bytes = await buildBundle(entries);
    const bundle = { bytes, digest: `sha-256=:${sha256Base64(bytes)}:` };
    this.cache.set(manifest.checksum, bundle);
    this.onBuilt(performance.now() - start, bytes.length);
    return bundle;
  }
}
