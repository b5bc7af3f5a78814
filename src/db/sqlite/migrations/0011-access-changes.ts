/**
 * The counter of access rights rises with everything that may end a caller's rights. A request whose body came late
 * learns from it, in memory, whether its caller must be checked again.
 */

import { type Kysely, type Migration, sql } from 'kysely';

/** These events leave out what sign-ins and calls update: failed attempts, a session's end, a token's last use. */
const EVENTS = [
  ['users', 'update of is_active, require_password_change, account_type, username'],
  ['users', 'delete'],
  ['sessions', 'delete'],
  ['access_tokens', 'update of revoked_at, expires_at, scopes'],
  ['access_tokens', 'delete'],
  ['grants', 'insert'],
  ['grants', 'update'],
  ['grants', 'delete'],
] as const;

export const accessChangesMigration: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const [table, event] of EVENTS) {
      const [kind] = event.split(' ');
      const statement = `create trigger access_generation_${table}_${kind} after ${event} on ${table}
        begin update access_generation set value = value + 1 where id = 1; end`;
      await sql.raw(statement).execute(db);
    }
  },
};
