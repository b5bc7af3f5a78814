/** Reads the files of an OpenDSC server in its data folder. Their names come from its database, and may be anything. */

import { constants } from 'node:fs';
import { open, readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { HawserError } from '../../../lib/errors.ts';
import { sha256Hex } from '../../../lib/hash.ts';

/** What is wrong with a file of the source, or null. */
export type FileFault = 'missing' | 'altered';

/** The files in the data folder of the OpenDSC server. */
export interface SourceFiles {
  /**
   * Reads a file of a version of a configuration, named by its configuration, its version and its path.
   * @returns the bytes, or what is wrong with them by their checksum
   */
  configurationFile(
    at: { configuration: string; version: string; path: string },
    checksum: string,
  ): Promise<Buffer | FileFault>;
  /** The same of a parameter file. `scopeValue` is null for the scope type Default. Without a checksum, any bytes are right. */
  parameterFile(
    at: { configuration: string; scopeType: string; scopeValue: string | null; version: string },
    checksum: string | null,
  ): Promise<Buffer | FileFault>;
}

/** What the system says of a path at which there is no file. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EISDIR', 'EINVAL', 'ENXIO']);

/**
 * Nothing outside the folder is ever read, whatever the names and links are.
 * @param folder the data folder, in which `configurations` and `parameters` are
 * @returns readers that throw HawserError `source_unreadable` for a file that is there but may not be read
 * @throws HawserError `source_missing`, `source_unreadable`
 */
export async function openSourceFiles(folder: string): Promise<SourceFiles> {
  const root = await requireFolder(folder);
  // The operator may have put either folder on another disk, behind a link.
  const folderOf = async (name: string): Promise<Folder> => {
    const path = join(root, name);
    return { name, path: await realpath(path).catch(() => path) };
  };
  const configurations = await folderOf('configurations');
  const parameters = await folderOf('parameters');
  return {
    configurationFile: ({ configuration, version, path }, checksum) =>
      readWithin(configurations, [configuration, `v${version}`, path], checksum),
    parameterFile: ({ configuration, scopeType, scopeValue, version }, checksum) => {
      const value = scopeValue === null ? [] : [scopeValue];
      const segments = [configuration, scopeType, ...value, `v${version}`, 'parameters.yaml'];
      return readWithin(parameters, segments, checksum);
    },
  };
}

async function requireFolder(folder: string): Promise<string> {
  try {
    const root = await realpath(folder);
    await readdir(root);
    return root;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new HawserError('not_found', 'source_missing', `There is no folder ${folder}`);
    if (code === 'ENOTDIR') throw new HawserError('not_found', 'source_missing', `${folder} is no folder`);
    throw new HawserError(
      'unavailable',
      'source_unreadable',
      `The folder ${folder} cannot be read (${code})`,
    );
  }
}

/** One of the two folders, with the name that it has in the data folder. */
interface Folder {
  name: string;
  path: string;
}

/** Names from Windows have backslashes between folders. Elsewhere a name may hold one, so the plain name comes first. */
async function readWithin(
  folder: Folder,
  segments: readonly string[],
  checksum: string | null,
): Promise<Buffer | FileFault> {
  const names = new Set([segments.join('/'), segments.join('/').replaceAll('\\', '/')]);
  for (const name of names) {
    const content = isSafe(segments, name) ? await readIfThere(folder, name) : null;
    if (content === null) continue;
    const isRight = checksum === null || sha256Hex(content) === checksum.toLowerCase();
    return isRight ? content : 'altered';
  }
  return 'missing';
}

/** Whether the name stays below the folder by its words alone. Links are looked at when it is opened. */
function isSafe(segments: readonly string[], name: string): boolean {
  const isRooted = segments.some((each) => /^[\\/]/.test(each) || /^[a-z]:/i.test(each) || each === '');
  return !isRooted && !name.includes('\0') && !name.split(/[\\/]/).includes('..');
}

/** @returns null where there is no such file in the folder */
async function readIfThere({ name: folder, path: root }: Folder, name: string): Promise<Buffer | null> {
  try {
    const path = await realpath(join(root, name));
    const within = relative(root, path);
    if (within === '..' || within.startsWith(`..${sep}`) || isAbsolute(within)) return null;
    // No link is left in the path, and a pipe would be waited for without an end.
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      return (await file.stat()).isFile() ? await file.readFile() : null;
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && ABSENT.has(code)) return null;
    throw new HawserError(
      'unavailable',
      'source_unreadable',
      `${folder}/${name} in the data folder cannot be read (${code})`,
    );
  }
}
