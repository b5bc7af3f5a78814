/** Writes forms as multipart/form-data (RFC 7578). */

import { randomUUID } from 'node:crypto';

export interface Form {
  /** What is undefined stays out. */
  fields: object;
  files: readonly { part: string; filename: string; content: Uint8Array }[];
}

/** @returns the body and its media type */
export function encodeForm({ fields, files }: Form): { type: string; content: Buffer } {
  const boundary = `hawser-${randomUUID()}`;
  const parts: Uint8Array[] = [];
  const open = (disposition: string, more = '') => {
    parts.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n`));
  };
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || value === null) continue;
    open(`name="${name}"`);
    parts.push(Buffer.from(`${value}\r\n`));
  }
  for (const { part, filename, content } of files) {
    open(`name="${part}"; ${filenameParameter(filename)}`, 'Content-Type: application/octet-stream\r\n');
    parts.push(content, Buffer.from('\r\n'));
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`));
  return { type: `multipart/form-data; boundary=${boundary}`, content: Buffer.concat(parts) };
}

/** A name with quotes or beyond ASCII is escaped (RFC 8187), which the server reads exactly. */
function filenameParameter(filename: string): string {
  if (/^[\w .,/+@=~()-]*$/.test(filename)) return `filename="${filename}"`;
  return `filename*=UTF-8''${encodeURIComponent(filename).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)}`;
}
