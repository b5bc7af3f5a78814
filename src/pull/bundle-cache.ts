/** Bundles by checksum, within a budget of bytes; nodes that ask at once share one build. */

import { LRUCache } from 'lru-cache';
import { sha256Base64 } from '../lib/hash.ts';
import type { Manifest } from '../resolve/manifest.ts';
import type { Resolver } from '../resolve/resolver.ts';
import { buildBundle } from './bundle.ts';

export interface Bundle {
  bytes: Buffer;
  /** RFC 9530 `Repr-Digest` of the bytes. */
  digest: string;
}

export class BundleCache {
  private readonly resolver: Resolver;
  private readonly cache: LRUCache<string, Bundle>;
  private readonly building = new Map<string, Promise<Bundle>>();

  /** @param maxBytes budget for finished bundles; a larger one is built anew each time */
  constructor(resolver: Resolver, maxBytes: number) {
    this.resolver = resolver;
    this.cache = new LRUCache({ maxSize: maxBytes, sizeCalculation: (bundle) => bundle.bytes.length + 200 });
  }

  /** @throws HawserError `repository_damaged` when a blob is missing: never a smaller bundle */
  async get(manifest: Manifest): Promise<Bundle> {
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
    const files = await this.resolver.files(manifest);
    const entries = [];
    for (const { path, read } of files) entries.push({ path, content: await read() });
    const bytes = await buildBundle(entries);
    const bundle = { bytes, digest: `sha-256=:${sha256Base64(bytes)}:` };
    this.cache.set(manifest.checksum, bundle);
    return bundle;
  }
}
