/** Whether the keys of secrets are there: those that something is encrypted by, on this server and on all that are seen. */

import { type Config, ConfigError } from '../../config.ts';
import type { InspectedDatabase } from '../../db/inspected-database.ts';
import { type SecretKey, sealedKeyId } from '../../lib/sealed-text.ts';
import { keyFileOf, requireKeyFile } from '../../security/secrets/key-file.ts';
import { type KeyState, missingAmong, readKeyState } from '../key-state.ts';
import { type Check, type Finding, faultOf, several, warningOf } from './findings.ts';

const NAME = 'secrets';
const BRING =
  'put the key into the file, also as its last line, and run "hawser reload"; if it is lost: docs/operating.md';

/** @param database null where it cannot be opened */
export async function checkSecrets(config: Config, database: InspectedDatabase | null): Promise<Check> {
  const path = keyFileOf(config);
  const state = database === null ? null : await readKeyState(database);
  try {
    const keys = await requireKeyFile(config);
    const found = state === null ? [] : [...findMissing(path, keys ?? [], state), ...findLacking(state)];
    const findings = [...found, ...(keys === null ? [] : findUnshared(config, path))];
    return { name: NAME, summary: `${several(keys?.length ?? 0, 'key')} in ${path}`, findings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = 'mend the file: the server starts only with a file without faults';
    const missing = state === null ? [] : findMissing(path, [], state);
    return { name: NAME, summary: path, findings: [faultOf(path, error.message, remedy), ...missing] };
  }
}

function findMissing(path: string, keys: readonly SecretKey[], state: KeyState): Finding[] {
  const { sealingKeyId, evidenceKey } = state;
  const needed = [sealingKeyId, evidenceKey && sealedKeyId(evidenceKey)];
  return missingAmong(keys, state).map((id) =>
    needed.includes(id)
      ? faultOf(
          path,
          `the key ${id} is missing: no secret can be stored, and nodes that need it get 503`,
          BRING,
        )
      : warningOf(path, `the key ${id} is missing, by which something is encrypted, or was`, BRING),
  );
}

/** The servers that lack the key that encrypts. */
function findLacking({ sealingKeyId: id, holders }: KeyState): Finding[] {
  if (id === null) return [];
  return holders
    .filter(({ keyIds }) => keyIds?.includes(id) !== true)
    .map(({ host }) =>
      warningOf(`the server ${host}`, `it lacks the key ${id}, so no server stores a secret`, BRING),
    );
}

/** Several servers need one file, and the data folder of one may be lost. */
function findUnshared({ databaseUrl, secretsKeyFile }: Config, path: string): Finding[] {
  if (databaseUrl === null || secretsKeyFile !== null) return [];
  const remedy =
    'move it to a file of its own, which all servers have, and name it in HAWSER_SECRETS_KEY_FILE';
  return [warningOf(path, 'the key of a PostgreSQL database is in the data folder of one server', remedy)];
}
