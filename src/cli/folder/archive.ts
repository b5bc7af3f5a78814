/** ZIP archives, in which contents go to the server and come from it. They keep executable bits. */

import { buffer } from 'node:stream/consumers';
import { type Entry, fromBufferPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { checkPathSet, normalizePath } from '../../domain/safe-path.ts';
import { Failure } from '../errors.ts';
import { printableLine } from '../printable.ts';
import { type Contents, MAX_BYTES, toContents } from './contents.ts';

const REGULAR = 0o100000;
const MODES = { executable: REGULAR | 0o755, plain: REGULAR | 0o644 };
const TYPE_MASK = 0o170000;
/** The upload of one content is always the same. */
const TIME = new Date('2000-01-01T00:00:00Z');

export async function makeArchive(contents: Contents): Promise<Buffer> {
  const zip = new ZipFile();
  for (const { path, content, executable } of contents) {
    const mode = executable ? MODES.executable : MODES.plain;
    zip.addBuffer(content, path, { mode, mtime: TIME, compress: content.length > 0 });
  }
  zip.end();
  return buffer(zip.outputStream);
}

/** @throws Failure for what is no archive of a version, such as one with a path that leads out of its folder */
export async function readArchive(archive: Buffer): Promise<Contents> {
  const zip = await fromBufferPromise(archive, { strictFileNames: true }).catch(failUnreadable);
  const files = [];
  let bytes = 0;
  try {
    for await (const entry of zip.eachEntry()) {
      const path = checkedPath(entry);
      // A file that is longer than this says is refused while it is read.
      bytes += entry.uncompressedSize;
      if (bytes > MAX_BYTES) throw new Error('it has more than 1 GiB');
      const content = await buffer(await zip.openReadStreamPromise(entry));
      files.push({ path, content, executable: ((entry.externalFileAttributes >>> 16) & 0o100) !== 0 });
    }
    checkPathSet(files.map(({ path }) => path));
  } catch (error) {
    failUnreadable(error);
  }
  return toContents(files);
}

/** The server sends paths in the form in which it stores them. */
function checkedPath({ fileName, externalFileAttributes }: Entry): string {
  if (normalizePath(fileName) !== fileName)
    throw new Error(`the path "${printableLine(fileName)}" is not safe`);
  const type = (externalFileAttributes >>> 16) & TYPE_MASK;
  if (type !== 0 && type !== REGULAR) throw new Error(`"${printableLine(fileName)}" is no regular file`);
  return fileName;
}

function failUnreadable(error: unknown): never {
  throw new Failure(
    `The archive that the server sent is refused: ${(error as Error).message}. Nothing was written.`,
  );
}
