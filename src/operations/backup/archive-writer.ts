/** Writes an archive: a ZIP, entry by entry, each hashed on its way. */

import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { PassThrough, Readable, Transform } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { MANIFEST, type Manifest, type ManifestEntry } from './manifest.ts';

export class ArchiveWriter {
  private readonly zip = new ZipFile();
  private readonly output = new PassThrough();
  private readonly entries = new Map<string, ManifestEntry>();
  private readonly superseded = new Set<string>();
  /** Settles when all of it is written and flushed, or cannot be. */
  private readonly written: Promise<void>;
  private fault: Error | null = null;
  private underWay: Transform | null = null;

  /** @param path must not exist; readable by its owner alone from its first byte */
  constructor(path: string) {
    this.zip.on('error', (error: Error) => this.output.destroy(error));
    this.zip.outputStream.pipe(this.output);
    this.written = pipeline(this.output, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
    // A disk that is full ends the output, and whatever is on its way there would wait for it for ever.
    this.written.catch((error: Error) => {
      this.fault = error;
      this.underWay?.destroy(error);
    });
  }

  async addBuffer(path: string, content: Buffer): Promise<void> {
    await this.add(path, Readable.from([content]), { size: content.length, level: 6 });
  }

  /** @param level of deflate; 0 for what is compressed already */
  async addFile(path: string, source: string, level: number): Promise<void> {
    const { size } = await stat(source);
    await this.add(path, createReadStream(source), { size, level });
  }

  /** Whether the archive holds the path; it counts again if it was superseded. */
  reuse(path: string): boolean {
    this.superseded.delete(path);
    return this.entries.has(path);
  }

  /** What has been written cannot be taken back, but it will not be restored. */
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

  /** Gives up what has not been finished; the file is the caller's to remove. */
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

/** Lets go of the stream with that: the ZIP keeps what it was given for each entry until its end. */
function handOver(stream: Readable): (take: (error: null, stream: Readable) => void) => void {
  let held: Readable | null = stream;
  return (take) => {
    const given = held;
    held = null;
    if (given !== null) take(null, given);
  };
}
