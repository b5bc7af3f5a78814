/**
 * The two headers of multipart/form-data that carry parameters, read without loss: header text comes in as
 * Latin-1, one character per byte, and names leave as UTF-8 with U+FFFD for bytes that are none.
 */

import type { IncomingHttpHeaders } from 'node:http';
import { HawserError, invalidField } from '../lib/errors.ts';

export interface Disposition {
  name: string;
  /** As the client sent it, not yet a safe path; null for a plain field. */
  filename: string | null;
}

/** `; name=token` or `; name="quoted"`, where a backslash may protect the next character (RFC 9110, 5.6.6). */
const PARAMETER = /[ \t]*;[ \t]*([^\s;="\\]+)=(?:"((?:[^"\\]|\\[\s\S])*)"|([^";]*))[ \t]*/y;

/** RFC 2046, 5.1.1. */
const BOUNDARY = /^[\x20-\x7e]{0,69}[\x21-\x7e]$/;

/** RFC 8187, in UTF-8 alone: a charset, a language that does not matter, and the escaped bytes. */
const EXTENDED_VALUE = /^utf-8'[^']*'((?:[^%]|%[0-9a-f]{2})*)$/i;

/**
 * The boundary named by a request's `Content-Type`. Throws 415 for another media type, and for a compressed body,
 * which could grow past every limit after it was counted; 400 `validation_failed`, in it `malformed_multipart`, for a
 * missing boundary.
 */
export function readBoundary(headers: IncomingHttpHeaders): string {
  const contentType = headers['content-type'] ?? '';
  const type = /^multipart\/form-data(?=[ \t]*(?:;|$))/i.exec(contentType)?.[0];
  if (type === undefined) throw unsupported('The body must be multipart/form-data');
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') throw unsupported('The body must not have a Content-Encoding');
  const boundary = parseParameters(contentType.slice(type.length))?.get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary))
    throw malformed('its boundary is missing or not legal');
  return boundary;
}

/**
 * What `Content-Disposition` says of a part. `filename*` goes before `filename`: RFC 7578 has no use for it, but
 * .NET's HttpClient sends both, and then only it holds a name outside ASCII. `%22` and other escapes in a plain
 * `filename` stay as they are: nothing tells an escape from a name that holds a percent sign.
 * Throws 400 `validation_failed`, in it `malformed_multipart`.
 */
export function readDisposition(
  headers: Readonly<Record<string, readonly string[] | undefined>>,
): Disposition {
  const [value, ...more] = headers['content-disposition'] ?? [];
  const type = /^form-data(?=[ \t]*;)/i.exec(value ?? '')?.[0];
  if (value === undefined || type === undefined || more.length > 0) {
    throw malformed('a part has no Content-Disposition of the type form-data');
  }
  refuseEncoded(headers);
  const parameters = parseParameters(value.slice(type.length));
  const name = parameters?.get('name');
  if (parameters === null || name === undefined) throw malformed('a part names itself in no readable way');
  const extended = parameters.get('filename*');
  const plain = parameters.get('filename');
  const filename = extended === undefined ? plain : decodeExtended(extended);
  return { name: toText(name), filename: filename === undefined ? null : toText(filename) };
}

function unsupported(message: string): HawserError {
  return new HawserError('unsupported_media_type', 'unsupported_media_type', message);
}

export function malformed(why: string, cause?: unknown): HawserError {
  return invalidField('', `The form cannot be read: ${why}`, 'malformed_multipart', cause);
}

/** The text of a plain field. */
export function decodeField(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidField(`/${name}`, `The field ${name} is not valid UTF-8`);
  }
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

/** RFC 7578, 4.7 deprecates transfer encodings: content under one would be stored as something else. */
function refuseEncoded(headers: Readonly<Record<string, readonly string[] | undefined>>): void {
  const encoding = headers['content-transfer-encoding']?.[0] ?? 'binary';
  if (!/^(?:7bit|8bit|binary)\s*$/i.test(encoding)) throw malformed('a part has a transfer encoding');
}
