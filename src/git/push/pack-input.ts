/** The pack of a push on its way from the client to git. The stream is never destroyed here, nor read to its end. */

import { finished, type Readable } from 'node:stream';
import { clientGone } from '../../lib/client-gone.ts';
import { invalid } from '../../lib/errors.ts';
import type { GitProcess } from '../git-process.ts';
import { nextChunk } from './chunks.ts';

export interface PackHeader {
  /** What has been taken from the stream: the header, and perhaps some of what follows it. */
  bytes: Buffer;
  /** How many objects the pack says that it has. */
  objects: number;
}

/** The signature, the version and the number of objects, see gitformat-pack(5). */
const HEADER_BYTES = 12;
const SIGNATURE = 'PACK';
const VERSIONS = [2, 3];

/**
 * Takes the header from the front of the stream.
 * @throws HawserError `invalid_pack` where there is none; `client_gone`, also if the stream is destroyed; an error of the
 *   stream as it is
 */
export async function readPackHeader(pack: Readable, gone: AbortSignal): Promise<PackHeader> {
  // The stream may fail when nobody asks anything of it. Whoever does then is told.
  pack.on('error', () => undefined);
  let bytes: Buffer = Buffer.alloc(0);
  while (bytes.length < HEADER_BYTES) {
    const chunk = await nextChunk(pack, gone);
    if (chunk === null) break;
    bytes = Buffer.concat([bytes, chunk]);
  }
  const isPack = bytes.length >= HEADER_BYTES && bytes.toString('latin1', 0, 4) === SIGNATURE;
  if (!isPack) throw invalid('invalid_pack', 'The push has no pack where one must be');
  const version = bytes.readUInt32BE(4);
  if (!VERSIONS.includes(version)) throw invalid('invalid_pack', `Packs of version ${version} are unknown`);
  return { bytes, objects: bytes.readUInt32BE(8) };
}

export interface Feeding {
  /** What kept the stream from its end; null as long as it is well. Git is stopped by it. */
  readonly fault: Error | null;
  /** Leaves the stream standing where it is. */
  release(): void;
}

/** Gives git the header and what follows it, as fast as git takes it. */
export function feedPack(header: PackHeader, pack: Readable, process: GitProcess): Feeding {
  let fault: Error | null = null;
  const forget = finished(pack, { writable: false }, (error) => {
    if (!error) return;
    fault = error.code === 'ERR_STREAM_PREMATURE_CLOSE' ? clientGone() : error;
    process.stop();
  });
  process.stdin.write(header.bytes);
  pack.pipe(process.stdin);
  return {
    get fault() {
      return fault;
    },
    release() {
      forget();
      pack.unpipe(process.stdin);
    },
  };
}
