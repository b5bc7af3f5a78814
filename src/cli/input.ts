/** What commands are given to send: from a file, or from stdin. */

import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { printJson } from '../domain/json-text.ts';
import { readYaml } from '../domain/yaml-reader.ts';
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
  const name = file === '-' ? 'What stdin holds' : file;
  if (isUtf16(bytes))
    throw new Failure(
      `${name} is UTF-16, as > of Windows PowerShell writes it. Write it with "| Out-File -Encoding utf8 FILE" in place of that.`,
    );
  try {
    // The server keeps the content byte by byte, so a byte order mark stays.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Failure(`${name} is no text in UTF-8.`);
  }
}

/** Reads JSON or YAML. @throws Failure, also where it is neither */
export async function readData(surroundings: Surroundings, file: string): Promise<unknown> {
  const text = await readText(surroundings, file);
  try {
    return JSON.parse(/^\s*[[{]/.test(text) ? text : printJson(readYaml(text)));
  } catch (error) {
    throw new Failure(`${file} is neither JSON nor YAML: ${(error as Error).message}`);
  }
}

/** Reads what somebody has written into a file by hand, such as a password: one line, without the mark that Windows puts first. */
export async function readSecretLine(surroundings: Surroundings, file: string): Promise<string> {
  const text = await readText(surroundings, file);
  return text.replace(/^\ufeff/, '').replace(/\r?\n$/, '');
}

/** Both byte orders have a mark, and Windows PowerShell writes it. */
function isUtf16(bytes: Buffer): boolean {
  const mark = bytes.subarray(0, 2).toString('hex');
  return mark === 'fffe' || mark === 'feff';
}
