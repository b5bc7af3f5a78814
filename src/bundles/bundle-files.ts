/**
 * Bundles that are too large for memory, each in a file of its own. A file is unlinked as soon as it is made, so the
 * system deletes it with its last reader, or with the process, however that ends.
 */

import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { errnoOf } from '../git/disk-errors.ts';
import { firstIndex } from '../lib/binary-search.ts';
import { type CacheFacts, CountedCache } from '../lib/counted-cache.ts';
import { diskFault } from '../lib/disk-faults.ts';
import { FileSeal } from '../lib/sealed-text.ts';

/** Bytes that are read at a time. */
const PIECE = 64 * 1024;

export interface BundleFilesOptions {
  /** The folder, which no other server uses. It is made with the first file. */
  folder: string;
  /** Bytes of files that are kept for later requests. Files that are being read may come on top. */
  maxBytes: number;
  /** This is `open` of `node:fs/promises`; tests put another in its place. */
  openFile?: typeof open;
}

/** The folder of the files, within the data folder. */
export function bundleFolder(dataDir: string): string {
  return join(dataDir, 'bundles');
}

/** Deletes files that a killed server left behind. It must be called before any such file is made. */
export async function sweepBundleFiles(dataDir: string): Promise<void> {
  await rm(bundleFolder(dataDir), { recursive: true, force: true });
}

export class BundleFiles {
  private readonly folder: string;
  private readonly maxBytes: number;
  private readonly openFile: typeof open;
  private readonly files = new Set<BundleFile>();
  private readonly kept: CountedCache<BundleFile>;

  constructor({ folder, maxBytes, openFile = open }: BundleFilesOptions) {
    this.folder = folder;
    this.maxBytes = maxBytes;
    this.openFile = openFile;
    this.kept = new CountedCache({
      maxSize: Math.max(1, maxBytes),
      sizeCalculation: (file) => file.length,
      dispose: (file) => void file.release(),
    });
  }

  get facts(): CacheFacts {
    return this.kept.facts;
  }

  /**
   * Makes an empty file. The caller holds it, and must release it or pass it to `keep`.
   * @param isSecret whether it is encrypted, by a key that is in the memory of this process alone
   * @throws HawserError storage_full, unavailable
   */
  async create(isSecret = false): Promise<BundleFile> {
    return guard(async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      const path = join(this.folder, randomUUID());
      const handle = await this.openFile(path, 'wx+', 0o600);
      const file = new BundleFile(handle, isSecret ? new FileSeal() : null, () => this.files.delete(file));
      this.files.add(file);
      await unlink(path).catch(async (error) => {
        await file.release();
        throw error;
      });
      return file;
    });
  }

  /** The file under this name, if it is kept. */
  get(name: string): BundleFile | undefined {
    return this.kept.has(name) ? this.kept.get(name) : undefined;
  }

  /** Takes a file over from its maker. A file larger than the whole budget is deleted with its last reader. */
  keep(name: string, file: BundleFile): void {
    if (file.length > this.maxBytes) void file.release();
    else this.kept.set(name, file);
  }

  /** Closes all files, also those that are being read. */
  async close(): Promise<void> {
    await Promise.all([...this.files].map((file) => file.close()));
  }
}

/** A file that is written once and then read by any number of readers at a time. */
export class BundleFile {
  length = 0;
  private readonly handle: FileHandle;
  private readonly seal: FileSeal | null;
  /** Where each encrypted piece begins, without what encryption adds. */
  private readonly starts: number[] = [];
  private readonly onClosed: () => void;
  private holders = 1;

  constructor(handle: FileHandle, seal: FileSeal | null, onClosed: () => void) {
    this.handle = handle;
    this.seal = seal;
    this.onClosed = onClosed;
  }

  /** @throws HawserError storage_full, unavailable */
  async append(bytes: Buffer): Promise<void> {
    if (this.seal) return this.appendSealed(bytes, this.seal);
    await guard(() => this.handle.appendFile(bytes));
    this.length += bytes.length;
  }

  private async appendSealed(bytes: Buffer, seal: FileSeal): Promise<void> {
    for (let at = 0; at < bytes.length; at += PIECE) {
      const piece = bytes.subarray(at, at + PIECE);
      await guard(() => this.handle.appendFile(seal.seal(piece, this.starts.length)));
      this.starts.push(this.length);
      this.length += piece.length;
    }
  }

  /**
   * What the file has now. This is not a `ReadStream`, because one that is destroyed closes the file for all other readers
   * too.
   */
  open(from = 0): Readable {
    const pieces = this.seal ? this.sealedPieces(from, this.seal) : this.pieces(from);
    return Readable.from(pieces, { objectMode: false, highWaterMark: PIECE });
  }

  private async *pieces(from: number): AsyncGenerator<Buffer> {
    for (let at = from; at < this.length; ) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE, this.length - at));
      const { bytesRead } = await this.handle.read(piece, 0, piece.length, at);
      if (bytesRead === 0) throw new Error('a file of a bundle is shorter than it was');
      at += bytesRead;
      yield piece.subarray(0, bytesRead);
    }
  }

  private async *sealedPieces(from: number, seal: FileSeal): AsyncGenerator<Buffer> {
    const first = firstIndex(this.starts, (start) => start > from) - 1;
    for (let number = Math.max(0, first); number < this.starts.length; number += 1) {
      const start = this.starts[number] as number;
      const sealed = Buffer.alloc((this.starts[number + 1] ?? this.length) - start + FileSeal.overhead);
      const { bytesRead } = await this.handle.read(
        sealed,
        0,
        sealed.length,
        start + number * FileSeal.overhead,
      );
      if (bytesRead < sealed.length) throw new Error('a file of a bundle is shorter than it was');
      const piece = seal.open(sealed, number).subarray(Math.max(0, from - start));
      if (piece.length > 0) yield piece;
    }
  }

  /** Keeps the file until the signal is aborted. */
  holdUntil(over: AbortSignal): void {
    if (over.aborted) return;
    this.holders += 1;
    over.addEventListener('abort', () => void this.release(), { once: true });
  }

  async release(): Promise<void> {
    this.holders -= 1;
    if (this.holders === 0) await this.close();
  }

  async close(): Promise<void> {
    this.onClosed();
    // The file is deleted anyway, so a failure to close it loses nothing.
    await this.handle.close().catch(() => undefined);
  }
}

async function guard<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw diskFault(errnoOf(error), error) ?? error;
  }
}
