/** Which users are in a group, and which roles a group or a user holds: sets that are replaced as a whole. */

import type { Selectable, SelectQueryBuilder } from 'kysely';
import type { Db } from '../../db/open.ts';
import type { Schema } from '../../db/schema.ts';
import { invalid } from '../../lib/errors.ts';
import { keepingAnAdministrator } from '../../security/delegation.ts';

/** What the sets consist of: how its rows are named and ordered, and how a body lists their ids. */
const MEMBERS = {
  users: {
    name: 'username',
    order: 'username_key',
    list: 'userIds',
    missing: 'No such user',
    code: 'unknown_user',
  },
  roles: { name: 'name', order: 'name_key', list: 'roleIds', missing: 'No such role', code: 'unknown_role' },
} as const;

/** Names by id, in the order of the names. */
type Names = ReadonlyMap<string, string>;

/** The most faults of a body that are told one by one. */
const MAX_FAULTS = 100;

export class JoinTable<T extends keyof typeof MEMBERS> {
  // Kysely cannot type a table that is chosen at run time: for its types each set is that of a user's roles.
  private readonly table: 'user_roles';
  private readonly owner: 'user_id';
  private readonly member: 'role_id';
  private readonly of: 'roles';

  /**
   * @param columns those of the user or group that has the set, and of what is in it
   * @param of the table that what is in the set refers to
   */
  constructor(
    table: 'group_members' | 'group_roles' | 'user_roles',
    columns: { owner: 'group_id' | 'user_id'; member: 'user_id' | 'role_id' },
    of: T,
  ) {
    this.table = table as 'user_roles';
    this.owner = columns.owner as 'user_id';
    this.member = columns.member as 'role_id';
    this.of = of as 'roles';
  }

  /** Selects the whole rows of what is in the owner's set, by name. */
  members(db: Db, ownerId: string) {
    return this.rowsOf(db, ownerId) as unknown as SelectQueryBuilder<Schema, T, Selectable<Schema[T]>>;
  }

  /** The names of what is in the owner's set, by id. */
  async names(db: Db, ownerId: string): Promise<Names> {
    return this.namesOf(await this.rowsOf(db, ownerId).execute());
  }

  async add(db: Db, ownerId: string, ids: readonly string[]): Promise<void> {
    const rows = ids.map(
      (id) => ({ [this.owner]: ownerId, [this.member]: id }) as { [K in 'user_id' | 'role_id']: string },
    );
    if (rows.length > 0) await db.insertInto(this.table).values(rows).execute();
  }

  /**
   * Makes the owner's set consist of these, and of no others.
   * @param requireOwn is asked about the ids that are new to the set before anything is written
   * @returns the names that came and went; null where the set is the same as before
   * @throws HawserError validation_failed for an id that names nothing; `last_administrator`; what `requireOwn` throws
   */
  async replace(
    trx: Db,
    { ownerId, ids }: { ownerId: string; ids: readonly string[] },
    requireOwn: (added: readonly string[]) => Promise<void>,
  ): Promise<{ added: string[]; removed: string[] } | null> {
    const wanted = await this.requireKnown(trx, ids);
    const current = await this.names(trx, ownerId);
    const added = without(wanted, current);
    const removed = without(current, wanted);
    if (added.size + removed.size === 0) return null;
    if (added.size > 0) await requireOwn([...added.keys()]);
    await keepingAnAdministrator(trx, async () => {
      await this.remove(trx, ownerId, [...removed.keys()]);
      await this.add(trx, ownerId, [...added.keys()]);
    });
    return { added: [...added.values()], removed: [...removed.values()] };
  }

  private async remove(db: Db, ownerId: string, ids: readonly string[]): Promise<void> {
    const ofOwner = db.deleteFrom(this.table).where(this.owner, '=', ownerId);
    if (ids.length > 0) await ofOwner.where(this.member, 'in', ids).execute();
  }

  private async requireKnown(db: Db, ids: readonly string[]): Promise<Names> {
    if (ids.length === 0) return new Map();
    const { list, missing: message, code } = MEMBERS[this.of as T];
    const known = this.namesOf(await this.rows(db).where('id', 'in', ids).execute());
    const faults = ids
      .map((id, index) => ({ id, fault: { path: `/${list}/${index}`, message, code } }))
      .filter(({ id }) => !known.has(id))
      .map(({ fault }) => fault);
    if (faults.length > 0) throw invalid('validation_failed', message, faults.slice(0, MAX_FAULTS));
    return known;
  }

  private rowsOf(db: Db, ownerId: string) {
    const ids = db.selectFrom(this.table).select(this.member).where(this.owner, '=', ownerId);
    return this.rows(db).where('id', 'in', ids);
  }

  private rows(db: Db) {
    return db.selectFrom(this.of).selectAll().orderBy(MEMBERS[this.of].order);
  }

  private namesOf(rows: readonly { id: string }[]): Names {
    const { name } = MEMBERS[this.of];
    return new Map((rows as { id: string; [name]: string }[]).map((row) => [row.id, row[name]]));
  }
}

function without(names: Names, others: Names): Names {
  return new Map([...names].filter(([id]) => !others.has(id)));
}
