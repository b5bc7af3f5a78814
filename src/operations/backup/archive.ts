/**
 * The archive of a backup: a ZIP of files and a manifest that names each with its size and hash. It is written entry by
 * entry. Whoever reads one trusts nothing in it: an archive that differs from its manifest in one byte is refused.
 */

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { PassThrough, Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { openPromise, type Entry as ZipEntry, type ZipFile as ZipReader } from 'yauzl';
import { ZipFile } from 'yazl';
import { z } from 'zod';
import { MIGRATION_NAMES } from '../../db/sqlite/migrations.ts';
import { STORED_KINDS } from '../../git/types.ts';
import { HawserError } from '../../lib/errors.ts';

/** The number of the format. It is raised when an older program could not restore what a newer one writes. */
export const FORMAT = 1;
const MANIFEST = 'manifest.json';
export const DATABASE_ENTRY = 'data/hawser.db';
/** The lowest level of deflate, since a database may be large. */
export const DATABASE_LEVEL = 1;

const NAME = '[A-Za-z0-9][A-Za-z0-9._-]*';
/**
 * The paths that an archive may hold. None of them leads out of the two folders, and nothing else is taken from an
 * archive, whoever made it.
 */
const PATH = new RegExp(
  `^(?:data/(?:hawser\\.db|initial-admin-password|secrets\\.key|tls/${NAME})` +
    `|repos/(?:${STORED_KINDS.join('|')})/${NAME}\\.git/` +
    '(?:HEAD|config|description|packed-refs|shallow|objects/pack/pack-[0-9a-f]{40}\\.(?:pack|idx)))$',
);

const ManifestEntry = z.strictObject({
  path: z.string().max(300).regex(PATH),
  /** Bytes. */
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export const Manifest = z.strictObject({
  format: z.literal(FORMAT),
  /** The release that made it. */
  hawser: z.string(),
  createdAt: z.iso.datetime(),
  /** The newest migration that the database has been through. */
  migration: z.string(),
  counts: z.strictObject({ repositories: z.int(), refs: z.int() }),
  entries: z.array(ManifestEntry),
  /** Paths in the archive that are not restored: they are of repositories that were removed while it was written. */
  superseded: z.array(z.string()),
});

export type Manifest = z.output<typeof Manifest>;
type ManifestEntry = z.output<typeof ManifestEntry>;

/** The part of a manifest that every release can read. */
const AnyManifest = z.looseObject({ format: z.int() });

export class ArchiveWriter {
  private readonly zip = new ZipFile();
  private readonly output = new PassThrough();
  private readonly entries = new Map<string, ManifestEntry>();
  private readonly superseded = new Set<string>();
  /** Resolves when the archive is written and flushed; rejects when it cannot be. */
  private readonly written: Promise<void>;
  private fault: Error | null = null;
  private underWay: Transform | null = null;

  /** @param path must not exist; the file is readable by its owner alone from its first byte */
  constructor(path: string) {
    this.zip.on('error', (error: Error) => this.output.destroy(error));
    this.zip.outputStream.pipe(this.output);
    this.written = pipeline(this.output, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
    // A full disk ends the output, and an entry on its way there would wait for it for ever.
    this.written.catch((error: Error) => {
      this.fault = error;
      this.underWay?.destroy(error);
    });
  }

  async addBuffer(path: string, content: Buffer): Promise<void> {
    await this.add(path, Readable.from([content]), { size: content.length, level: 6 });
  }

  /** @param level the level of deflate; 0 for a file that is compressed already */
  async addFile(path: string, source: string, level: number): Promise<void> {
    const { size } = await stat(source);
    await this.add(path, createReadStream(source), { size, level });
  }

  /** Whether the archive holds the path. If so, it is restored even if it was superseded before. */
  reuse(path: string): boolean {
    this.superseded.delete(path);
    return this.entries.has(path);
  }

  /** Marks a path that is not to be restored. What has been written cannot be removed. */
  supersede(path: string): void {
    this.superseded.add(path);
  }

  /** Adds the manifest; resolves when everything is flushed. */
  async finish(about: Omit<Manifest, 'entries' | 'superseded'>): Promise<void> {
    const entries = [...this.entries.values()].filter(({ path }) => !this.superseded.has(path));
    const manifest: Manifest = { ...about, entries, superseded: [...this.superseded] };
    await this.addBuffer(MANIFEST, Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`));
    this.zip.end();
    await this.written;
  }

  /** Stops writing. The caller removes the file. */
  async abandon(): Promise<void> {
    this.output.destroy();
    await this.written.catch(() => undefined);
  }

  private async add(
    path: string,
    source: Readable,
    { size, level }: { size: number; level: number },
  ): Promise<void> {
    if (this.fault) throw this.fault;
    const hash = createHash('sha256');
    const hashed = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    const options = { size, mode: 0o100600, compressionLevel: level };
    this.zip.addReadStreamLazy(path, options, handOver(hashed));
    this.underWay = hashed;
    await Promise.all([pipeline(source, hashed), finished(hashed)]);
    this.entries.set(path, { path, size, sha256: hash.digest('hex') });
  }
}

/** Hands the stream over once and forgets it: the ZIP keeps this function for each entry until its end. */
function handOver(stream: Readable): (take: (error: null, stream: Readable) => void) => void {
  let held: Readable | null = stream;
  return (take) => {
    const given = held;
    held = null;
    if (given !== null) take(null, given);
  };
}

/** The manifest of ten thousand repositories has about ten million bytes. */
const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;
/** The type of a file in the upper half of the external attributes (stat.h). */
const TYPE_MASK = 0xf000;
const REGULAR = 0x8000;

export class ArchiveReader {
  readonly manifest: Manifest;
  private readonly zip: ZipReader;
  private readonly found: ReadonlyMap<string, ZipEntry>;

  private constructor(zip: ZipReader, manifest: Manifest, found: ReadonlyMap<string, ZipEntry>) {
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
      // The stream is read from at once: an error while nobody listens would end the program.
      const stream = await this.zip.openReadStreamPromise(entry);
      for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
    } catch (error) {
      throw damaged(`"${path}" cannot be read`, error);
    }
  }
}

async function openZip(path: string): Promise<ZipReader> {
  try {
    return await openPromise(path, { autoClose: false, strictFileNames: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined)
      throw new HawserError('not_found', 'archive_missing', `${path} cannot be read`, { cause: error });
    throw damaged('it is cut off, or no backup at all', error);
  }
}

async function listEntries(zip: ZipReader): Promise<Map<string, ZipEntry>> {
  const found = new Map<string, ZipEntry>();
  for await (const entry of zip.eachEntry()) {
    const type = (entry.externalFileAttributes >>> 16) & TYPE_MASK;
    if (found.has(entry.fileName) || type !== REGULAR || !entry.canDecodeFileData())
      throw damaged(`"${entry.fileName}" is there twice, or no regular file`);
    found.set(entry.fileName, entry);
  }
  return found;
}

async function readManifest(zip: ZipReader, found: ReadonlyMap<string, ZipEntry>): Promise<Manifest> {
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

/** Checks that the archive holds all entries of the manifest and no others. */
function checkEntries({ entries, superseded }: Manifest, found: ReadonlyMap<string, ZipEntry>): void {
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
