/** What stays out of a version: `.git`, and what `.hawserignore` names in the patterns of gitignore. */

import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ignore from 'ignore';
import { Failure } from '../errors.ts';

export const IGNORE_FILE = '.hawserignore';

/** @param path relative, with `/` between segments */
export type IsIgnored = (path: string, isFolder: boolean) => boolean;

/** @throws Failure where the file is there and cannot be read */
export async function readIgnored(folder: string): Promise<IsIgnored> {
  return ignoredBy(await readPatterns(join(folder, IGNORE_FILE)));
}

/** @param patterns lines as in a file `.gitignore` at the top of the folder */
export function ignoredBy(patterns: string): IsIgnored {
  // Patterns mean the same on every machine, also where names of files have no case.
  const rules = ignore({ ignorecase: false, allowRelativePaths: true }).add(patterns);
  return (path, isFolder) => {
    if (path === IGNORE_FILE || path === '.git' || path.endsWith('/.git')) return true;
    return rules.ignores(isFolder ? `${path}/` : path);
  };
}

async function readPatterns(file: string): Promise<string> {
  try {
    if (!(await lstat(file)).isFile()) throw new Failure(`${file} is no regular file.`);
    return (await readFile(file, 'utf8')).replace(/^\ufeff/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    if (error instanceof Failure) throw error;
    throw new Failure(`${file} cannot be read: ${code}.`);
  }
}
