/** Writes a bundle: a ZIP whose bytes depend on nothing but the names and contents in it. */

import { once } from 'node:events';
import type { PassThrough } from 'node:stream';
import { ZipFile } from 'yazl';
import { piecesOf } from '../http/pieces.ts';
import { Pace } from '../lib/pace.ts';

export interface ZipEntry {
  /** The path of the file, with `/` between its segments. */
  path: string;
  read(): Promise<Buffer>;
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
const OPTIONS = { mtime: FIXED_TIME, mode: 0o100644, compress: false, forceDosTimestamp: true };

/**
 * Bytes of a file up to which its CRC-32 is found in one go, some 6 ms, and stands before the content. That of a larger
 * file is found as it flows and stands behind the content (APPNOTE.TXT 6.3, 4.3.9).
 */
const AT_ONCE = 2 * 1024 * 1024;
/** Bytes that may wait in the ZIP before the next file is read. */
const AHEAD = 1024 * 1024;

/**
 * The pieces of the ZIP, a file read when the ones before it have been taken.
 * @param entries in their final order; a ZIP of 65,535 entries or 4 GiB and more becomes ZIP64
 * @throws whatever the reading of an entry throws
 */
export async function* writeZip(entries: Iterable<ZipEntry>): AsyncGenerator<Buffer> {
  const zip = new ZipFile();
  // yazl says that it is some readable stream; a PassThrough is what it makes.
  const output = zip.outputStream as PassThrough;
  const fail = (error: Error) => void output.destroy(error);
  zip.on('error', fail);
  void addAll(zip, output, entries).catch(fail);
  for await (const piece of output) yield piece as Buffer;
}

async function addAll(zip: ZipFile, output: PassThrough, entries: Iterable<ZipEntry>): Promise<void> {
  const pace = new Pace();
  for (const { path, read } of entries) {
    const content = await read();
    if (content.length <= AT_ONCE) zip.addBuffer(content, path, OPTIONS);
    else {
      const pieces = piecesOf(content).open();
      zip.addReadStream(pieces, path, { ...OPTIONS, size: content.length });
      await Promise.race([once(pieces, 'end'), once(output, 'close')]);
    }
    while (output.readableLength + output.writableLength > AHEAD && !output.destroyed)
      await once(output, 'drain');
    if (pace.isDue) await pace.rest();
  }
  zip.end();
}
