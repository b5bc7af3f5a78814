/** The folder of this project, for tests and scripts, which run from a folder of transpiled files (scripts/transpile.js). */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const PROJECT = findProject(import.meta.dirname);

function findProject(folder: string): string {
  if (existsSync(join(folder, 'package-lock.json'))) return folder;
  if (folder === dirname(folder))
    throw new Error(`${import.meta.dirname} is not in a checkout of this project`);
  return findProject(dirname(folder));
}
