/** Size and hash of blobs, kept by their ids: what is asked of each file of a version that is looked at. */

import pLimit from 'p-limit';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { hashInBlocks } from '../lib/hash.ts';
import type { BlobInfo } from './types.ts';

/** About what an entry takes: two ids as text, a number, and the cache's own. */
const ENTRY_BYTES = 400;
/** A version may have thousands of files, all asked for at once. */
const CONCURRENT_READS = 8;

export class BlobInfos {
  private readonly reads = pLimit(CONCURRENT_READS);
  private readonly infos: CountedCache<BlobInfo>;

  constructor(cacheBytes: number) {
    this.infos = new CountedCache({ max: Math.max(1, Math.floor(cacheBytes / ENTRY_BYTES)) });
  }

  get facts(): CacheFacts {
    return { ...this.infos.facts, bytes: this.infos.size * ENTRY_BYTES };
  }

  async of(oid: string, read: () => Promise<Buffer>): Promise<BlobInfo> {
    const known = this.infos.get(oid);
    if (known) return known;
    const content = await this.reads(read);
    const info = { size: content.byteLength, sha256: await hashInBlocks('sha256', content) };
    this.infos.set(oid, info);
    return info;
  }
}
