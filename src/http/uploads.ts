/**
 * Uploads: multipart/form-data (RFC 7578) with plain fields and files, the latter as parts `files`, whose filename
 * is the path, or as one part `archive`, a ZIP; or with the one file that a route names. All is kept in memory and
 * counted while it streams, so nothing is left behind on the disk whatever happens. So is a body that is one file.
 */

import type { IncomingMessage } from 'node:http';
import { koaBody } from 'koa-body';
import { checkGitAttributes, showText } from '../domain/safe-path.ts';
import { MAX_FILES, UploadTree, withoutLeadingDot } from '../domain/upload-tree.ts';
import { HawserError, invalid, invalidField, overLimit, tooLarge } from '../lib/errors.ts';
import { FairQueue } from '../lib/fair-queue.ts';
import type { Unpacked, UploadedFile } from './archive.ts';
import { ByteCollector } from './byte-collector.ts';
import { type BodyRules, discardBody, MeteredBody, paceOfUpload, parseBody } from './metered-body.ts';
import {
  type Disposition,
  malformed,
  type PartSink,
  partReader,
  readBoundary,
  refuseContentEncoding,
} from './multipart.ts';
import { decodeUtf8 } from './validation.ts';

export interface UploadLimits {
  /** The limit in bytes for all files together, after unpacking. */
  bytes: number;
  /** The setting that has this limit, if it is one. */
  setting?: string | undefined;
  files: number;
  /** The limit in bytes for one plain field. The default is 64 KiB. */
  fieldBytes?: number;
}

export interface Upload {
  fields: Map<string, string>;
  /** The paths are normalised and do not clash. The list is empty when the form holds no file. */
  files: UploadedFile[];
  /** The paths of litter, which the form held beside the files. */
  ignoredFiles: readonly string[];
  /** It is null unless the route names its one file. */
  file: NamedFile | null;
}

export interface NamedFile {
  /** The name that the client gives, unchecked; empty where it gives none. */
  filename: string;
  /** The part's `Content-Type`; null without one. */
  mediaType: string | null;
  content: Buffer;
}

/** What a form may have: plain fields, each once, and files, or in their place this one, which it must have. */
export interface FormShape {
  fields: readonly string[];
  file?: string | undefined;
  /** The route takes JSON in place of the form, which the refusal of another media type says. */
  orJson?: boolean;
}

/** Whose upload it is, and where it waits for its turn. */
export interface Uploader {
  places: FairQueue;
  userId: string;
  /** It is aborted when the exchange is over, however it ended. */
  over: AbortSignal;
}

const FORM_TYPE = 'multipart/form-data';
const FIELD_BYTES = 64 * 1024;
/** Room for one part's boundary and header: a path of 1,024 bytes comes twice at most, once as `%XX`. */
const PART_OVERHEAD = 6 * 1024;
/** Bytes of a file from which on it is put together in steps. */
const LARGE = 1024 * 1024;

/** Each upload may fill its whole limit in memory. The others wait unread, which holds their senders back. */
export function uploadPlaces(): FairQueue {
  return new FairQueue({ slots: 4, slotsPerCaller: 2 });
}

/**
 * Reads a form of this shape, as soon as its sender may have a place. What still comes of a body that is refused is
 * dropped.
 * @throws HawserError 415 `unsupported_media_type`; 413 `payload_too_large`, at the first byte or part too many, or
 *   `too_many_files`; 400 `validation_failed` (unknown or doubled parts; `malformed_multipart` for no boundary, no such
 *   form, or one that is cut off; `invalid_archive`); 400 `invalid_path`; 408 `upload_too_slow`; `client_gone`
 */
export async function readUpload(
  request: IncomingMessage,
  limits: UploadLimits,
  shape: FormShape,
  uploader: Uploader,
): Promise<Upload> {
  return inPlace(request, uploader, async (take) => {
    const boundary = readBoundary(request.headers, shape.orJson);
    const rules = {
      ...rulesOf(limits, maximumBody(limits, shape.fields.length)),
      cutOff: (cause: unknown) => malformed('it was cut off', cause),
    };
    const form = new UploadForm(limits, shape);
    const formidable = { enabledPlugins: [partReader(boundary, (part) => form.openPart(part))] };
    const body = await take(FORM_TYPE, rules);
    try {
      await parseBody(koaBody({ multipart: true, multipartTypes: [FORM_TYPE], formidable }), body);
    } catch (error) {
      // An error of formidable's says with which status it wants to be answered.
      if (error instanceof Error && 'httpCode' in error)
        throw malformed('it is cut off or has no parts', error);
      throw error;
    }
    return form.finish();
  });
}

/**
 * Reads a body that is one file, as soon as its sender may have a place. It is empty where the request has no body.
 * @throws HawserError 413 `payload_too_large`; 415 `unsupported_media_type` for a Content-Encoding; 400 `malformed_body`
 *   for one that is cut off; 408 `upload_too_slow`; `client_gone`
 */
export async function readFile(
  request: IncomingMessage,
  limits: Pick<UploadLimits, 'bytes' | 'setting'>,
  uploader: Uploader,
): Promise<Buffer> {
  return inPlace(request, uploader, async (take) => {
    refuseContentEncoding(request.headers);
    const body = await take('', {
      ...rulesOf(limits, limits.bytes),
      cutOff: (cause) => new HawserError('invalid', 'malformed_body', 'The body ended too early', { cause }),
    });
    const bytes = new ByteCollector();
    for await (const slice of body) bytes.append(slice);
    return bytes.drain();
  });
}

/**
 * Runs `work`, which takes the body once its sender has a place, and holds the place until it ends. What still comes of
 * a body that is refused is dropped.
 */
async function inPlace<T>(
  request: IncomingMessage,
  { places, userId, over }: Uploader,
  work: (take: (mediaType: string, rules: BodyRules) => Promise<MeteredBody>) => Promise<T>,
): Promise<T> {
  let leave = () => {};
  try {
    return await work(async (mediaType, rules) => {
      if (Number(request.headers['content-length'] ?? 0) > rules.limit) throw rules.tooLong();
      leave = await places.take(userId, over);
      return new MeteredBody(request, mediaType, rules);
    });
  } catch (error) {
    discardBody(request);
    throw error;
  } finally {
    leave();
  }
}

/** What every upload keeps to. */
function rulesOf(limits: Pick<UploadLimits, 'bytes' | 'setting'>, limit: number): Omit<BodyRules, 'cutOff'> {
  return { limit, pace: paceOfUpload(), isInSlices: true, tooLong: () => bodyTooLarge(limits) };
}

/** The whole body at most: the files at their limit and every part that may be there. */
function maximumBody(limits: UploadLimits, fields: number): number {
  const parts = Math.min(limits.files, MAX_FILES) + fields + 1;
  return limits.bytes + fields * (limits.fieldBytes ?? FIELD_BYTES) + parts * PART_OVERHEAD;
}

/** Puts the form together, part by part. */
class UploadForm {
  private readonly fields = new Map<string, string>();
  private readonly files: UploadedFile[] = [];
  private readonly tree: UploadTree;
  private archive: Buffer | null = null;
  private file: NamedFile | null = null;
  /** What is left to do for large files once all is there. */
  private readonly late: (() => Promise<void>)[] = [];
  private readonly limits: UploadLimits;
  private readonly shape: FormShape;
  private readonly seen = new Set<string>();
  private fileBytes = 0;

  constructor(limits: UploadLimits, shape: FormShape) {
    this.limits = limits;
    this.shape = shape;
    this.tree = new UploadTree(limits.files);
  }

  openPart({ name, filename, mediaType }: Disposition): PartSink {
    const { fields, file } = this.shape;
    if (file === undefined && name === 'files') return this.openFile(filename);
    if (file === undefined && name === 'archive') return this.openArchive();
    if (name !== file && !fields.includes(name))
      throw unknownPart(name, file === undefined ? [...fields, 'files', 'archive'] : [...fields, file]);
    if (this.seen.has(name)) throw invalidField(`/${name}`, `The form has the field ${name} twice`);
    this.seen.add(name);
    if (name === file) return this.openNamedFile(filename ?? '', mediaType);
    if (filename !== null)
      throw invalidField(`/${name}`, `The form has a file where ${name} is a plain field`);
    return this.openField(name);
  }

  async finish(): Promise<Upload> {
    for (const work of this.late) await work();
    const { fields, file, shape } = this;
    if (shape.file !== undefined && file === null)
      throw invalidField(`/${shape.file}`, `The form has no file ${shape.file}`, 'required');
    const plain = { files: this.files, ignored: this.tree.ignored };
    const { files, ignored } = this.archive === null ? plain : await unpack(this.archive, this.limits);
    for (const { path, content } of files) checkGitAttributes(path, content);
    return { fields, files, ignoredFiles: ignored, file };
  }

  private openFile(filename: string | null): PartSink {
    if (filename === null) throw invalidField('/files', 'A part "files" has no filename, which is its path');
    if (this.seen.has('archive')) throw twoKinds();
    this.seen.add('files');
    const name = withoutLeadingDot(filename);
    if (this.tree.leavesOut(name))
      return { append: ({ length }) => this.countFileBytes(length), close: () => undefined };
    const path = this.tree.add(name);
    return this.sink(this.countFileBytes, (content) => this.files.push({ path, content }));
  }

  private openNamedFile(filename: string, mediaType: string | null): PartSink {
    return this.sink(this.countFileBytes, (content) => {
      this.file = { filename, mediaType, content };
    });
  }

  /** The body's limit bounds the archive itself. The form's limits hold for what it unpacks to. */
  private openArchive(): PartSink {
    if (this.seen.has('archive')) throw invalidField('/archive', 'The form has two archives');
    if (this.seen.has('files')) throw twoKinds();
    this.seen.add('archive');
    return this.sink(
      () => undefined,
      (content) => {
        this.archive = content;
      },
    );
  }

  private openField(name: string): PartSink {
    const limit = this.limits.fieldBytes ?? FIELD_BYTES;
    let length = 0;
    const count = (bytes: number) => {
      length += bytes;
      if (length > limit) throw tooLarge(`The field ${name} exceeds ${limit} bytes`);
    };
    return this.sink(count, (content) => this.fields.set(name, decodeField(name, content)));
  }

  private readonly countFileBytes = (bytes: number): void => {
    this.fileBytes += bytes;
    if (this.fileBytes > this.limits.bytes) throw bodyTooLarge(this.limits);
  };

  /** @param count called with the length of each piece, before it is kept */
  private sink(count: (bytes: number) => void, keep: (content: Buffer) => void): PartSink {
    const bytes = new ByteCollector();
    return {
      append(chunk) {
        count(chunk.length);
        bytes.append(chunk);
      },
      close: () => {
        if (bytes.length < LARGE) keep(bytes.takeAll());
        else this.late.push(async () => keep(await bytes.drain()));
      },
    };
  }
}

/** Loads what reads ZIPs when it is first needed. */
async function unpack(archive: Buffer, limits: UploadLimits): Promise<Unpacked> {
  const { unpackArchive } = await import('./archive.ts');
  return unpackArchive(archive, limits);
}

function decodeField(name: string, bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    throw invalidField(`/${name}`, `The field ${name} is not valid UTF-8`);
  }
}

function bodyTooLarge(limits: Pick<UploadLimits, 'bytes' | 'setting'>): HawserError {
  return tooLarge(`The upload is ${overLimit(limits.bytes, limits.setting)}`);
}

function twoKinds(): HawserError {
  return invalidField('/archive', 'The form has both single files and an archive');
}

/** The name comes from the client, so it is escaped in the message, and in the path as a JSON Pointer. */
function unknownPart(name: string, known: readonly string[]): HawserError {
  const pointer = `/${showText(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const message = `The form has no part "${showText(name)}"; there are ${known.join(', ')}`;
  return invalid('validation_failed', message, [{ path: pointer, message, code: 'unrecognized_keys' }]);
}
