/**
 * Files of versions for an answer. A large one is read from a file on the disk, one for all who ask, so that who does not
 * read it holds a piece of it in memory at most.
 */

import { EventEmitter, once } from 'node:events';
import type { PieceByPiece } from '../http/answer.ts';
import { LARGE } from '../http/unread-answers.ts';
import { clientGone } from '../lib/client-gone.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import type { BundleFile, BundleFiles } from './bundle-files.ts';

/** Files that are read at once. Each is in memory as a whole until it is known whether it is large. */
const READS = { slots: 8, slotsPerCaller: 2 };
/** More bytes of what is being made wait on the disk. */
const IN_MEMORY = 512 * 1024;

export class LargeFiles {
  private readonly files: BundleFiles;
  private readonly making = new Map<string, Promise<BundleFile>>();
  private readonly reads = new FairQueue(READS);

  constructor(files: BundleFiles) {
    this.files = files;
  }

  /**
   * The content of a blob, for an answer that ends with `over`. What one caller asks for at once is read in turn.
   * @throws HawserError storage_full, unavailable, `client_gone`; what `read` throws
   */
  async bodyOf(
    oid: string,
    read: () => Promise<Buffer>,
    { id, over }: { id: string; over: AbortSignal },
  ): Promise<Buffer | PieceByPiece> {
    const leave = await this.reads.take(id, over);
    try {
      const name = `blob ${oid}`;
      const known = this.files.get(name) ?? (await this.making.get(name));
      if (known) return heldBy(known, over);
      const content = await read();
      if (content.length <= LARGE) return content;
      const making = this.making.get(name) ?? this.make(name, content);
      this.making.set(name, making);
      try {
        return heldBy(await making, over);
      } finally {
        this.making.delete(name);
      }
    } finally {
      leave();
    }
  }

  /**
   * Bytes that are made as soon as the first is asked for, however slowly they are read. Few wait in memory, and many in a
   * file of this reader alone. When the reader ends, `write` throws `client_gone`.
   * @throws HawserError storage_full, unavailable; what `make` throws
   */
  async *keepUntilRead(
    make: (write: (piece: Buffer) => Promise<void>) => Promise<void>,
  ): AsyncGenerator<Buffer> {
    const held: Buffer[] = [];
    let file = null as BundleFile | null;
    let state = 'making' as 'making' | 'made' | 'left';
    const news = new EventEmitter();
    const making = make(async (piece) => {
      if (state === 'left') throw clientGone();
      const bytes = held.reduce((sum, { length }) => sum + length, piece.length);
      if (file === null && bytes <= IN_MEMORY) held.push(piece);
      else {
        file ??= await this.files.create();
        await file.append(piece);
      }
      news.emit('more');
    }).finally(() => {
      if (state === 'making') state = 'made';
      news.emit('more');
    });
    // It may fail while nobody waits for it.
    making.catch(() => undefined);
    try {
      for (let at = 0; ; ) {
        const isLast = state === 'made';
        for (let piece = held.shift(); piece !== undefined; piece = held.shift()) yield piece;
        for await (const piece of file?.open(at) ?? []) {
          at += piece.length;
          yield piece;
        }
        if (isLast) break;
        if (state === 'making' && held.length === 0 && at === (file?.length ?? 0)) await once(news, 'more');
      }
      await making;
    } finally {
      state = 'left';
      await making.catch(() => undefined);
      await file?.release();
    }
  }

  /** The maker holds the file until whoever waits for it has it. */
  private async make(name: string, content: Buffer): Promise<BundleFile> {
    const file = await this.files.create();
    try {
      await file.append(content);
    } catch (error) {
      await file.release();
      throw error;
    }
    setImmediate(() => this.files.keep(name, file));
    return file;
  }
}

function heldBy(file: BundleFile, over: AbortSignal): PieceByPiece {
  file.holdUntil(over);
  return { length: file.length, open: () => file.open() };
}
