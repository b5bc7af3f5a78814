/**
 * The file of the keys of secrets: 32 bytes in base64 a line. The first key encrypts, and all decrypt. It is the one of
 * `HAWSER_SECRETS_KEY_FILE`, or else `secrets.key` in the data folder.
 */

import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Config, ConfigError } from '../../config.ts';
import { newKeyLine, type SecretKey, secretKey } from '../../lib/sealed-text.ts';
import { readIfPresent, writeSecretFile } from '../../lib/secret-file.ts';

export const KEY_FILE = 'secrets.key';
const SETTING = 'HAWSER_SECRETS_KEY_FILE';
const LINE = /^[A-Za-z0-9+/]{43}=$/;
const ALLOWED = 'lines with 32 bytes in base64, as "openssl rand -base64 32" makes them';

type Place = Pick<Config, 'dataDir' | 'secretsKeyFile'>;

export function keyFileOf({ dataDir, secretsKeyFile }: Place): string {
  return secretsKeyFile ?? join(dataDir, KEY_FILE);
}

/**
 * Reads the keys, the one that encrypts first.
 * @returns null where there is no file
 * @throws ConfigError for a file that cannot be read or holds anything else; it names the line, and never shows what is there
 */
export async function readKeyFile(place: Place): Promise<SecretKey[] | null> {
  const path = keyFileOf(place);
  const text = await readIfPresent(path).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError(SETTING, `${path} cannot be read (${error.code})`, 'the path of a readable file');
  });
  return text === null ? null : parseKeys(path, text);
}

/** The same, where the setting is to name a file that is there. */
export async function requireKeyFile(place: Place): Promise<SecretKey[] | null> {
  const keys = await readKeyFile(place);
  if (keys === null && place.secretsKeyFile !== null)
    throw new ConfigError(SETTING, `there is no file ${place.secretsKeyFile}`, 'the path of a readable file');
  return keys;
}

function parseKeys(path: string, text: string): SecretKey[] {
  const lines = text.trimEnd().split('\n');
  const keys = lines.map((line, index) => {
    const bytes = Buffer.from(line.trim(), 'base64');
    // Two lines must not stand for the same bytes.
    if (LINE.test(line.trim()) && bytes.toString('base64') === line.trim()) return secretKey(bytes);
    throw new ConfigError(SETTING, `line ${index + 1} of ${path} holds no key`, ALLOWED);
  });
  // A line that is moved to the top may stand at its old place too.
  return [...new Map(keys.map((key) => [key.id, key])).values()];
}

/** Makes the file in the data folder, with one key. It survives a power loss. */
export async function makeKeyFile(place: Place): Promise<SecretKey[]> {
  const line = newKeyLine();
  await writeSecretFile(keyFileOf(place), `${line}\n`);
  return [secretKey(Buffer.from(line, 'base64'))];
}

/**
 * Puts a new key before all others. A file that is there keeps its owner and its permissions.
 * @returns all keys, the new one first
 * @throws ConfigError as `readKeyFile`, or for a file that cannot be written
 */
export async function putNewKeyFirst(place: Place): Promise<[SecretKey, ...SecretKey[]]> {
  const former = (await readKeyFile(place)) ?? [];
  // What is named may be a link to the file.
  const path = await realpath(keyFileOf(place)).catch(() => keyFileOf(place));
  const line = newKeyLine();
  try {
    const [rest, like] = former.length === 0 ? ['', null] : [await readIfPresent(path), await stat(path)];
    await writeSecretFile(path, `${line}\n${rest ?? ''}`, like);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const allowed = 'a file that can be replaced, or to put a new line at its top by hand';
    throw new ConfigError(SETTING, `${path} cannot be written (${code})`, allowed);
  }
  return [secretKey(Buffer.from(line, 'base64')), ...former];
}
