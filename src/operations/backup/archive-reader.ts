/** Reads an archive and distrusts it: whatever does not match its manifest to the byte is refused. */

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { MIGRATION_NAMES } from '../../db/migrate.ts';
import { HawserError } from '../../lib/errors.ts';
import { AnyManifest, FORMAT, MANIFEST, Manifest, type ManifestEntry } from './manifest.ts';

/** Of ten thousand repositories it has about ten. */
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;
/** File types in the upper half of the external attributes (stat.h). */
const TYPE_MASK = 0xf000;
const REGULAR = 0x8000;

export class ArchiveReader {
  readonly manifest: Manifest;
  private readonly zip: ZipFile;
  private readonly found: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, manifest: Manifest, found: ReadonlyMap<string, Entry>) {
    this.zip = zip;
    this.manifest = manifest;
    this.found = found;
  }

  /**
   * Opens an archive and checks all of it but the content of its files.
   * @throws HawserError `archive_missing`, `archive_damaged`, `archive_too_new`
   */
  static async open(path: string): Promise<ArchiveReader> {
    const zip = await openZip(path);
    try {
      const found = await listEntries(zip);
      const manifest = await readManifest(zip, found);
      checkEntries(manifest, found);
      return new ArchiveReader(zip, manifest, found);
    } catch (error) {
      zip.close();
      throw error instanceof HawserError ? error : damaged('it is cut off, or no backup at all', error);
    }
  }

  /**
   * Writes a file of the archive to a new file, readable by its owner alone, flushed.
   * @throws HawserError `archive_damaged` when it is not what the manifest says, or the system's own error
   */
  async extract(entry: ManifestEntry, path: string): Promise<void> {
    const hash = createHash('sha256');
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of this.contentOf(entry)) {
        hash.update(chunk);
        await file.writeFile(chunk);
      }
      await file.sync();
    } finally {
      await file.close();
    }
    if (hash.digest('hex') !== entry.sha256) throw damaged(`"${entry.path}" is not what was backed up`);
  }

  close(): void {
    this.zip.close();
  }

  private async *contentOf({ path }: ManifestEntry): AsyncGenerator<Buffer> {
    const entry = this.found.get(path);
    if (entry === undefined) throw damaged(`"${path}" is missing`);
    try {
      // Read from at once: a fault that comes while nobody listens would end the program.
      const stream = await this.zip.openReadStreamPromise(entry);
      for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
    } catch (error) {
      throw damaged(`"${path}" cannot be read`, error);
    }
  }
}

async function openZip(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { autoClose: false, strictFileNames: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined)
      throw new HawserError('not_found', 'archive_missing', `${path} cannot be read`, { cause: error });
    throw damaged('it is cut off, or no backup at all', error);
  }
}

async function listEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  const found = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
    if (found.has(entry.fileName) || type !== REGULAR || !entry.canDecodeFileData())
      throw damaged(`"${entry.fileName}" is there twice, or no regular file`);
    found.set(entry.fileName, entry);
  }
  return found;
}

async function readManifest(zip: ZipFile, found: ReadonlyMap<string, Entry>): Promise<Manifest> {
  const entry = found.get(MANIFEST);
  if (entry === undefined || entry.uncompressedSize > MAX_MANIFEST_BYTES) throw damaged('it has no manifest');
  const json: unknown = JSON.parse(await text(await zip.openReadStreamPromise(entry)));
  const any = AnyManifest.safeParse(json);
  if (any.success && any.data.format > FORMAT)
    throw tooNew(`its format is ${any.data.format}, this program knows ${FORMAT}`);
  const manifest = Manifest.safeParse(json);
  if (!manifest.success)
    throw damaged(`the manifest is not one: ${manifest.error.issues[0]?.path.join('/')}`);
  const { migration, hawser } = manifest.data;
  if (!MIGRATION_NAMES.includes(migration))
    throw tooNew(`its database (${migration}) is one of Hawser ${hawser}`);
  return manifest.data;
}

/** Both ways: nothing is missing, and nothing is there that nobody has put there. */
function checkEntries({ entries, superseded }: Manifest, found: ReadonlyMap<string, Entry>): void {
  const rest = new Set(found.keys());
  rest.delete(MANIFEST);
  for (const { path, size } of entries) {
    if (found.get(path)?.uncompressedSize !== size) throw damaged(`"${path}" is missing or of another size`);
    if (!rest.delete(path)) throw damaged(`the manifest names "${path}" twice`);
  }
  for (const path of superseded) rest.delete(path);
  for (const path of rest) throw damaged(`"${path}" is not in the manifest`);
}

function damaged(fault: string, cause?: unknown): HawserError {
  return new HawserError('conflict', 'archive_damaged', `the archive is damaged: ${fault}`, { cause });
}

function tooNew(fault: string): HawserError {
  return new HawserError('conflict', 'archive_too_new', `the archive needs a newer Hawser: ${fault}`);
}
