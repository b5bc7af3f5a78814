/** The media type under which a stored file is handed out, by the extension of its name. */

import { posix } from 'node:path';
import { lookup } from 'mime-types';

const UNKNOWN = 'application/octet-stream';
const PLAIN = 'text/plain';

/** These types go before the registry of `mime-types`, which lacks them (RFC 9512) or has others. */
const OWN: ReadonlyMap<string, string> = new Map([
  ['.yaml', 'application/yaml'],
  ['.yml', 'application/yaml'],
  ['.ps1', PLAIN],
  ['.psm1', PLAIN],
  ['.psd1', PLAIN],
  ['.ps1xml', 'application/xml'],
  ['.bicep', PLAIN],
  ['.bicepparam', PLAIN],
  ['.mof', PLAIN],
  // The registry knows a video format and a proprietary one under these.
  ['.ts', PLAIN],
  ['.dsc', PLAIN],
]);

/**
 * The value of `Content-Type`. Text says that it is UTF-8. JSON and YAML always are (RFC 8259, RFC 9512) and have no such
 * parameter. The file may be HTML or SVG, so whoever serves it must keep it from running.
 */
export function mediaTypeOf(path: string): string {
  const extension = posix.extname(path).toLowerCase();
  // Without this a file called `json` would count as one with that extension.
  if (extension === '') return UNKNOWN;
  const type = OWN.get(extension) ?? (lookup(extension) || UNKNOWN);
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type;
}
