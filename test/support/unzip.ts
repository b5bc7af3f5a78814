/** Reads a ZIP with yauzl, which is independent of the code that wrote it. */

import { type Entry, fromBuffer, type ZipFile } from 'yauzl';

export interface UnzippedEntry {
  path: string;
  content: Buffer;
  /** Unix permission bits with the file type. */
  mode: number;
}

export async function unzip(bytes: Buffer): Promise<UnzippedEntry[]> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    const options = { lazyEntries: true, validateEntrySizes: true, strictFileNames: true };
    fromBuffer(bytes, options, (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  const entries: UnzippedEntry[] = [];
  await new Promise<void>((resolve, reject) => {
    zip.on('error', reject);
    zip.on('end', resolve);
    zip.on('entry', (entry: Entry) => {
      readEntry(zip, entry).then((content) => {
        entries.push({ path: entry.fileName, content, mode: entry.externalFileAttributes >>> 16 });
        zip.readEntry();
      }, reject);
    });
    zip.readEntry();
  });
  return entries;
}

function readEntry(zip: ZipFile, entry: Entry): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => {
      if (error) return reject(error);
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', reject);
      stream.on('end', () => resolve(Buffer.concat(chunks)));
    });
  });
}

/** Maps paths to content, for comparison with what was uploaded. */
export async function unzipTexts(bytes: Buffer): Promise<Record<string, string>> {
  const entries = await unzip(bytes);
  return Object.fromEntries(entries.map(({ path, content }) => [path, content.toString('utf8')]));
}
