/** Looks whether packs are whole: a pack ends with the SHA-1 of all that comes before (gitformat-pack(5)). */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AtomicFs } from './atomic-fs.ts';
import { unlessAbsent } from './disk-errors.ts';

const FOLDER = 'objects/pack';
/** The bytes of the SHA-1. */
const TRAILER = 20;
/** After so many bytes others have their turn, for so many milliseconds. This reads some 80 MB a second at most. */
const PIECE = 1024 * 1024;
const PAUSE = 10;

/** The packs of a repository, as paths in its folder. */
export async function listPacks(fs: AtomicFs, gitdir: string): Promise<string[]> {
  const entries = await unlessAbsent(fs.readdir(join(gitdir, FOLDER)), []);
  return entries.map(({ name }) => `${FOLDER}/${name}`).filter((path) => path.endsWith('.pack'));
}

/**
 * Reads the whole pack.
 * @returns whether it has the checksum with which it ends; true for one that is gone by now
 * @throws the reason of the signal once it is aborted; the error of the disk
 */
export function isWholePack(fs: AtomicFs, path: string, signal: AbortSignal): Promise<boolean> {
  return unlessAbsent(readPack(fs, path, signal), true);
}

async function readPack(fs: AtomicFs, path: string, signal: AbortSignal): Promise<boolean> {
  const hash = createHash('sha1');
  let [end, unpaused] = [Buffer.alloc(0), 0];
  for await (const chunk of fs.readStream(path)) {
    const read = Buffer.concat([end, chunk as Buffer]);
    const known = Math.max(0, read.length - TRAILER);
    hash.update(read.subarray(0, known));
    end = Buffer.from(read.subarray(known));
    unpaused += chunk.length;
    signal.throwIfAborted();
    if (unpaused < PIECE) continue;
    unpaused = 0;
    await sleep(PAUSE);
  }
  return hash.digest().equals(end);
}
