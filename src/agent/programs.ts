/** The program that applies a configuration: where it is, and where to get the one that is run by default. */

import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';

/** How DSC v3 is run. It prints JSON when its output does not go to a terminal. */
export const DSC_COMMAND = [
  ...['dsc', 'config', '--parameters-file', '{parametersFile}'],
  ...['{operation}', '--file', '{entryPoint}'],
] as const;

const DSC_SOURCE = 'https://github.com/PowerShell/DSC/releases';
/** Where systems look if the environment does not say it. */
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/**
 * Finds a program as the system does when it starts one.
 * @param folder where the path of the program starts if it is relative
 * @returns its path, or null when there is no such program
 */
export async function findProgram(
  program: string,
  environment: Record<string, string | undefined>,
  folder: string,
): Promise<string | null> {
  const isPath = program.includes('/') || program.includes('\\');
  const folders = (environment['PATH'] ?? DEFAULT_PATH).split(delimiter);
  const paths = isPath ? [resolve(folder, program)] : folders.map((each) => join(each, program));
  for (const path of paths.flatMap((each) => spellings(each, environment))) {
    if (await isProgram(path)) return path;
  }
  return null;
}

/** Says that a program is missing, and where to get it if it is DSC. */
export function describeMissing(program: string): string {
  const sentence = `${program} is not on this machine`;
  return program === DSC_COMMAND[0]
    ? `${sentence}; get it from ${DSC_SOURCE}, or name another program in the setting command`
    : sentence;
}

/** Windows adds the end of the name by itself. */
function spellings(path: string, environment: Record<string, string | undefined>): string[] {
  if (process.platform !== 'win32') return [path];
  const ends = (environment['PATHEXT'] ?? '.COM;.EXE;.BAT;.CMD').split(';');
  return [path, ...ends.map((end) => path + end)];
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
