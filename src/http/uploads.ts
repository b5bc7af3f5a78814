/**
 * Uploads: multipart/form-data (RFC 7578) with plain fields and files, the latter as parts `files`, whose filename
 * is the path, or as one part `archive`, a ZIP; or with the one file that a route names. All is kept in memory and
 * counted while it streams, so nothing is left behind on the disk whatever happens.
 *
 * Of @fastify/busboy only the splitter of parts is used, `Dicer`. Its form reader damages names (tried with 3.2):
 * behind a quoted `filename` it overlooks `filename*`, where .NET puts the real name of a path outside ASCII, and
 * it drops blanks from unquoted names. Dicer hands out the header lines untouched, one character per byte.
 */

import type { IncomingMessage } from 'node:http';
import { setImmediate as immediate } from 'node:timers/promises';
import { Dicer } from '@fastify/busboy';
import { checkGitAttributes, showText } from '../domain/safe-path.ts';
import { MAX_FILES, UploadTree } from '../domain/upload-tree.ts';
import { HawserError, invalid, invalidField, tooLarge } from '../lib/errors.ts';
import type { FairQueue } from '../lib/fair-queue.ts';
import { type UploadedFile, unpackArchive } from './archive.ts';
import { discardBody } from './body.ts';
import { ByteCollector } from './byte-collector.ts';
import { decodeField, malformed, readBoundary, readDisposition } from './multipart-headers.ts';
import { readSteadily, type Uploader } from './upload-body.ts';

export interface UploadLimits {
  /** Bytes of all files together, after unpacking. */
  bytes: number;
  files: number;
  /** Bytes of one plain field; default 64 KiB. */
  fieldBytes?: number;
}

export interface Upload {
  fields: Map<string, string>;
  /** Paths normalised and free of clashes; empty when the form holds no file. */
  files: UploadedFile[];
  /** Null unless the route names its one file. */
  file: NamedFile | null;
}

export interface NamedFile {
  /** As the client calls it, unchecked and no path; empty where it gives no name. */
  filename: string;
  /** The part's `Content-Type`; null without one. */
  mediaType: string | null;
  content: Buffer;
}

/** What a form may have: plain fields, each once, and files, or in their place this one, which it must have. */
export interface FormShape {
  fields: readonly string[];
  file?: string | undefined;
}

type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/** What one part's bytes go into. */
interface Sink {
  append(chunk: Buffer): void;
  close(): void;
}

const FIELD_BYTES = 64 * 1024;
/** Room for one part's boundary and header: a path of 1,024 bytes comes twice at most, once as `%XX`. */
const PART_OVERHEAD = 6 * 1024;
/** Bytes of a file from which on it is put together in steps. */
const LARGE = 1024 * 1024;

/**
 * Reads a form of this shape, as soon as its sender may have a place.
 *
 * Throws 415 `unsupported_media_type`; 413 `payload_too_large`, at the first byte or part too many, or
 * `too_many_files`; 400 `validation_failed` (unknown or doubled parts; `malformed_multipart` for no boundary, no such
 * form, or one that is cut off; `invalid_archive`); 400 `invalid_path`; 408 `upload_too_slow`; `client_gone`. What then
 * still comes of the body is dropped, unless it comes too slowly.
 */
export async function readUpload(
  req: IncomingMessage,
  limits: UploadLimits,
  shape: FormShape,
  { places, userId, over }: Uploader & { places: FairQueue },
): Promise<Upload> {
  try {
    const boundary = readBoundary(req.headers);
    const maximum = maximumBody(limits, shape.fields.length);
    if (Number(req.headers['content-length'] ?? 0) > maximum) throw bodyTooLarge(limits);
    const leave = await places.take(userId, over);
    try {
      return await readForm(
        req,
        new FormReader(boundary, limits, shape),
        () => bodyTooLarge(limits),
        maximum,
      );
    } finally {
      leave();
    }
  } catch (error) {
    if (!(error instanceof HawserError && error.kind === 'timed_out')) discardBody(req);
    throw error;
  }
}

/** The whole body at most: the files at their limit and every part that may be there. */
function maximumBody(limits: UploadLimits, fields: number): number {
  const parts = Math.min(limits.files, MAX_FILES) + fields + 1;
  return limits.bytes + fields * (limits.fieldBytes ?? FIELD_BYTES) + parts * PART_OVERHEAD;
}

async function readForm(
  req: IncomingMessage,
  form: FormReader,
  tooLong: () => HawserError,
  maximum: number,
): Promise<Upload> {
  let received = 0;
  await readSteadily(req, async (chunk) => {
    received += chunk.length;
    if (received > maximum) throw tooLong();
    await form.write(chunk);
  });
  return form.finish();
}

/** Puts the form together. What goes wrong in the splitter's events is kept for who calls. */
class FormReader {
  private readonly fields = new Map<string, string>();
  private readonly files: UploadedFile[] = [];
  private readonly tree: UploadTree;
  private archive: Buffer | null = null;
  private file: NamedFile | null = null;
  /** What is left to do for large files once all is there. */
  private readonly late: (() => Promise<void>)[] = [];
  private readonly limits: UploadLimits;
  private readonly shape: FormShape;
  private readonly splitter: Dicer;
  private readonly seen = new Set<string>();
  private fileBytes = 0;
  private openParts = 0;
  private ended = false;
  private failure: unknown = null;
  private settle: () => void = () => undefined;

  constructor(boundary: string, limits: UploadLimits, shape: FormShape) {
    this.limits = limits;
    this.shape = shape;
    this.tree = new UploadTree(limits.files);
    // Everything stays in memory anyway, so the splitter's own brake is off: it can stall between two parts.
    const options = { boundary, partHwm: Number.MAX_SAFE_INTEGER, maxHeaderPairs: 32 };
    this.splitter = new Dicer(options);
    this.splitter.on('part', (part) => this.readPart(part));
    this.splitter.on('error', (error) => this.fail(malformed('it is cut off or has no parts', error)));
    this.splitter.on('finish', () => this.guard(() => (this.ended = true)));
  }

  /** Throws the first fault as soon as the bytes are in that show it: their sender may wait for the answer. */
  async write(chunk: Buffer): Promise<void> {
    // Behind the last boundary may stand anything (RFC 2046, 5.1.1), and the splitter may have closed.
    if (this.splitter.writable) this.splitter.write(chunk);
    // Parts hand out their bytes on later ticks, all of which run before this comes back.
    await immediate();
    if (this.failure !== null) throw this.failure;
  }

  async finish(): Promise<Upload> {
    if (this.splitter.writable) this.splitter.end();
    await new Promise<void>((resolve) => {
      this.settle = resolve;
      this.settleIfDone();
    });
    if (this.failure !== null) throw this.failure;
    for (const work of this.late) await work();
    const { fields, file, shape } = this;
    if (shape.file !== undefined && file === null)
      throw invalidField(`/${shape.file}`, `The form has no file ${shape.file}`, 'required');
    const files = this.archive === null ? this.files : await unpackArchive(this.archive, this.limits);
    for (const file of files) checkGitAttributes(file.path, file.content);
    return { fields, files, file };
  }

  private readPart(part: Dicer.PartStream): void {
    let sink: Sink | null = null;
    this.openParts += 1;
    part.on('header', (headers: PartHeaders) => this.guard(() => (sink = this.openSink(headers))));
    part.on('data', (chunk: Buffer) => this.guard(() => sink?.append(chunk)));
    part.on('error', (error) => this.fail(malformed('it is cut off', error)));
    part.on('end', () =>
      this.guard(() => {
        this.openParts -= 1;
        if (sink === null) throw malformed('a part has no header');
        sink.close();
      }),
    );
  }

  private openSink(headers: PartHeaders): Sink {
    const { name, filename } = readDisposition(headers);
    const { fields, file } = this.shape;
    if (file === undefined && name === 'files') return this.openFile(filename);
    if (file === undefined && name === 'archive') return this.openArchive();
    if (name !== file && !fields.includes(name)) throw unknownPart(name);
    if (this.seen.has(name)) throw invalidField(`/${name}`, `The form has the field ${name} twice`);
    if (name === file) return this.openNamedFile(name, filename ?? '', headers['content-type']?.[0] ?? null);
    if (filename !== null)
      throw invalidField(`/${name}`, `The form has a file where ${name} is a plain field`);
    this.seen.add(name);
    return this.openField(name);
  }

  private openFile(filename: string | null): Sink {
    if (filename === null) throw invalidField('/files', 'A part "files" has no filename, which is its path');
    if (this.seen.has('archive')) throw twoKinds();
    this.seen.add('files');
    const path = this.tree.add(filename);
    return this.countedSink((content) => this.files.push({ path, content }));
  }

  private openNamedFile(name: string, filename: string, mediaType: string | null): Sink {
    this.seen.add(name);
    return this.countedSink((content) => {
      this.file = { filename, mediaType, content };
    });
  }

  private countedSink(keep: (content: Buffer) => void): Sink {
    const bytes = new ByteCollector();
    return {
      append: (chunk) => {
        this.fileBytes += chunk.length;
        if (this.fileBytes > this.limits.bytes) throw bodyTooLarge(this.limits);
        bytes.append(chunk);
      },
      close: () => this.keep(bytes, keep),
    };
  }

  private keep(bytes: ByteCollector, keep: (content: Buffer) => void): void {
    if (bytes.length < LARGE) keep(bytes.toBuffer());
    else this.late.push(async () => keep(await bytes.drain()));
  }

  /** Packed, the archive is bounded by the body; its limits hold for what it unpacks to. */
  private openArchive(): Sink {
    if (this.seen.has('archive')) throw invalidField('/archive', 'The form has two archives');
    if (this.seen.has('files')) throw twoKinds();
    this.seen.add('archive');
    const bytes = new ByteCollector();
    const keep = (archive: Buffer) => {
      this.archive = archive;
    };
    return { append: (chunk) => bytes.append(chunk), close: () => this.keep(bytes, keep) };
  }

  private openField(name: string): Sink {
    const limit = this.limits.fieldBytes ?? FIELD_BYTES;
    const bytes = new ByteCollector();
    return {
      append: (chunk) => {
        bytes.append(chunk);
        if (bytes.length > limit) throw tooLarge(`The field ${name} exceeds ${limit} bytes`);
      },
      close: () => this.fields.set(name, decodeField(name, bytes.toBuffer())),
    };
  }

  /** Runs work inside an event of the splitter, from where nothing may be thrown. */
  private guard(work: () => void): void {
    if (this.failure !== null) return;
    try {
      work();
    } catch (error) {
      this.fail(error);
    }
    this.settleIfDone();
  }

  private fail(error: unknown): void {
    this.failure ??= error;
    this.settleIfDone();
  }

  /** The splitter may call itself finished before the last parts have handed out their bytes. */
  private settleIfDone(): void {
    if (this.failure !== null || (this.ended && this.openParts === 0)) this.settle();
  }
}

function bodyTooLarge(limits: UploadLimits): HawserError {
  return tooLarge(`The upload is larger than the limit of ${limits.bytes} bytes`);
}

function twoKinds(): HawserError {
  return invalidField('/archive', 'The form has both single files and an archive');
}

/** The name is the client's: escaped for the message, and as a JSON Pointer for the path. */
function unknownPart(name: string): HawserError {
  const pointer = `/${showText(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const message = `The form must not have a part "${showText(name)}"`;
  return invalid('validation_failed', message, [{ path: pointer, message, code: 'unrecognized_keys' }]);
}
