/** Reads the body that a route asks for: within its limits, and within what all bodies together may hold. */

import type { IncomingMessage } from 'node:http';
import type { Middleware } from 'koa';
import { koaBody } from 'koa-body';
import { HawserError, invalid, invalidField, overLimit, tooLarge } from '../lib/errors.ts';
import { sourceOf } from '../lib/source-address.ts';
import { BodyBudget, type BodySender, type BodyShare } from './body-budget.ts';
import { clientOf } from './connections.ts';
import type { Exchange } from './exchange.ts';
import { endOf } from './facts.ts';
import { type BodyPace, discardBody, MeteredBody, paceOfWhole, parseBody } from './metered-body.ts';
import { refuseContentEncoding, unsupported } from './multipart.ts';
import { type BodySpec, LARGEST_JSON } from './route.ts';
import { refuseNul } from './stored-text.ts';
import { openBody } from './stream-body.ts';
import { readFile, readUpload, type Upload, type Uploader, uploadPlaces } from './uploads.ts';
import { decodeJson, decodeUtf8, missingJson, parseJson, validate } from './validation.ts';

export interface RequestLimits {
  reportBytes: number;
  uploadBytes: number;
  uploadFiles: number;
}

/** The settings that have these limits, which the answer to a larger body names. */
const LIMIT_SETTINGS = {
  reportBytes: 'HAWSER_REPORT_LIMIT',
  uploadBytes: 'HAWSER_UPLOAD_LIMIT',
};

/** A body as the route's schema gives it, with what else came in it. */
export type ReadBody = { body: unknown } & Pick<Upload, 'files' | 'ignoredFiles' | 'file'>;

export const NO_BODY: ReadBody = { body: undefined, files: [], ignoredFiles: [], file: null };

/** Kinds of bodies that are handed on as one block. */
type UploadSpec = Extract<BodySpec<unknown>, { kind: 'upload' }>;
type WholeSpec = Exclude<BodySpec<unknown>, { kind: 'stream' | 'upload' | 'file' }>;

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
const CSV_TYPE = /^text\/csv\s*(?:;|$)/i;
const MULTIPART = /^multipart\//i;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** A route may have a limit of its own. */
const JSON_BYTES = 1024 * 1024;
/** More than the longest names and passwords take, each character as `%XX%XX%XX`. */
const FORM_BYTES = 32 * 1024;

export class BodyReader {
  private readonly limits: RequestLimits;
  private readonly budget: BodyBudget;
  private readonly uploads = uploadPlaces();
  private readonly parseJson: Middleware = koaBody({ jsonStrict: false, jsonLimit: LARGEST_JSON });
  /** Forms are taken as text: the reader that koa-body has for them repairs what is not encoded well. */
  private readonly parseForm = koaBody({ textTypes: [FORM_TYPE], urlencoded: false, textLimit: FORM_BYTES });

  constructor(limits: RequestLimits) {
    this.limits = limits;
    this.budget = new BodyBudget(limits.reportBytes);
  }

  /** @throws HawserError for a body that is refused, too large, too slow or not what the schema says */
  async read(spec: BodySpec<unknown>, ctx: Exchange): Promise<ReadBody> {
    const { req } = ctx;
    if (spec.kind === 'stream') {
      const stream = openBody(req, spec, endOf(ctx));
      return { ...NO_BODY, body: validate(spec.schema, stream, 'body') };
    }
    if (spec.kind === 'file')
      return { ...NO_BODY, body: validate(spec.schema, await this.readFile(ctx), 'body') };
    if (spec.kind !== 'upload') return this.readShared(spec, ctx);
    const mediaType = req.headers['content-type'] ?? '';
    if (spec.document && !MULTIPART.test(mediaType)) return this.readDocument(spec, spec.document, ctx);
    const isJson = JSON_TYPE.test(mediaType);
    if (spec.json === undefined || !isJson) return this.readUpload(spec, ctx);
    return this.readShared({ kind: 'json', schema: spec.json }, ctx);
  }

  /** Reads a body in one block, which has a share of the memory for all such bodies. */
  private async readShared(spec: WholeSpec, ctx: Exchange): Promise<ReadBody> {
    const { req } = ctx;
    let share: BodyShare | undefined;
    try {
      share = this.budget.open(senderOf(ctx));
      const whole = await this.readPermitted(spec, ctx, share);
      const body = validate(spec.schema, whole, spec.kind === 'form' ? 'form' : 'body');
      if (spec.kind === 'json' || spec.kind === 'form') refuseNulForStorage(body, ctx);
      return { ...NO_BODY, body };
    } catch (error) {
      // The rest of the body stays unread, so the connection cannot carry another request.
      if (share === undefined || req.isPaused()) ctx.res.shouldKeepAlive = false;
      throw error;
    } finally {
      share?.close();
    }
  }

  private async readPermitted(spec: WholeSpec, { req, state }: Exchange, share: BodyShare): Promise<unknown> {
    const refuse = (body: unknown) => spec.kind === 'json' && spec.refuse?.(body, state.principal ?? null);
    const whole = await this.readWhole(spec, req, share).catch((error) => {
      refuse(undefined);
      throw error;
    });
    refuse(whole);
    return whole;
  }

  private async readWhole(spec: WholeSpec, req: IncomingMessage, share: BodyShare): Promise<unknown> {
    const limit = Math.max(JSON_BYTES, (spec.kind === 'json' && spec.bytes) || 0);
    if (spec.kind === 'form') return this.readForm(req, share);
    if (spec.kind === 'document') {
      const mediaType = requireType(req, spec.mediaTypes);
      return { mediaType, bytes: await readBytes(req, { limit, share }) };
    }
    if (spec.kind === 'json' && spec.isOptional && !hasBody(req)) return {};
    // A request without a body cannot have a wrong media type.
    if (req.headers['content-type'] === undefined && !hasBody(req)) throw missingJson();
    if (spec.kind === 'json' && spec.ofCsv && CSV_TYPE.test(req.headers['content-type'] ?? '')) {
      refuseContentEncoding(req.headers);
      return spec.ofCsv(decodeCsv(await readBytes(req, { limit, share })));
    }
    if (!JSON_TYPE.test(req.headers['content-type'] ?? ''))
      throw mustBe(['application/json', ...(spec.kind === 'json' && spec.ofCsv ? ['text/csv'] : [])]);
    refuseContentEncoding(req.headers);
    if (spec.kind === 'jsonBytes')
      return readBytes(req, { limit: this.limits[spec.limit], setting: LIMIT_SETTINGS[spec.limit], share });
    return this.readJson(req, { limit, share, check: decodeJson });
  }

  private async readJson(request: IncomingMessage, reading: Reading): Promise<unknown> {
    const body = meter(request, 'application/json', reading);
    try {
      const value = await parseBody(this.parseJson, body);
      if (body.received > 0) return value;
    } catch (error) {
      // koa-body refuses members called `__proto__` too, of which the route's schema is to judge.
      if (error instanceof SyntaxError && 'body' in error) return parseJson(String(error.body));
      throw error;
    }
    throw missingJson();
  }

  /**
   * The fields of an HTML form without files.
   * @throws HawserError `malformed_body` for what is not encoded so, in UTF-8; `validation_failed` for a field that
   *   comes twice
   */
  private async readForm(request: IncomingMessage, share: BodyShare): Promise<Record<string, string>> {
    const body = meter(request, requireType(request, [FORM_TYPE]), {
      limit: FORM_BYTES,
      share,
      check: decodeFormText,
    });
    const pairs = decodeForm(String(await parseBody(this.parseForm, body)));
    const fields = new Map(pairs);
    if (fields.size < pairs.length) throw invalidField('', 'The form has a field twice');
    return Object.fromEntries(fields);
  }

  private async readUpload(spec: UploadSpec, ctx: Exchange): Promise<ReadBody> {
    const { limits } = this;
    const bytes = Math.min(limits.uploadBytes, spec.file?.bytes ?? limits.uploadBytes);
    const setting = bytes === limits.uploadBytes ? LIMIT_SETTINGS.uploadBytes : undefined;
    const { fields, ...rest } = await readUpload(
      ctx.req,
      { bytes, setting, files: spec.file ? 1 : limits.uploadFiles },
      { fields: spec.fields, file: spec.file?.name, orJson: spec.json !== undefined },
      this.uploaderOf(ctx),
    );
    const body = validate(spec.schema, Object.fromEntries(fields), 'form');
    refuseNulForStorage(body, ctx);
    return { body, ...rest };
  }

  /** One document in place of a form, which has no fields. */
  private async readDocument(
    spec: UploadSpec,
    { bytes }: { bytes: number },
    ctx: Exchange,
  ): Promise<ReadBody> {
    const limit = Math.min(bytes, this.limits.uploadBytes);
    const setting = limit === this.limits.uploadBytes ? LIMIT_SETTINGS.uploadBytes : undefined;
    const content = await readFile(ctx.req, { bytes: limit, setting }, this.uploaderOf(ctx));
    const mediaType = ctx.req.headers['content-type'] ?? null;
    return {
      ...NO_BODY,
      body: validate(spec.schema, {}, 'form'),
      file: { filename: '', mediaType, content },
    };
  }

  private readFile(ctx: Exchange): Promise<Buffer> {
    const limits = { bytes: this.limits.uploadBytes, setting: LIMIT_SETTINGS.uploadBytes };
    return readFile(ctx.req, limits, this.uploaderOf(ctx));
  }

  private uploaderOf(ctx: Exchange): Uploader {
    const { principal } = ctx.state;
    // Routes that take uploads are for users alone.
    const userId = principal?.kind === 'user' ? principal.userId : '';
    return { places: this.uploads, userId, over: endOf(ctx) };
  }
}

/** Sign-in and registration, which are public, store no text that has no narrower rule of its own. */
function refuseNulForStorage(body: unknown, { state: { route } }: Exchange): void {
  if (route?.access.kind !== 'public') refuseNul(body);
}

/** How a body in one block is read. */
/** @throws HawserError `validation_failed` for bytes that are not UTF-8 */
function decodeCsv(bytes: Buffer): string {
  try {
    return decodeUtf8(bytes);
  } catch {
    throw invalidField('', 'The file is not UTF-8', 'malformed_csv');
  }
}

interface Reading {
  /** The limit in bytes. */
  limit: number;
  /** The setting that has this limit, if it is one. */
  setting?: string;
  /** The memory that the body holds while it is read. */
  share: Pick<BodyShare, 'reserve'>;
  check?(whole: Buffer): void;
  /** The default is what a server asks for. */
  pace?: BodyPace;
}

/**
 * Reads the whole body as bytes, because the handler may have a thread parse it. koa-body parses where it reads.
 * @throws HawserError `payload_too_large`, as soon as the limit is passed; `malformed_body` for a body that is cut off, or
 *   comes in chunks of a byte or two; `body_timeout` for one that comes too slowly; `unavailable` where there is no
 *   more memory for it
 */
export async function readBytes(request: IncomingMessage, reading: Reading): Promise<Buffer> {
  const body = meter(request, '', reading);
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    body
      .on('data', (whole) => (bytes = whole))
      .once('end', () => resolve(bytes))
      .once('error', reject);
  });
}

function meter(
  request: IncomingMessage,
  mediaType: string,
  { share, pace, setting, ...reading }: Reading,
): MeteredBody {
  const tooLong = () => tooLarge(`The body is ${overLimit(reading.limit, setting)}`);
  if (Number(request.headers['content-length'] ?? 0) > reading.limit) {
    discardBody(request);
    throw tooLong();
  }
  return new MeteredBody(request, mediaType, {
    ...reading,
    pace: pace ?? paceOfWhole(),
    isInSlices: false,
    tooLong,
    cutOff: (cause) => new HawserError('invalid', 'malformed_body', 'The body ended too early', { cause }),
    reserve: (bytes) => share.reserve(bytes),
  });
}

/**
 * The body's media type, in lower case and without parameters.
 * @throws HawserError `unsupported_media_type`
 */
function requireType(request: IncomingMessage, mediaTypes: readonly string[]): string {
  const mediaType = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!mediaTypes.includes(mediaType)) throw mustBe(mediaTypes);
  refuseContentEncoding(request.headers);
  return mediaType;
}

const mustBe = (types: readonly string[]) => unsupported(`The Content-Type must be ${types.join(' or ')}`);

/** Whether there is a body, or may be (RFC 9112 6.3). */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;
}

const malformedForm = () => invalid('malformed_body', 'The form is not encoded as UTF-8');

function decodeFormText(bytes: Buffer): void {
  try {
    decodeUtf8(bytes);
  } catch {
    throw malformedForm();
  }
}

/** Strictly, unlike URLSearchParams: a password in another encoding must not be taken for another password. */
function decodeForm(text: string): [string, string][] {
  try {
    return text
      .split('&')
      .filter(Boolean)
      .map((pair) => {
        const [name = '', ...value] = pair.replaceAll('+', ' ').split('=').map(decodeURIComponent);
        return [name, value.join('=')];
      });
  } catch {
    throw malformedForm();
  }
}

function senderOf({ req, state: { principal } }: Exchange): BodySender {
  if (!principal) return { key: `from ${sourceOf(clientOf(req).address)}`, isKnown: false };
  return { key: principal.kind === 'user' ? principal.userId : principal.node.nodeId, isKnown: true };
}
