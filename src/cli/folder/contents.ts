/** The files of a version, whether they are in a folder or on the server. */

import { createHash } from 'node:crypto';
import type { ListedFile } from '../../domain/file-changes.ts';
import { sortByBytes } from '../../lib/byte-order.ts';
import { gitBlobId, sha256Hex } from '../../lib/hash.ts';

/** All files are held in memory. A server takes 50 MiB, unless its settings allow more. */
export const MAX_BYTES = 1024 ** 3;

export interface ContentFile extends ListedFile {
  content: Buffer;
}

/** By the bytes of their paths. */
export type Contents = readonly ContentFile[];

export const NOTHING: Contents = [];

export function toContents(files: readonly Omit<ContentFile, 'oid'>[]): Contents {
  const named = files.map((file) => ({ ...file, oid: gitBlobId(file.content) }));
  return sortByBytes(named, ({ path }) => path);
}

/** Names the paths, the bytes and the executable bits of all files: two contents with the same digest are the same. */
export function digestOf(contents: Contents): string {
  const digest = createHash('sha256');
  for (const { path, executable, content } of contents)
    digest.update(`${JSON.stringify([path, executable, sha256Hex(content)])}\n`);
  return digest.digest('hex');
}

export function sizeOf(contents: Contents): number {
  return contents.reduce((sum, { content }) => sum + content.length, 0);
}

/** For a folder of Windows, which has no executable bits: each file has the bit that it has in the other contents. */
export function withBitsOf(contents: Contents, others: Contents): Contents {
  const executable = new Set(others.filter((file) => file.executable).map(({ path }) => path));
  return contents.map((file) => ({ ...file, executable: executable.has(file.path) }));
}
