/**
 * Reads multipart/form-data (RFC 7578) for formidable, which koa-body stands on, without loss. Formidable's own plugin
 * drops folders from file names, overlooks `filename*` and takes a part without a type for a field. Header text comes as
 * Latin-1, one character per byte; names leave as UTF-8 with U+FFFD for bytes that are not UTF-8.
 */

import type { IncomingHttpHeaders } from 'node:http';
import type formidable from 'formidable';
import { MultipartParser } from 'formidable';
import { HawserError, invalidField } from '../lib/errors.ts';

export interface Disposition {
  name: string;
  /** The name as the client sent it, which is not yet a safe path; null for a plain field. */
  filename: string | null;
  /** The part's `Content-Type`; null without one. */
  mediaType: string | null;
}

/** What the bytes of one part go into. */
export interface PartSink {
  append(chunk: Buffer): void;
  close(): void;
}

/** Header values by lower-case name. */
type PartHeaders = Map<string, string[]>;

/** What formidable's plugins set on their form, which its types leave out. */
interface OpenForm {
  type: string;
  _parser: PartParser;
  ended: boolean;
  _error(error: unknown): void;
  _maybeEnd(): void;
}

/** Bytes of all headers of a part. */
const HEADER_BYTES = 80 * 1024;

/** `; name=token` or `; name="quoted"`, where a backslash may protect the next character (RFC 9110 5.6.6). */
const PARAMETER = /[ \t]*;[ \t]*([^\s;="\\]+)=(?:"((?:[^"\\]|\\[\s\S])*)"|([^";]*))[ \t]*/y;

/** RFC 2046 5.1.1. */
const BOUNDARY = /^[\x20-\x7e]{0,69}[\x21-\x7e]$/;

/** RFC 8187, in UTF-8 alone: a charset, a language that does not matter, and the escaped bytes. */
const EXTENDED_VALUE = /^utf-8'[^']*'((?:[^%]|%[0-9a-f]{2})*)$/i;

/**
 * The boundary named by a request's `Content-Type`.
 * @param orJson whether JSON would be taken too, which the refusal says
 * @throws HawserError `unsupported_media_type` for another media type, and for a compressed body, which could grow past
 *   every limit after it was counted; `validation_failed`, in it `malformed_multipart`, for a missing boundary
 */
export function readBoundary(headers: IncomingHttpHeaders, orJson = false): string {
  const contentType = headers['content-type'] ?? '';
  const type = /^multipart\/form-data(?=[ \t]*(?:;|$))/i.exec(contentType)?.[0];
  if (type === undefined)
    throw unsupported(
      `The Content-Type must be multipart/form-data, which curl sends with -F${orJson ? ', or application/json' : ''}`,
    );
  refuseContentEncoding(headers);
  const boundary = parseParameters(contentType.slice(type.length))?.get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary))
    throw malformed('its boundary is missing or not legal; curl sets it by itself with -F');
  return boundary;
}

/** @throws HawserError `unsupported_media_type`: a compressed body could grow past every limit after it was counted */
export function refuseContentEncoding(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw unsupported('The body must not have a Content-Encoding');
}

export function unsupported(message: string): HawserError {
  return new HawserError('unsupported_media_type', 'unsupported_media_type', message);
}

export function malformed(why: string, cause?: unknown): HawserError {
  return invalidField('', `The form cannot be read: ${why}`, 'malformed_multipart', cause);
}

/**
 * A plugin of formidable.
 * @param openPart called for each part; what it and its sinks throw ends the form
 */
export function partReader(
  boundary: string,
  openPart: (disposition: Disposition) => PartSink,
): formidable.PluginFunction {
  return (plugged) => {
    const form = plugged as unknown as OpenForm;
    form.type = 'multipart';
    form._parser = new PartParser(form, openPart);
    form._parser.initWithBoundary(boundary);
  };
}

/**
 * Takes what the parser finds at once. The parser would hand it on as a stream of objects instead, whose bytes may have
 * changed by the time that they are read.
 */
class PartParser extends MultipartParser {
  private readonly form: OpenForm;
  private readonly openPart: (disposition: Disposition) => PartSink;
  private headers: PartHeaders = new Map();
  private headerBytes = 0;
  private name = '';
  private value = '';
  private sink: PartSink | null = null;
  private isOver = false;

  constructor(form: OpenForm, openPart: (disposition: Disposition) => PartSink) {
    super();
    this.form = form;
    this.openPart = openPart;
  }

  /** Throws nothing, because formidable does not expect that at the end of the body. */
  override _handleCallback(event: string, buffer: Buffer, start = 0, end = 0): void {
    if (this.isOver) return;
    try {
      this.handle(event, buffer, start, end);
    } catch (error) {
      this.isOver = true;
      this.form._error(error);
    }
  }

  private handle(event: string, buffer: Buffer, start: number, end: number): void {
    if (event === 'partData') this.sink?.append(buffer.subarray(start, end));
    else if (event === 'headerField') this.name += this.headerText(buffer, start, end);
    else if (event === 'headerValue') this.value += this.headerText(buffer, start, end);
    else if (event === 'headerEnd') this.endHeader();
    else if (event === 'headersEnd') this.beginContent();
    else if (event === 'partEnd') this.endPart();
    else if (event === 'end') this.endForm();
  }

  private headerText(buffer: Buffer, start: number, end: number): string {
    this.headerBytes += end - start;
    return this.headerBytes > HEADER_BYTES ? '' : buffer.toString('latin1', start, end);
  }

  private endHeader(): void {
    const name = this.name.toLowerCase();
    const values = this.headers.get(name);
    if (values === undefined) this.headers.set(name, [this.value]);
    else values.push(this.value);
    this.name = '';
    this.value = '';
  }

  private beginContent(): void {
    if (this.headerBytes > HEADER_BYTES) throw malformed('a part has too large a header');
    this.sink = this.openPart(readDisposition(this.headers));
  }

  private endPart(): void {
    if (this.sink === null) throw malformed('it is cut off');
    this.sink.close();
    this.sink = null;
    this.headers = new Map();
    this.headerBytes = 0;
  }

  private endForm(): void {
    // Formidable makes do with a boundary that has no dashes behind it where the body ends.
    if (this.writableEnded) throw malformed('it is cut off');
    this.isOver = true;
    this.form.ended = true;
    this.form._maybeEnd();
  }
}

/**
 * What the headers of a part say. `filename*` goes before `filename`: RFC 7578 has no use for it, but .NET's HttpClient
 * sends both, and then only it holds a name outside ASCII. `%22` and other escapes in a plain `filename` stay as they
 * are: nothing tells an escape from a name that holds a percent sign.
 * @throws HawserError `validation_failed`, in it `malformed_multipart`
 */
function readDisposition(headers: PartHeaders): Disposition {
  const [value, ...more] = headers.get('content-disposition') ?? [];
  const type = /^form-data(?=[ \t]*;)/i.exec(value ?? '')?.[0];
  if (value === undefined || type === undefined || more.length > 0)
    throw malformed('a part has no Content-Disposition of the type form-data');
  refuseTransferEncoding(headers);
  const parameters = parseParameters(value.slice(type.length));
  const name = parameters?.get('name');
  if (parameters === null || name === undefined) throw malformed('a part names itself in no readable way');
  const extended = parameters.get('filename*');
  const filename = extended === undefined ? parameters.get('filename') : decodeExtended(extended);
  return {
    name: toText(name),
    filename: filename === undefined ? null : toText(filename),
    mediaType: headers.get('content-type')?.[0] ?? null,
  };
}

/** Parameters by lower-cased name, still one character per byte; null where they break the grammar or repeat. */
function parseParameters(text: string): Map<string, string> | null {
  const parameters = new Map<string, string>();
  PARAMETER.lastIndex = 0;
  let end = 0;
  for (let match = PARAMETER.exec(text); match !== null; match = PARAMETER.exec(text)) {
    end = PARAMETER.lastIndex;
    const [, key = '', quoted, plain = ''] = match;
    if (parameters.has(key.toLowerCase())) return null;
    parameters.set(key.toLowerCase(), quoted === undefined ? plain.trim() : unquote(quoted));
  }
  return /^[ \t;]*$/.test(text.slice(end)) ? parameters : null;
}

/**
 * Some clients protect quotes and backslashes, browsers and .NET send a backslash as it is (`modules\iis.yaml`).
 * Taking it for an escape only before those two reads both; a doubled one within a path means no more than one.
 */
function unquote(quoted: string): string {
  return quoted.replace(/\\(["\\])/g, '$1');
}

function decodeExtended(value: string): string {
  const escaped = EXTENDED_VALUE.exec(value)?.[1];
  if (escaped === undefined) throw malformed('a filename* is not UTF-8 by RFC 8187');
  return escaped.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function toText(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** RFC 7578 4.7 deprecates transfer encodings: content under one would be stored as something else. */
function refuseTransferEncoding(headers: PartHeaders): void {
  const encoding = headers.get('content-transfer-encoding')?.[0] ?? 'binary';
  if (!/^(?:7bit|8bit|binary)\s*$/i.test(encoding)) throw malformed('a part has a transfer encoding');
}
