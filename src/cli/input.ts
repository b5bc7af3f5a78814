/** What commands are given to send: from a file, or from stdin. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Context } from './declaration.ts';
import { Failure } from './errors.ts';

type Surroundings = Pick<Context, 'stdin' | 'cwd'>;

/** @param file relative to the working folder, or `-` for stdin @throws Failure where it cannot be read */
export async function readInput({ stdin, cwd }: Surroundings, file: string): Promise<Buffer> {
  if (file === '-') return buffer(stdin);
  const path = resolve(cwd, file);
  return readFile(path).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${path} cannot be read: ${error.code}.`);
  });
}

/** Reads a text. @throws Failure, also where it is no UTF-8 */
export async function readText(surroundings: Surroundings, file: string): Promise<string> {
  const bytes = await readInput(surroundings, file);
  try {
    // The server keeps the content byte by byte, so a byte order mark stays.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Failure(`${file === '-' ? 'What stdin holds' : file} is no text in UTF-8.`);
  }
}
