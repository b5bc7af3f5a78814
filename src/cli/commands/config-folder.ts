/** The folder that some commands take, and the configuration that it is of. */

import { basename, resolve } from 'node:path';
import { isResourceName } from '../../domain/names.ts';
import type { Context } from '../declaration.ts';
import { UsageError } from '../errors.ts';
import { makeArchive } from '../folder/archive.ts';
import type { Contents } from '../folder/contents.ts';
import { readFolder } from '../folder/read-folder.ts';
import { printableLine } from '../printable.ts';
import { someOf } from '../values.ts';

export const NAME = {
  name: { value: 'NAME', summary: "the configuration; without it, the folder's name" },
} as const;

interface Taking extends Pick<Context, 'cwd' | 'out'> {
  options: { name: string | undefined };
}

/** The most paths that are named of what stays out. */
const MOST = 20;

/**
 * Reads the folder, and says what macOS or Windows has put there, which stays out.
 * @throws UsageError where the folder cannot have given the name; Failure as `readFolder` does
 */
export async function takeFolder(
  { cwd, options, out }: Taking,
  given: string,
): Promise<{ folder: string; name: string; contents: Contents }> {
  const folder = resolve(cwd, given);
  const name = nameOf(options.name, folder);
  const { contents, litter } = await readFolder(folder);
  if (litter.length > 0) out.note(`Left out: ${someOf(litter.map(printableLine), MOST)}.`);
  return { folder, name, contents };
}

function nameOf(said: string | undefined, folder: string): string {
  const name = said ?? basename(folder);
  if (isResourceName(name)) return name;
  if (said !== undefined) throw new UsageError(`"${said}" cannot be the name of a configuration.`);
  throw new UsageError(
    `The folder's name "${name}" cannot be the name of a configuration; say it by --name.`,
  );
}

/** The contents as the one file of a form. */
export async function archiveOf(name: string, contents: Contents) {
  return { part: 'archive' as const, filename: `${name}.zip`, content: await makeArchive(contents) };
}
