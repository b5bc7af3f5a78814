/** Finds the principal of a credential: a session's secret, a token, or a certificate's thumbprint. */

import type { Database, Db } from '../db/database.ts';
import { translateDatabaseError } from '../db/errors.ts';
import { type KnownNode, unknownCertificate } from '../db/node-lookup.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { HOUR, MINUTE } from '../lib/clock.ts';
import { HawserError, unauthenticated } from '../lib/errors.ts';
import { sha256Hex } from '../lib/hash.ts';
import { bindAwaited } from './awaiting-certificates.ts';
import type { PresentedCertificate } from './certificates.ts';
import { activateCertificate } from './pending-certificates.ts';
import type { NodePrincipal, UserPrincipal } from './principal.ts';
import { PermissionCache } from './rights.ts';
import { rightsOfUser } from './user-rights.ts';

export const SESSION_LIFETIME = 8 * HOUR;
export const TOKEN_PREFIX = 'pat_';
/** The provider of whoever signs in with a password. */
const LOCAL = 'Local';

/** How old the stored end of a session or last use of a token may be. Otherwise every request would write. */
const USAGE_INTERVAL = MINUTE;

interface UserRow {
  id: string;
  username: string;
  email: string;
  account_type: 'User' | 'ServiceAccount';
  require_password_change: number;
  generation: number | null;
}

interface TokenRow extends UserRow {
  tokenId: string;
  scopes: string;
  expires_at: number | null;
  /** Null for who signs in by a provider alone. */
  password_hash: string | null;
}

const USER_COLUMNS = [
  'users.id',
  'users.username',
  'users.email',
  'users.account_type',
  'users.require_password_change',
] as const;

/** One message for all bad credentials: unknown, expired, revoked, or of a deleted or inactive user. */
const badCredential = () => unauthenticated('The session or token is not valid');

/** A number that rises with every change of permissions. It is read together with the credential. */
function accessGeneration(db: Db) {
  return db.selectFrom('access_generation').select('value').where('id', '=', 1).as('generation');
}

type Credential = Pick<UserPrincipal, 'authMethod' | 'credentialId' | 'scopes' | 'credentialEndsAt'>;

export class Identifier {
  private readonly database: Database;
  private readonly permissions: PermissionCache;
  private readonly usage: UsageWriter;
  private readonly tokenMaxAge: (provider: string) => number;

  /** @param tokenMaxAge for how long tokens work after a sign-in by this provider, in milliseconds; 0 for one that is gone */
  constructor(database: Database, tokenMaxAge: (provider: string) => number) {
    this.database = database;
    this.tokenMaxAge = tokenMaxAge;
    this.permissions = new PermissionCache(database.read);
    this.usage = new UsageWriter(database);
  }

  /**
   * @param isUse whether this renews the session; a page that asks by itself does not use it
   * @throws HawserError unauthenticated when the session is unknown or over, its user inactive, or its provider gone
   */
  async session(secret: string, now: number, isUse: boolean): Promise<UserPrincipal> {
    const { read } = this.database;
    const hash = sha256Hex(secret);
    const row = await read
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .leftJoin('identities', 'identities.id', 'sessions.identity_id')
      .select([...USER_COLUMNS, 'sessions.expires_at', 'sessions.ends_at', 'identities.provider'])
      .select(accessGeneration(read))
      .where('sessions.token_hash', '=', hash)
      .where('sessions.expires_at', '>', now)
      .where('users.is_active', '=', 1)
      .executeTakeFirst();
    if (!row) throw badCredential();
    // Who took a provider out of the file trusts it no more.
    if (row.provider !== null && this.tokenMaxAge(row.provider) === 0) throw badCredential();
    const expiresAt = Math.min(now + SESSION_LIFETIME, row.ends_at ?? Number.POSITIVE_INFINITY);
    const isDue = isUse && expiresAt - row.expires_at > USAGE_INTERVAL;
    const renewal = (db: Db) =>
      db
        .updateTable('sessions')
        .set({ expires_at: expiresAt })
        .where('token_hash', '=', hash)
        .where('expires_at', '<', expiresAt)
        .execute();
    const renew = isDue && (await this.usage.write(`session ${hash}`, renewal));
    const credentialEndsAt = renew ? expiresAt : row.expires_at;
    const credential = { authMethod: 'Session' as const, credentialId: hash, scopes: null, credentialEndsAt };
    const user = await this.describeUser(row, credential);
    return { ...user, authProvider: row.provider ?? LOCAL, renewedSession: renew ? secret : null };
  }

  /** @throws HawserError unauthenticated when the token is unknown, expired or revoked, or its user inactive */
  async token(token: string, now: number): Promise<UserPrincipal> {
    if (!token.startsWith(TOKEN_PREFIX)) throw badCredential();
    const row = await this.tokens().where('t.token_hash', '=', sha256Hex(token)).executeTakeFirst();
    const principal = await this.ofToken(row, now);
    if (row && now - (row.last_used_at ?? 0) > USAGE_INTERVAL) {
      const use = (db: Db) =>
        db
          .updateTable('access_tokens')
          .set({ last_used_at: now })
          .where('id', '=', row.tokenId)
          .where((token) => token.or([token('last_used_at', 'is', null), token('last_used_at', '<', now)]))
          .execute();
      await this.usage.write(`token ${row.tokenId}`, use);
    }
    return principal;
  }

  /**
   * Who has put something off: what the user may by now, or the token by which it was done. A session need not last until then.
   * @param tokenId null for a session
   * @throws HawserError unauthenticated when the token is revoked or has expired, or the user is inactive or gone
   */
  async later(
    { userId, tokenId }: { userId: string; tokenId: string | null },
    now: number,
  ): Promise<UserPrincipal> {
    if (tokenId !== null)
      return this.ofToken(await this.tokens().where('t.id', '=', tokenId).executeTakeFirst(), now);
    const user = await rightsOfUser(this.database.read, userId);
    if (user === null) throw unauthenticated('The user is inactive or was deleted');
    return user;
  }

  private async ofToken(row: TokenRow | undefined, now: number): Promise<UserPrincipal> {
    if (!row || (row.expires_at !== null && row.expires_at <= now)) throw badCredential();
    if (row.account_type === 'User' && row.password_hash === null) await this.requireSignIn(row.id, now);
    const scopes = new Set(JSON.parse(row.scopes) as string[]);
    const credential = { authMethod: 'Token' as const, credentialId: row.tokenId, scopes };
    return this.describeUser(row, { ...credential, credentialEndsAt: row.expires_at });
  }

  /** The tokens that are not revoked, of users who are active. */
  private tokens() {
    const { read } = this.database;
    return read
      .selectFrom('access_tokens as t')
      .innerJoin('users', 'users.id', 't.user_id')
      .select([...USER_COLUMNS, 't.id as tokenId', 't.scopes', 't.last_used_at', 't.expires_at'])
      .select(['users.password_hash', accessGeneration(read)])
      .where('t.revoked_at', 'is', null)
      .where('users.is_active', '=', 1);
  }

  /**
   * @returns null when the certificate is not the current one of a node; a node may have announced it
   * @throws HawserError unauthenticated when it has expired
   */
  node({ thumbprint }: PresentedCertificate, now: number): Awaitable<NodePrincipal | null> {
    const node = this.database.nodeLookup.byThumbprint(thumbprint);
    return node instanceof Promise ? whenRead(node, now) : toPrincipal(node, now);
  }

  /** Whether this node has announced the certificate. It costs at most one indexed read. */
  hasAnnounced(presented: PresentedCertificate, nodeId: string): Awaitable<boolean> {
    const { thumbprint, sha1Thumbprint } = presented.describe();
    return this.database.nodeLookup.hasAnnounced(nodeId, thumbprint, sha1Thumbprint);
  }

  /**
   * Makes an announced certificate the current one of the node in the path.
   * @returns the node that has the certificate now, which is another one if that was faster
   * @throws HawserError unauthenticated when the node has not announced it, has announced other data, or it has expired
   */
  async announcedNode(
    presented: PresentedCertificate,
    circumstances: { nodeId: string; requestId: string; address: string; now: number },
  ): Promise<NodePrincipal> {
    await activateCertificate(this.database, presented.describe(), circumstances);
    const node = await this.node(presented, circumstances.now);
    if (node === null) throw unknownCertificate();
    return node;
  }

  /** Whether a node that came from another server may await the certificate. */
  mayBeAwaited(presented: PresentedCertificate): Awaitable<boolean> {
    return this.database.nodeLookup.mayAwait(presented.describe().sha1Thumbprint);
  }

  /**
   * Binds the certificate for good to the node that awaits it.
   * @returns the node that has the certificate now, by this call or by another one that was faster
   * @throws HawserError unauthenticated when no node awaits a certificate like this, or it has expired
   */
  async awaitedNode(
    presented: PresentedCertificate,
    circumstances: { requestId: string; address: string; now: number },
  ): Promise<NodePrincipal> {
    await bindAwaited(this.database, presented, circumstances);
    const node = await this.node(presented, circumstances.now);
    if (node === null) throw unknownCertificate();
    return node;
  }

  /**
   * Who signs in by a provider alone is known there alone. So tokens work only for some time after the last sign-in.
   * @throws HawserError unauthenticated
   */
  private async requireSignIn(userId: string, now: number): Promise<void> {
    const { read } = this.database;
    const identities = await read
      .selectFrom('identities')
      .select(['provider', 'last_sign_in_at'])
      .where('user_id', '=', userId)
      .execute();
    const isRecent = identities.some(
      ({ provider, last_sign_in_at: at }) => at + this.tokenMaxAge(provider) > now,
    );
    if (!isRecent) throw badCredential();
  }

  private async describeUser(row: UserRow, credential: Credential): Promise<UserPrincipal> {
    const held = await this.permissions.of(row.id, row.generation ?? 0);
    const { scopes } = credential;
    return {
      kind: 'user',
      userId: row.id,
      username: row.username,
      email: row.email,
      accountType: row.account_type,
      ...credential,
      permissions: scopes === null ? held : new Set([...held].filter((permission) => scopes.has(permission))),
      ownPermissions: held,
      requirePasswordChange: row.require_password_change === 1,
      authProvider: LOCAL,
      renewedSession: null,
    };
  }
}

function toPrincipal(node: KnownNode | null, now: number): NodePrincipal | null {
  if (node === null) return null;
  if (node.certificateNotAfter <= now) throw unauthenticated('The certificate has expired');
  return { kind: 'node', node };
}

async function whenRead(node: Promise<KnownNode | null>, now: number): Promise<NodePrincipal | null> {
  return toPrincipal(await node, now);
}

/**
 * Writes when a session ends or a token was last used. While the database cannot be written, callers neither wait nor
 * fail: the write stays in memory, and is done after the next one that succeeds.
 */
class UsageWriter {
  private readonly db: Db;
  /** The last write of each session or token that is still to be done. */
  private readonly waiting = new Map<string, (db: Db) => Promise<unknown>>();

  constructor({ writeNow }: Database) {
    this.db = writeNow;
  }

  /**
   * @param key names the session or token; a later write replaces an earlier one of the same key
   * @param change may run later than others of the same key, so it must not overwrite newer data
   * @returns whether it was written at once
   */
  async write(key: string, change: (db: Db) => Promise<unknown>): Promise<boolean> {
    this.waiting.delete(key);
    if (!(await this.isWritten(change))) {
      this.waiting.set(key, change);
      return false;
    }
    if (this.waiting.size > 0) void this.catchUp();
    return true;
  }

  /** Does the waiting writes until one of them fails. */
  private async catchUp(): Promise<void> {
    for (const [key, change] of this.waiting) {
      this.waiting.delete(key);
      if (await this.isWritten(change).catch(() => false)) continue;
      if (!this.waiting.has(key)) this.waiting.set(key, change);
      return;
    }
  }

  private async isWritten(change: (db: Db) => Promise<unknown>): Promise<boolean> {
    try {
      await change(this.db);
      return true;
    } catch (error) {
      if (translateDatabaseError(error) instanceof HawserError) return false;
      throw error;
    }
  }
}
