/** Writes a bundle as a ZIP whose bytes depend only on the names, contents and executable bits of its files. */

import { once } from 'node:events';
import type { PassThrough } from 'node:stream';
import { ZipFile } from 'yazl';
import { piecesOf } from '../http/pieces.ts';
import { Pace } from '../lib/pace.ts';
import type { BundleEntry } from '../resolve/manifest-maker.ts';

/**
 * This is local midnight, because DOS times in ZIPs are local. So the bytes are the same in every time zone.
 * `forceDosTimestamp` leaves out the UTC field, which would differ.
 */
const FIXED_TIME = new Date(1980, 0, 1);

/**
 * Files are stored, not deflated. The output of deflate depends on the zlib build and the processor, and equal checksums
 * must mean equal bytes on every server (docs/decisions/0005).
 */
const OPTIONS = { mtime: FIXED_TIME, compress: false, forceDosTimestamp: true };

/**
 * Up to this many bytes the CRC-32 of a file is computed at once, in some 6 ms, and is written before the content. For a
 * larger file it is computed while the content is written, and comes after it (APPNOTE.TXT 6.3, 4.3.9).
 */
const AT_ONCE = 2 * 1024 * 1024;
/** Bytes that may be buffered in the ZIP before the next file is read. */
const AHEAD = 1024 * 1024;

/**
 * The pieces of the ZIP. A file is read when the pieces before it have been taken.
 * @param entries are in their final order; a ZIP of 65,535 entries or 4 GiB and more becomes ZIP64
 * @throws the error of an entry that cannot be read
 */
export async function* writeZip(entries: Iterable<BundleEntry>): AsyncGenerator<Buffer> {
  const zip = new ZipFile();
  // The types of yazl say that this is some readable stream, but yazl makes a PassThrough.
  const output = zip.outputStream as PassThrough;
  const fail = (error: Error) => void output.destroy(error);
  zip.on('error', fail);
  void addAll(zip, output, entries).catch(fail);
  for await (const piece of output) yield piece as Buffer;
}

async function addAll(zip: ZipFile, output: PassThrough, entries: Iterable<BundleEntry>): Promise<void> {
  const pace = new Pace();
  for (const { path, executable, read } of entries) {
    const content = await read();
    const options = { ...OPTIONS, mode: executable ? 0o100755 : 0o100644 };
    if (content.length <= AT_ONCE) zip.addBuffer(content, path, options);
    else {
      const pieces = piecesOf(content).open();
      zip.addReadStream(pieces, path, { ...options, size: content.length });
      await Promise.race([once(pieces, 'end'), once(output, 'close')]);
    }
    while (output.readableLength + output.writableLength > AHEAD && !output.destroyed)
      await once(output, 'drain');
    if (pace.isDue) await pace.rest();
  }
  zip.end();
}
