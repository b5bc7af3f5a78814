/** The keys of secrets for a command that reads what is stored, beside a server or without one. */

import type { Config } from '../config.ts';
import { inspectDatabase } from '../db/inspection.ts';
import { openEvidenceKey, sealedKeyId } from '../lib/sealed-text.ts';
import { type HeldKeys, holding, NO_KEYS } from '../resolve/held-keys.ts';
import { readKeyFile } from '../security/secrets/key-file.ts';
import { readKeyState } from './key-state.ts';

type Place = Pick<Config, 'dataDir' | 'databaseUrl' | 'secretsKeyFile'>;

/** @throws ConfigError for a key file that holds anything else; the driver's error without a database */
export async function readCommandKeys(place: Place): Promise<HeldKeys> {
  const database = await inspectDatabase(place);
  try {
    // Whoever reads the tables says that there is no database, which tells more than an error of the file beside it.
    if (database.read === null) return holding(NO_KEYS);
    const keys = (await readKeyFile(place)) ?? [];
    const { evidenceKey: sealed } = await readKeyState(database);
    const opened = sealed === null ? [] : keys.flatMap((key) => openEvidenceKey(key, sealed) ?? []);
    return holding({ keys, evidence: opened[0] ?? null, evidenceKeyId: sealed && sealedKeyId(sealed) });
  } finally {
    await database.close();
  }
}
