/** The files that this program keeps for its user, where the XDG Base Directory Specification says. */

import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { writeSecretFile } from '../lib/secret-file.ts';

/** The variable that names the folder, and the folder below HOME where it does not. */
const FOLDERS = {
  config: ['XDG_CONFIG_HOME', '.config'],
  cache: ['XDG_CACHE_HOME', '.cache'],
} as const;

/** @returns the path of a file, which need not be there */
export function ownFile(
  env: Readonly<Record<string, string | undefined>>,
  kind: keyof typeof FOLDERS,
  name: string,
): string {
  const [variable, fallback] = FOLDERS[kind];
  const given = env[variable];
  // The specification says that a relative path counts as none.
  const folder = given && isAbsolute(given) ? given : join(env['HOME'] || homedir(), fallback);
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
