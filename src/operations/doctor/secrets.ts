/** Whether the keys of secrets are there, on this server and on all that are seen, and which secrets stand in the clear. */

import { type Config, ConfigError } from '../../config.ts';
import type { Db } from '../../db/database.ts';
import type { InspectedDatabase } from '../../db/inspected-database.ts';
import { newestFiles } from '../../deeds/renew-secrets.ts';
import { secureNamesFor } from '../../deeds/secret-content.ts';
import type { SecretNames } from '../../domain/secrets.ts';
import { type Major, majorOf } from '../../domain/version-order.ts';
import { HawserError } from '../../lib/errors.ts';
import { type SecretKey, sealedKeyId } from '../../lib/sealed-text.ts';
import { EntryPoints } from '../../resolve/entry-points.ts';
import { Fleet } from '../../resolve/fleet.ts';
import { HeldKeys } from '../../resolve/held-keys.ts';
import { ParameterReader } from '../../resolve/parameters.ts';
import { SchemaReader } from '../../resolve/schemas.ts';
import { keyFileOf, requireKeyFile } from '../../security/secrets/key-file.ts';
import { tagNameOf } from '../../versions/kinds.ts';
import { type KeyState, missingAmong, readKeyState } from '../key-state.ts';
import {
  type Check,
  describeFailure,
  type Finding,
  faultOf,
  lookTwice,
  several,
  warningOf,
} from './findings.ts';

const NAME = 'secrets';
const CACHE_BYTES = 64 * 1024 * 1024;
const BRING =
  'put the key into the file, also as its last line, and run "hawser reload"; if it is lost: docs/operating.md';

const ENCRYPT =
  'propose a change set that encrypts them with "hawserctl secret seal", and apply it; then remove the older versions and change ' +
  'the secrets (docs/secrets.md)';
const MAX_UNREAD = 5;
const NOT_SEARCHED = 'it cannot be searched for secrets in the clear';
const READ = 'see what the check of the repositories says; nobody knows how many secrets are in there';

/** @param database null where it cannot be opened */
export async function checkSecrets(config: Config, database: InspectedDatabase | null): Promise<Check> {
  const ofKeys = await checkKeys(config, database);
  const read = database?.read ?? null;
  // The tables of an earlier release are told of by the check of the database.
  if (database === null || read === null || (await database.migrations()).pending.length > 0)
    return { ...ofKeys, summary: `${ofKeys.summary}; values in the clear were not looked for` };
  const inTheClear = await findInTheClear(config, read);
  return { ...ofKeys, findings: [...ofKeys.findings, ...inTheClear] };
}

async function checkKeys(config: Config, database: InspectedDatabase | null): Promise<Check> {
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

/** Counts the secure leaves in the clear, configuration by configuration. It needs no key: what is encrypted is not opened. */
async function findInTheClear({ dataDir, databaseUrl, reposDir }: Config, db: Db): Promise<Finding[]> {
  const fleet = new Fleet({ dataDir, databaseUrl, reposDir, cacheBytes: CACHE_BYTES }, new HeldKeys());
  try {
    const { store, documents } = fleet;
    const parameters = new ParameterReader(store, fleet);
    const entryPoints = new EntryPoints(documents);
    const readers = {
      parameters,
      schemas: new SchemaReader(store, { parameters, documents, entryPoints }),
      documents,
    };
    return await lookTwice(async () => {
      await fleet.database.changes.catchUp('now');
      const rows = await db
        .selectFrom('configurations')
        .select('name')
        .where('has_parameters', '=', 1)
        .orderBy('name')
        .execute();
      const findings: Finding[] = [];
      for (const { name } of rows) findings.push(...(await lookAt(readers, name)));
      return findings;
    });
  } finally {
    await fleet.close();
  }
}

interface Readers {
  parameters: ParameterReader;
  schemas: SchemaReader;
  documents: Fleet['documents'];
}

/**
 * What stands in the clear in a configuration. A file that cannot be read is named, and the others are counted. What is wrong with
 * it is an error of the check of the repositories.
 */
async function lookAt(readers: Readers, name: string): Promise<Finding[]> {
  const { parameters, documents } = readers;
  const where = `parameters/${name}`;
  const unread: Finding[] = [];
  let number = 0;
  // They depend on the major alone. Where there is no schema, all versions are asked for them.
  const names = new Map<Major | null, SecretNames>();
  const files = await parameters.index(name).then(
    (index) => newestFiles(index).flatMap(({ refs }) => refs),
    (error: unknown) => {
      unread.push(warningOf(where, `${NOT_SEARCHED}: ${describe(error)}`, READ));
      return [];
    },
  );
  for (const ref of files) {
    const { series, version } = ref;
    try {
      const document = await parameters.source(name, ref);
      if (document === null) continue;
      const of = { configurationName: name, version, caller: NAME };
      const secure = names.get(majorOf(version)) ?? (await secureNamesFor(readers, of));
      names.set(majorOf(version), secure);
      number += (await documents.run(NAME, 'judgeSecrets', { document, secure })).clear.length;
    } catch (error) {
      const file = `${where} ${tagNameOf(series, version)}`;
      unread.push(warningOf(file, `${NOT_SEARCHED}: ${describe(error)}`, READ));
    }
  }
  const stand = number === 1 ? '1 secret stands' : `${number} secrets stand`;
  return [
    ...(number === 0 ? [] : [warningOf(where, `${stand} in the clear in its newest files`, ENCRYPT)]),
    ...unread.slice(0, MAX_UNREAD),
    ...unread
      .slice(MAX_UNREAD, MAX_UNREAD + 1)
      .map(({ remedy }) =>
        warningOf(where, `${unread.length - MAX_UNREAD} more files cannot be searched`, remedy),
      ),
  ];
}

/** Why a file cannot be read, without what is wrong in its text, which may quote a secret. */
function describe(error: unknown): string {
  const isOfText = error instanceof HawserError && error.cause instanceof HawserError;
  return isOfText ? error.message : describeFailure(error);
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
