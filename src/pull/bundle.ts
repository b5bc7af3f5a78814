/** Builds a bundle: a ZIP whose bytes depend on nothing but the names and contents in it. */

import { ZipFile } from 'yazl';

export interface BundleEntry {
  path: string;
  content: Buffer;
}

/**
 * Local midnight, because DOS times in ZIPs are local: the same eight bytes in every time zone.
 * `forceDosTimestamp` leaves out the UTC field that would differ.
 */
const FIXED_TIME = new Date(1980, 0, 1);

/**
 * Stored, not deflated: what deflate makes depends on the zlib build and the processor, and equal checksums
 * must mean equal bytes on every server (docs/decisions/0005).
 */
const ENTRY_OPTIONS = { mtime: FIXED_TIME, mode: 0o100644, compress: false, forceDosTimestamp: true };

/** @param entries in their final order; a ZIP of more than 65,535 entries or 4 GiB becomes ZIP64 */
export async function buildBundle(entries: readonly BundleEntry[]): Promise<Buffer> {
  const zip = new ZipFile();
  for (const { path, content } of entries) zip.addBuffer(content, path, ENTRY_OPTIONS);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
