/**
 * The counter of who may do what rises for everything that may end a caller's rights, so that a request whose body came
 * late can learn from it in memory whether to look at its caller again.
 */

import { type Kysely, type Migration, sql } from 'kysely';

/** Not what signing in and calling note by the way, such as failed attempts, a session's new end or a token's last use. */
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
