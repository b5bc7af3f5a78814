/** Makes, describes and revokes the keys with which new nodes register. */

import type { Insertable } from 'kysely';
import type { Db } from '../db/database.ts';
import {
  type KeyProfile,
  profileOf,
  REGISTRATION_KEYS,
  type RegistrationKeyRow,
} from '../db/registration-keys.ts';
import type { RegistrationKeysTable } from '../db/schema.ts';
import { changedMembers } from '../domain/changed-members.ts';
import { DAY, toTimestamp } from '../lib/clock.ts';
import { invalidField } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { newId, newSecret } from '../lib/ids.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import type { Caller } from '../security/caller.ts';
import { requireOwnTakeover } from '../security/delegation.ts';
import type { AssignmentTools } from './assign.ts';
import { checkGiven, toStored, type WantedNode } from './given-nodes.ts';
import { requireReadableSigners } from './set-signing.ts';

const DEFAULT_LIFETIME = 7 * DAY;
const SHOWN_CHARACTERS = 12;

/** What a key is to be. */
export interface WantedKey {
  description: string | null;
  /** Epoch milliseconds; absent or null: in 7 days. */
  expiresAt?: number | null | undefined;
  /** Absent or null: any number of registrations. */
  maxUses?: number | null | undefined;
  /** Whether a known name may come with another certificate. */
  allowReregistration: boolean;
  /** What nodes get that register by the key; absent or null: nothing, whatever their name. */
  profile?: WantedProfile | null | undefined;
  /** The text of those who may sign what the agent runs, which the join line gives it; absent, null or empty: none. */
  signers?: string | null | undefined;
}

export interface WantedProfile extends WantedNode {
  /** The names that the key is for, as `normalizeNamePattern` gives the pattern; null for any name. */
  fqdnPattern: string | null;
}

/**
 * @returns the key's row, and the key itself, which is stored nowhere
 * @throws HawserError invalid for a time that has passed, and for signers with `invalid_signers`; `beyond_own_permissions`; what `checkGiven` throws
 */
export async function createKey(tools: AssignmentTools, caller: Caller, wanted: WantedKey) {
  if (wanted.signers) requireSomeSigners(wanted.signers);
  const given = wanted.profile ? await checkGiven(tools, caller.principal, wanted.profile) : null;
  const { fqdnPattern = null } = wanted.profile ?? {};
  const profile = given && { ...toStored(given), fqdnPattern };
  return tools.database.write.transaction().execute(async (trx) => {
    // What rules tag the node with is looked at when it registers.
    await given?.assignment?.files?.require(trx, { tags: [...given.values.values()] });
    return storeKey(trx, caller, { ...wanted, profile });
  });
}

/** The agent does not start with signers that name nobody. */
function requireSomeSigners(text: string): void {
  if (requireReadableSigners('/signers', text) === 0)
    throw invalidField('/signers', 'This names nobody. Leave it out, or name a key', 'invalid_signers');
}

async function storeKey(
  trx: Db,
  { principal, actor }: Caller,
  wanted: Omit<WantedKey, 'profile'> & { profile: KeyProfile | null },
) {
  const { description, maxUses = null, allowReregistration, expiresAt = null, profile, signers } = wanted;
  const expiry = expiresAt ?? actor.at + DEFAULT_LIFETIME;
  if (expiry <= actor.at) throw invalidField('/expiresAt', 'This time has passed');
  if (allowReregistration) await requireOwnTakeover(trx, principal);
  const secret = newSecret('reg_');
  const row = await insertKey(trx, actor, {
    id: newId(),
    key_hash: sha256Hex(secret),
    key_prefix: secret.slice(0, SHOWN_CHARACTERS),
    description,
    created_at: actor.at,
    expires_at: expiry,
    max_uses: maxUses,
    revoked_at: null,
    allow_reregistration: allowReregistration ? 1 : 0,
    profile: profile && JSON.stringify(profile),
    made_by: principal.userId,
    signers: signers || null,
  });
  return { row, secret };
}

/** @throws HawserError not_found */
export async function updateKey(
  trx: Db,
  { actor }: Caller,
  id: string,
  description: string | null,
): Promise<RegistrationKeyRow> {
  const key = await REGISTRATION_KEYS.require(trx, id);
  const details = changedMembers(key, { description });
  if (details === null) return key;
  await recordAudit(trx, actor, { action: 'registration_key.updated', resourceId: id, details });
  return REGISTRATION_KEYS.update(trx, id, { description });
}

/** The key stays listed. To revoke it again changes nothing. @throws HawserError not_found */
export async function revokeKey(trx: Db, { actor }: Caller, id: string): Promise<void> {
  const { description, revoked_at } = await REGISTRATION_KEYS.require(trx, id);
  if (revoked_at !== null) return;
  await REGISTRATION_KEYS.update(trx, id, { revoked_at: actor.at });
  const details = { description };
  await recordAudit(trx, actor, { action: 'registration_key.revoked', resourceId: id, details });
}

/** Adds the key and its entry in the audit trail. */
export async function insertKey(
  trx: Db,
  actor: Actor,
  key: Insertable<RegistrationKeysTable>,
): Promise<RegistrationKeyRow> {
  const row = await REGISTRATION_KEYS.insert(trx, key);
  const { id: resourceId, description, max_uses: maxUses, expires_at } = row;
  const allowReregistration = row.allow_reregistration === 1;
  const profile = profileOf(row);
  const given = { description, maxUses, allowReregistration, expiresAt: toTimestamp(expires_at) };
  const signers = row.signers === null ? {} : { signers: row.signers };
  const details = { ...given, ...(profile && { profile }), ...signers };
  await recordAudit(trx, actor, { action: 'registration_key.created', resourceId, details });
  return row;
}
