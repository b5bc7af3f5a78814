/** Texts that commands send: from a file, or from stdin. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { Context } from './declaration.ts';
import { Failure } from './errors.ts';

/** @param file relative to the working folder, or `-` for stdin @throws Failure where it cannot be read, or is no UTF-8 */
export async function readText(
  { stdin, cwd }: Pick<Context, 'stdin' | 'cwd'>,
  file: string,
): Promise<string> {
  const bytes = file === '-' ? await buffer(stdin) : await readBytes(resolve(cwd, file));
  try {
    // The server keeps the content byte by byte, so a byte order mark stays.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Failure(`${file === '-' ? 'What stdin holds' : file} is no text in UTF-8.`);
  }
}

function readBytes(file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Failure(`${file} cannot be read: ${error.code}.`);
  });
}
