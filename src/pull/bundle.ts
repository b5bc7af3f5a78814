/** Builds a bundle: a ZIP whose bytes depend on nothing but the names and contents in it. */

import { writeStoredZip } from './stored-zip.ts';

export interface BundleEntry {
  path: string;
  content: Buffer;
}

/**
 * Stored, not deflated: what deflate makes depends on the zlib build and the processor, and equal checksums
 * must mean equal bytes on every server (docs/decisions/0005).
 * @param entries in their final order; a ZIP of 65,535 entries or 4 GiB and more becomes ZIP64
 */
export async function buildBundle(entries: readonly BundleEntry[]): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const sources = entries.map(({ path, content }) => ({ path, read: async () => content }));
  for await (const piece of writeStoredZip(sources)) pieces.push(piece);
  return Buffer.concat(pieces);
}
