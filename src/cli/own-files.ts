/** The files that this program keeps for its user: where the XDG Base Directory Specification says, and where Windows does. */

import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import nodePath, { dirname } from 'node:path';
import { writeSecretFile } from '../lib/secret-file.ts';

/** The variable that names the folder, and the folder below that of the user where it does not. */
const FOLDERS = {
  config: { xdg: ['XDG_CONFIG_HOME', '.config'], windows: ['APPDATA', 'AppData/Roaming'] },
  cache: { xdg: ['XDG_CACHE_HOME', '.cache'], windows: ['LOCALAPPDATA', 'AppData/Local'] },
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns the path of a file, which need not be there */
export function ownFile(
  env: Environment,
  kind: keyof typeof FOLDERS,
  name: string,
  platform: NodeJS.Platform = process.platform,
): string {
  const isWindows = platform === 'win32';
  const { join, isAbsolute } = isWindows ? nodePath.win32 : nodePath.posix;
  const [variable, fallback] = FOLDERS[kind][isWindows ? 'windows' : 'xdg'];
  const given = env[variable];
  const home = env[isWindows ? 'USERPROFILE' : 'HOME'] || homedir();
  // The specification says that a relative path counts as none.
  const folder = given && isAbsolute(given) ? given : join(home, fallback);
  return join(folder, 'hawser', name);
}

/**
 * Whoever reads meanwhile finds the old file or the new one, and nobody else can read either at any time.
 * @throws the system's error
 */
export async function writeOwnFile(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeSecretFile(file, text);
}
