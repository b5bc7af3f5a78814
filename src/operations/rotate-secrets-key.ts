/** Puts a new key of secrets before all others, from outside the server and while it may run. Nothing is encrypted anew. */

import type { Config } from '../config.ts';
import { openDatabase } from '../db/open.ts';
import { holdSecretState, listKeyHolders, listUsedKeys } from '../db/secret-keys.ts';
import { keyFileOf, putNewKeyFirst } from '../security/secrets/key-file.ts';
import { evidenceUnder, nameFirstKey } from '../security/secrets/secret-store.ts';
import { requirePresentForm } from './present-form.ts';

/**
 * Makes the key. It is in the file before the database names it, so that a server always has what is named. The key may be
 * the first one of the file, as where the former one is lost.
 * @returns what was done, and what to do now, a line each
 * @throws ConfigError for a file that cannot be read or written, or holds anything else
 * @throws Error where the database is absent or of another release
 */
export async function rotateSecretsKey(config: Config, now: number): Promise<string[]> {
  await requirePresentForm(config);
  const database = await openDatabase(config);
  try {
    const keys = await putNewKeyFirst(config);
    const [first] = keys;
    await database.write.transaction().execute(async (trx) => {
      const before = await holdSecretState(trx);
      const sealed = before.evidenceKey;
      const evidenceKey = sealed === null ? null : (evidenceUnder(first, keys, sealed) ?? sealed);
      await nameFirstKey(trx, before, { sealingKeyId: first.id, evidenceKey }, now);
    });
    const lost = (await listUsedKeys(database.read)).filter((id) => !keys.some((key) => key.id === id));
    const servers = await listKeyHolders(database.read);
    return [
      `${keyFileOf(config)} begins with the new key ${first.id}, which encrypts secrets from now on.`,
      ...(config.databaseUrl === null ? NEXT_OF_ONE : nextOfSeveral(servers.map(({ host }) => host))),
      ...lost.map((id) => `The key ${id} is not in the file: what it encrypted cannot be read without it.`),
      'Keep the other keys in the file while something is encrypted by them (docs/operating.md, "Keys of secrets").',
    ];
  } finally {
    await database.close();
  }
}

const NEXT_OF_ONE = [
  'A running server takes it with "hawser reload" (SIGHUP). Until then it stores no secret.',
];

function nextOfSeveral(hosts: readonly string[]): string[] {
  return [
    'Until all servers have it, none of them stores a secret, and one without it does not start. Next:',
    '1. Put this file in the place of the key file of every server.',
    `2. Run "hawser reload" (SIGHUP) for every server${hosts.length === 0 ? '' : `: ${hosts.join(', ')}`}.`,
  ];
}
