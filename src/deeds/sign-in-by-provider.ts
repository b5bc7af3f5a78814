/**
 * Whom a sign-in by a provider is for: the user of the identity, a new one, or the account that asked to be linked. One
 * transaction holds the user, the identity, its groups, the session and the entry of the audit trail.
 */

import { deleteSession, findAccount, insertSession } from '../db/accounts.ts';
import { lastChangeSetId } from '../db/change-sets.ts';
import type { Database, Db } from '../db/database.ts';
import { nameKey, normalizeUserName } from '../domain/names.ts';
import { HOUR } from '../lib/clock.ts';
import { conflict, type HawserError } from '../lib/errors.ts';
import { newId, newSecret } from '../lib/ids.ts';
import { type Actor, recordAudit } from '../security/audit.ts';
import { SESSION_LIFETIME } from '../security/identify.ts';
import { notAllowed, type Person } from '../security/openid/person.ts';
import { flowInvalid } from '../security/openid/provider-faults.ts';
import type { ProviderSettings } from '../security/openid/providers-file.ts';
import type { FlowFacts } from './begin-sign-in.ts';
import { insertIdentity } from './link-identity.ts';

/** However much it is used, a session by a provider ends after this, so that who has left there is asked for anew. */
const LONGEST_SESSION = 12 * HOUR;

export interface ProvenSignIn {
  settings: ProviderSettings;
  person: Person;
  link: FlowFacts['link'];
}

type Account = NonNullable<Awaited<ReturnType<typeof findAccount>>>;

/**
 * @returns the secret of the session
 * @throws HawserError forbidden `oidc_not_allowed`; conflict `account_name_taken`, `identity_taken`; invalid
 *   `oidc_flow_invalid` where the session has ended that asked for the link
 */
export async function openSession(
  database: Database,
  actor: Actor,
  signIn: ProvenSignIn,
): Promise<{ account: Account; sessionSecret: string }> {
  const sessionSecret = newSecret();
  const account = await database.write.transaction().execute(async (trx) => {
    const { account, identityId } = await accountOf(trx, actor, signIn);
    await replaceGroups(trx, identityId, signIn.person.groups);
    await insertSession(trx, {
      ...{ secret: sessionSecret, userId: account.id, now: actor.at, expiresAt: actor.at + SESSION_LIFETIME },
      identity: {
        id: identityId,
        providerSession: signIn.person.providerSession,
        endsAt: actor.at + LONGEST_SESSION,
      },
    });
    const user = { ...actor, type: 'User' as const, id: account.id, name: account.username };
    const details = { provider: signIn.settings.name };
    await recordAudit(trx, user, { action: 'session.created', resourceId: account.id, details });
    return account;
  });
  return { account, sessionSecret };
}

/** Records why somebody was not let in. The name is not known to be anybody's, so it is not recorded. */
export async function recordRefusal(
  database: Database,
  actor: Actor,
  provider: string,
  { code }: HawserError,
): Promise<void> {
  const details = { provider, reason: code };
  await database.write
    .transaction()
    .execute((trx) => recordAudit(trx, actor, { action: 'session.refused', resourceId: null, details }));
}

async function accountOf(
  trx: Db,
  actor: Actor,
  { settings, person, link }: ProvenSignIn,
): Promise<{ account: Account; identityId: string }> {
  const known = await findIdentity(trx, person);
  if (link !== null) return linked(trx, actor, { settings, person, link, known });
  if (known !== undefined) {
    await touch(trx, known.id, { settings, now: actor.at });
    return { account: await requireActive(trx, known.user_id), identityId: known.id };
  }
  const account = await createUser(trx, actor, settings, person);
  return { account, identityId: await linkOwn(trx, actor, { settings, person, account }) };
}

async function linked(
  trx: Db,
  actor: Actor,
  {
    known,
    ...signIn
  }: ProvenSignIn & {
    link: NonNullable<ProvenSignIn['link']>;
    known: { id: string; user_id: string } | undefined;
  },
): Promise<{ account: Account; identityId: string }> {
  const { userId, session } = signIn.link;
  // The session may have ended since, as by a change of the password.
  if (!(await deleteSession(trx, session))) throw flowInvalid();
  if (known !== undefined && known.user_id !== userId)
    throw conflict('identity_taken', 'Somebody else has linked this identity already');
  const account = await requireActive(trx, userId);
  if (known === undefined) return { account, identityId: await linkOwn(trx, actor, { ...signIn, account }) };
  await touch(trx, known.id, { settings: signIn.settings, now: actor.at });
  return { account, identityId: known.id };
}

function findIdentity(db: Db, { issuer, subject }: Person) {
  return db
    .selectFrom('identities')
    .selectAll()
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
}

/** The provider may have another name in the file than at the sign-in before. */
async function touch(
  trx: Db,
  id: string,
  { settings, now }: { settings: ProviderSettings; now: number },
): Promise<void> {
  const change = { provider: settings.name, last_sign_in_at: now };
  await trx.updateTable('identities').set(change).where('id', '=', id).execute();
}

function linkOwn(
  trx: Db,
  actor: Actor,
  { settings, person, account }: { settings: ProviderSettings; person: Person; account: Account },
): Promise<string> {
  const { issuer, subject } = person;
  const user = { ...actor, type: 'User' as const, id: account.id, name: account.username };
  return insertIdentity(trx, user, account, { provider: settings.name, issuer, subject });
}

/** @throws HawserError forbidden `oidc_not_allowed`; conflict `account_name_taken` */
async function createUser(
  trx: Db,
  actor: Actor,
  { name: provider, createUsers }: ProviderSettings,
  { username: claimed, email }: Person,
): Promise<Account> {
  if (!createUsers) throw notAllowed('You have no account here yet, and none is made by signing in');
  const username = claimed === null ? null : normalizeUserName(claimed);
  if (username === null) throw notAllowed('The provider gives you a name that no account here can have');
  const id = newId();
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('users')
    .values({
      ...{ id, username, username_key: nameKey(username), email },
      ...{ account_type: 'User', password_hash: null, is_active: 1, require_password_change: 0 },
      ...{ lockout_end: null, created_at: actor.at, modified_at: actor.at },
    })
    .onConflict((conflict) => conflict.column('username_key').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n)
    throw conflict(
      'account_name_taken',
      'There is an account of your name already. Sign in to it, and link it',
    );
  const details = { username, email, accountType: 'User', provider };
  await recordAudit(trx, actor, { action: 'user.created', resourceId: id, details });
  return requireActive(trx, id);
}

/** @throws HawserError forbidden `oidc_not_allowed` */
async function requireActive(trx: Db, userId: string): Promise<Account> {
  const account = await findAccount(trx, userId);
  if (account?.is_active !== 1) throw notAllowed('This account cannot be used now');
  return account;
}

async function replaceGroups(trx: Db, identityId: string, groups: readonly string[]): Promise<void> {
  const rows = trx.selectFrom('identity_groups').select('external_group_id');
  const held = await rows.where('identity_id', '=', identityId).execute();
  const before = new Set(held.map((row) => row.external_group_id));
  const gone = [...before].filter((group) => !groups.includes(group));
  const added = groups.filter((group) => !before.has(group));
  // What stays is not touched, so that an unchanged sign-in ends nobody's remembered rights, and renews no membership.
  if (gone.length > 0)
    await trx
      .deleteFrom('identity_groups')
      .where('identity_id', '=', identityId)
      .where('external_group_id', 'in', gone)
      .execute();
  if (added.length === 0) return;
  const since_set = await lastChangeSetId(trx);
  await trx
    .insertInto('identity_groups')
    .values(added.map((group) => ({ identity_id: identityId, external_group_id: group, since_set })))
    .execute();
}
