/** Shows secrets to people who may see them: one at a time, so many an hour, and each with an entry in the audit trail. */

import type { Database, Db } from '../db/database.ts';
import { holdSecretState } from '../db/secret-keys.ts';
import { HOUR, SECOND } from '../lib/clock.ts';
import { HawserError, notFound } from '../lib/errors.ts';
import type { Manifest } from '../resolve/manifest.ts';
import type { Actor } from '../security/audit.ts';
import { recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import type { ConfigurationOf, ParameterTools } from './parameter-checks.ts';
import { type FileName, findFile } from './put-parameters.ts';
import { type SecretTools, secureNamesFor } from './secret-content.ts';

/** What one user may see in an hour: values and bundles together, whatever tokens and servers are used. */
const AN_HOUR = 30;

export interface WantedSecret extends FileName {
  /** JSON Pointer from the root of the document. */
  path: string;
  reason: string;
}

/**
 * The value of one secret leaf, encrypted or in the clear, as JSON. The entry in the audit trail is there before it is given.
 * @throws HawserError not_found without such a version or secret; conflict `secret_unreadable`; unavailable
 *   `secret_key_missing`; rate_limited
 */
export async function revealSecret(
  tools: SecretTools & Pick<ParameterTools, 'database' | 'store'>,
  { principal, actor }: Pick<Caller, 'principal' | 'actor'>,
  resource: ConfigurationOf,
  wanted: WantedSecret,
): Promise<string> {
  const { database, parameters, documents } = tools;
  const { id, name } = resource;
  const { version, path: pointer, reason } = wanted;
  const { scope, ref } = await findFile(tools, { resource, principal }, wanted);
  const document = await parameters.source(name, ref);
  const caller = principal.userId;
  const secure = await secureNamesFor(tools, { configurationName: name, version, caller });
  const json = document && (await documents.run(caller, 'revealSecret', { document, pointer, secure }));
  if (json === null) throw notFound('The version has no secret at this path');
  const { scopeType, value } = scope;
  await noteReveal(database, actor, id, {
    name,
    scopeType,
    scopeValue: value,
    version,
    path: pointer,
    reason,
  });
  return json;
}

/**
 * Notes that a user is given the bundle of a node, with all secrets in it.
 * @throws HawserError rate_limited
 */
export async function revealBundle(
  database: Database,
  actor: Actor,
  nodeId: string,
  { configurationName, version, parts }: Manifest,
): Promise<void> {
  const part = parts.find(({ parameters }) => parameters?.hasSecrets);
  const name = part?.configurationName ?? configurationName;
  const row = await database.read
    .selectFrom('configurations')
    .select('id')
    .where('name', '=', name)
    .executeTakeFirst();
  await noteReveal(database, actor, row?.id ?? null, { name, nodeId, bundle: configurationName, version });
}

async function noteReveal(
  database: Database,
  actor: Actor,
  resourceId: string | null,
  details: Record<string, unknown>,
): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    // Calls of one user may come at once, and to several servers.
    await holdSecretState(trx);
    await requireFewReveals(trx, actor);
    await recordAudit(trx, actor, { action: 'secret.revealed', resourceId, details });
  });
}

async function requireFewReveals(trx: Db, { id, at }: Actor): Promise<void> {
  const recent = await trx
    .selectFrom('audit_entries')
    .select('timestamp')
    .where('action', '=', 'secret.revealed')
    .where('actor_id', '=', id)
    .where('timestamp', '>', at - HOUR)
    .orderBy('timestamp', 'desc')
    .limit(AN_HOUR)
    .execute();
  const oldest = recent.at(-1);
  if (oldest === undefined || recent.length < AN_HOUR) return;
  const retryAfter = Math.max(1, Math.ceil((oldest.timestamp + HOUR - at) / SECOND));
  const message = `A user may see ${AN_HOUR} secrets and bundles with secrets an hour, and this one has`;
  throw new HawserError('rate_limited', 'rate_limited', message, { retryAfter });
}
