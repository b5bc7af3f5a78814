/**
 * The clients, as the build has made them: one file each. They are read once and kept in memory, so that a server goes on
 * handing out those of its own build while a newer one is written or its own is removed.
 */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Answer, download, notModified } from '../../http/answer.ts';
import { mediaTypeOf } from '../../http/media-types.ts';
import { buildFolder } from '../../lib/build-folder.ts';
import { sha256Base64, sha256Hex } from '../../lib/hash.ts';
import type { Log } from '../../lib/log.ts';

/** The names of the files. */
export const CLIENTS = ['hawserctl.mjs', 'hawser-agent.mjs'] as const;

export type ClientName = (typeof CLIENTS)[number];

/** A client, as it is handed out. */
export interface ClientFile {
  /** Its ETag says the beginning of the digest. */
  answer: Answer;
  /** The answer to who has the file already. */
  unchanged: Answer;
  /** The SHA-256 of the file as hex digits, by which whoever fetches it knows it. */
  digest: string;
}

/** It may be kept, and is asked for each time. */
const CACHING = { 'Cache-Control': 'no-cache' };

/** Those that the build has. */
export type ClientFiles = ReadonlyMap<ClientName, ClientFile>;

/** A client that is missing is left out, which the log then says. */
export async function readClients(log: Log): Promise<ClientFiles> {
  const folder = join(await buildFolder(), 'client');
  const files = new Map<ClientName, ClientFile>();
  for (const name of CLIENTS) {
    try {
      files.set(name, toClientFile(name, await readFile(join(folder, name))));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      log.warn({ folder, name, reason: code }, 'a client is missing, so its download answers 404');
    }
  }
  return files;
}

function toClientFile(name: ClientName, body: Buffer): ClientFile {
  const digest = sha256Hex(body);
  const validator = digest.slice(0, 40);
  const answer = download(body, mediaTypeOf(name), validator, {
    ...CACHING,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Repr-Digest': `sha-256=:${sha256Base64(body)}:`,
  });
  return { answer, unchanged: notModified(validator, CACHING), digest };
}
