/** What the database and the key file say of the keys of secrets, for commands that only look. */

import type { Config } from '../config.ts';
import type { InspectedDatabase } from '../db/inspected-database.ts';
import { inspectDatabase } from '../db/inspection.ts';
import {
  type KeyHolder,
  listKeyHolders,
  listUsedKeys,
  readSecretState,
  type SecretState,
} from '../db/secret-keys.ts';
import type { SecretKey } from '../lib/sealed-text.ts';
import { readKeyFile } from '../security/secrets/key-file.ts';

export interface KeyState extends SecretState {
  /** The ids of all keys under which something is encrypted, or was. */
  used: readonly string[];
  /** The servers that are there, on PostgreSQL. */
  holders: readonly KeyHolder[];
}

const NOTHING: KeyState = { sealingKeyId: null, evidenceKey: null, used: [], holders: [] };

/** What the database knows: nothing where it has no tables, or is of a release before secrets. */
export async function readKeyState({ read, migrations }: InspectedDatabase): Promise<KeyState> {
  if (read === null || (await migrations()).pending.includes('0037-secret-keys')) return NOTHING;
  const [state, used] = [await readSecretState(read), await listUsedKeys(read)];
  return { ...state, used, holders: await listKeyHolders(read) };
}

/** The ids of the keys that the database names and that are not among these. */
export function missingAmong(keys: readonly SecretKey[], { used }: KeyState): string[] {
  return used.filter((id) => !keys.some((key) => key.id === id));
}

/** The same for the key file of the settings. One that cannot be read has no keys. */
export async function findMissingKeys(config: Config): Promise<string[]> {
  const database = await inspectDatabase(config);
  try {
    const keys = await readKeyFile(config).catch(() => null);
    return missingAmong(keys ?? [], await readKeyState(database));
  } finally {
    await database.close();
  }
}
