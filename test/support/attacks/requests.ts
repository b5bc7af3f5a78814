/** The requests of attackers: requests that are sent only in part, bodies in tiny pieces, and many requests at once. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { RawConnection } from './raw-connection.ts';

/** `lines` are header lines such as `Content-Type: application/json`. */
export function requestHead(method: string, path: string, ...lines: string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n');
}

/** A JSON request that declares its length and stops in the middle of its body. */
export function halfSent(method: string, path: string, body: string): string {
  const length = Buffer.byteLength(body);
  const head = requestHead(method, path, 'Content-Type: application/json', `Content-Length: ${length}`);
  return head + body.slice(0, Math.ceil(length / 2));
}

/** The head of a POST whose body comes in chunks. */
export function chunkedHead(path: string, type: string, ...lines: string[]): string {
  return requestHead('POST', path, `Content-Type: ${type}`, 'Transfer-Encoding: chunked', ...lines);
}

/** Makes one chunk for each byte (RFC 9112 7.1). */
export function byteByByte(bytes: Buffer): Buffer {
  const framed = Buffer.alloc(bytes.length * 6);
  for (const [at, byte] of bytes.entries()) {
    framed.write('1\r\n \r\n', at * 6, 'latin1');
    framed[at * 6 + 3] = byte;
  }
  return framed;
}

/** One chunk. If it is the last one, the end of the body follows. */
export function chunk(bytes: Buffer, isLast = false): Buffer {
  const head = Buffer.from(`${bytes.length.toString(16)}\r\n`);
  return Buffer.concat([head, bytes, Buffer.from(isLast ? '\r\n0\r\n\r\n' : '\r\n')]);
}

/**
 * Sends a body of chunks with pauses, until the connection ends or `isOver`.
 * @param pause milliseconds between two chunks
 */
export async function trickle(
  connection: RawConnection,
  body: Buffer,
  { bytesAtOnce, pause, isOver }: { bytesAtOnce: number; pause: number; isOver: () => boolean },
): Promise<void> {
  for (let at = 0; at < body.length && !connection.isClosed && !isOver(); at += bytesAtOnce) {
    await connection.send(chunk(body.subarray(at, at + bytesAtOnce), at + bytesAtOnce >= body.length));
    await sleep(pause);
  }
}
