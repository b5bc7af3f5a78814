/**
 * ZIPs of files by checksum, within a budget of bytes. Small ones are in memory, larger ones in files. Callers that ask at
 * the same time share one build, which reads the files one by one and gives others their turn in between.
 */

import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import type { PieceByPiece } from '../http/answer.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { Pace } from '../lib/pace.ts';
import type { BundleEntry } from '../resolve/manifest-maker.ts';
import type { BundleFile, BundleFiles } from './bundle-files.ts';
import { writeZip } from './bundle-zip.ts';

/** What a bundle is made of. */
export interface BundleSource {
  /** Names the content. Two sources of the same checksum make the same bytes. */
  checksum: string;
  /** Whether secrets are in it in the clear. A file of it is encrypted. */
  hasSecrets?: boolean;
  /** The files in their final order. Called only when the bundle has to be made. */
  files(): Promise<Iterable<BundleEntry>>;
}

export interface Bundle {
  length: number;
  /** The bytes, or a file that is opened for each reader. */
  body: Buffer | PieceByPiece;
  /** The `Repr-Digest` of the bytes (RFC 9530). */
  digest: string;
}

export interface BundleCacheOptions {
  /** The memory for finished bundles. A bundle of more than an eighth of it, or of 8 MiB, becomes a file. */
  maxBytes: number;
  files: BundleFiles;
  /** Is told how long each bundle took to build, and how many bytes it has. */
  onBuilt(milliseconds: number, bytes: number): void;
}

/** The share of the memory, and the bytes, that one bundle may take. A larger one would push out too many others. */
const SHARE = 1 / 8;
const MAX_IN_MEMORY = 8 * 1024 * 1024;
/** Each build holds one file of a version, and one share of the memory at most. */
const BUILDS_AT_ONCE = 4;
/** Bytes that are written to a file at a time. */
const WRITE = 256 * 1024;

interface Build {
  bundle: Promise<Bundle>;
  /** The exchanges that wait for it. If it becomes a file, each of them holds the file until it is over. */
  waiters: AbortSignal[];
}

interface MadeBundle {
  bundle: Bundle;
  /** Null means that it is in memory. */
  file: BundleFile | null;
}

export class BundleCache {
  private readonly files: BundleFiles;
  private readonly onBuilt: BundleCacheOptions['onBuilt'];
  private readonly share: number;
  private readonly memory: CountedCache<Bundle>;
  private readonly filed = new WeakMap<BundleFile, Bundle>();
  private readonly building = new Map<string, Build>();
  private readonly builds = pLimit(BUILDS_AT_ONCE);

  constructor({ maxBytes, files, onBuilt }: BundleCacheOptions) {
    this.files = files;
    this.onBuilt = onBuilt;
    this.share = Math.min(maxBytes * SHARE, MAX_IN_MEMORY);
    this.memory = new CountedCache({ maxSize: maxBytes, sizeCalculation: ({ length }) => length + 200 });
  }

  get facts(): CacheFacts {
    return this.memory.facts;
  }

  /** The bundle, if it is in memory. */
  peek({ checksum }: BundleSource): Bundle | undefined {
    return this.memory.get(checksum);
  }

  /**
   * Gets a bundle that is not in memory.
   * @param over is aborted when the bundle is no longer used
   * @throws HawserError `repository_damaged` if a blob is missing, so that no bundle is ever incomplete; storage_full
   */
  get(source: BundleSource, over: AbortSignal): Awaitable<Bundle> {
    const { checksum } = source;
    const file = this.files.get(checksum);
    const kept = file && this.filed.get(file);
    if (file && kept) {
      file.holdUntil(over);
      return kept;
    }
    const running = this.building.get(checksum);
    if (running) {
      running.waiters.push(over);
      return running.bundle;
    }
    const waiters = [over];
    const bundle = this.builds(() => this.build(source, waiters));
    this.building.set(checksum, { bundle, waiters });
    return bundle;
  }

  private async build(source: BundleSource, waiters: readonly AbortSignal[]): Promise<Bundle> {
    const start = performance.now();
    const builder = new BundleBuilder(this.share, () => this.files.create(source.hasSecrets));
    try {
      const pace = new Pace();
      for await (const piece of writeZip(await source.files())) {
        await builder.add(piece);
        if (pace.isDue) await pace.rest();
      }
      const made = await builder.finish();
      this.keep(source.checksum, made, waiters);
      this.onBuilt(performance.now() - start, made.bundle.length);
      return made.bundle;
    } catch (error) {
      await builder.abandon();
      throw error;
    } finally {
      // No `await` comes between `keep` and this, so nobody can join the waiters after they were served.
      this.building.delete(source.checksum);
    }
  }

  private keep(checksum: string, { bundle, file }: MadeBundle, waiters: readonly AbortSignal[]): void {
    if (file === null) this.memory.set(checksum, bundle);
    else {
      for (const over of waiters) file.holdUntil(over);
      this.filed.set(file, bundle);
      this.files.keep(checksum, file);
    }
  }
}

/** A bundle that is being built. It is in memory until it is larger than the share. */
class BundleBuilder {
  private readonly share: number;
  private readonly createFile: () => Promise<BundleFile>;
  private readonly hash = createHash('sha256');
  /** The bytes that were not written to a file yet. */
  private pieces: Buffer[] = [];
  private gathered = 0;
  private file: BundleFile | null = null;

  constructor(share: number, createFile: () => Promise<BundleFile>) {
    this.share = share;
    this.createFile = createFile;
  }

  async add(piece: Buffer): Promise<void> {
    this.hash.update(piece);
    this.pieces.push(piece);
    this.gathered += piece.length;
    if (this.gathered <= (this.file ? WRITE : this.share)) return;
    this.file ??= await this.createFile();
    await this.file.append(this.take());
  }

  async finish(): Promise<MadeBundle> {
    const { file } = this;
    const rest = this.take();
    await file?.append(rest);
    const body = file ?? rest;
    const digest = `sha-256=:${this.hash.digest('base64')}:`;
    return { bundle: { length: body.length, body, digest }, file };
  }

  async abandon(): Promise<void> {
    await this.file?.release();
  }

  private take(): Buffer {
    const bytes = Buffer.concat(this.pieces);
    this.pieces = [];
    this.gathered = 0;
    return bytes;
  }
}
