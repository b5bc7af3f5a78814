/** Which users are in a group, and which roles a group or a user holds: sets that are replaced as a whole. */

import { type Selectable, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Page, type PageQuery, pageOf, type Table } from '../db/rows.ts';
import type { Schema } from '../db/schema.ts';
import type { AuditAction } from '../domain/audit-actions.ts';
import { invalid } from '../lib/errors.ts';
import { type Actor, recordAudit } from './audit.ts';
import type { Caller } from './caller.ts';
import { keepingAnAdministrator } from './delegation.ts';
import type { UserPrincipal } from './principal.ts';

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

interface JoinTableOptions<T> {
  /** The users or groups that have such a set, the column that names them here, and the column of their own name. */
  owner: {
    table: Table<'groups'> | Table<'users'>;
    column: 'group_id' | 'user_id';
    name: 'name' | 'username';
  };
  /** The table of what is in the set, and the column that names it here. */
  member: { table: T; column: 'user_id' | 'role_id' };
  /** The entry of the audit trail when the set is replaced. */
  action: AuditAction;
  /** What is noted with a member beside the two ids. */
  noted?(db: Db): Promise<Record<string, unknown>>;
  /**
   * Asked about what is new to a set before anything is written.
   * @throws HawserError `beyond_own_permissions` when somebody would get by it what the caller does not hold
   */
  requireOwn(
    trx: Db,
    principal: UserPrincipal,
    given: { ownerId: string; added: readonly string[] },
  ): Promise<void>;
}

/** Names by id, in the order of the names. */
type Names = ReadonlyMap<string, string>;

/** The most faults of a body that an answer lists. */
const MAX_FAULTS = 100;

/** The sets of one kind, such as the members of all groups. */
export class JoinTable<T extends keyof typeof MEMBERS> {
  // Kysely cannot type a table that is chosen at run time: for its types each set is that of a user's roles.
  private readonly table: 'user_roles';
  private readonly owner: 'user_id';
  private readonly member: 'role_id';
  private readonly of: 'roles';
  private readonly options: JoinTableOptions<T>;

  constructor(table: 'group_members' | 'group_roles' | 'user_roles', options: JoinTableOptions<T>) {
    this.table = table as 'user_roles';
    this.owner = options.owner.column as 'user_id';
    this.member = options.member.column as 'role_id';
    this.of = options.member.table as 'roles';
    this.options = options;
  }

  /** The whole rows of what is in the owner's set, ordered by name. */
  list(db: Db, ownerId: string): Promise<Selectable<Schema[T]>[]> {
    return this.setOf(db, ownerId).selectAll().execute() as Promise<unknown[]> as Promise<
      Selectable<Schema[T]>[]
    >;
  }

  /** A page of the rows of `list`. @throws HawserError not_found for the owner */
  async page(db: Db, ownerId: string, query: PageQuery): Promise<Page<Selectable<Schema[T]>>> {
    await this.options.owner.table.require(db, ownerId);
    return (await pageOf(this.setOf(db, ownerId).selectAll(), query)) as Page<unknown> as Page<
      Selectable<Schema[T]>
    >;
  }

  /** The names of what is in the owner's set, by id. */
  names(db: Db, ownerId: string): Promise<Names> {
    return this.namesIn(this.setOf(db, ownerId));
  }

  async add(db: Db, ownerId: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const noted = (await this.options.noted?.(db)) ?? {};
    const rowOf = (id: string) => ({ ...noted, [this.owner]: ownerId, [this.member]: id });
    const rows = ids.map(rowOf) as Record<'user_id' | 'role_id', string>[];
    await db.insertInto(this.table).values(rows).execute();
  }

  /**
   * Makes the owner's set consist of these, and of no others. The same set again leaves no trace.
   * @returns what is in the set then, by name
   * @throws HawserError not_found for the owner; validation_failed for an id that names nothing;
   *   `beyond_own_permissions`; `last_administrator`
   */
  async replace(
    trx: Db,
    { principal, actor }: Caller,
    ownerId: string,
    ids: readonly string[],
  ): Promise<Selectable<Schema[T]>[]> {
    const { owner, requireOwn } = this.options;
    await owner.table.require(trx, ownerId);
    const wanted = await this.requireKnown(trx, ids);
    const current = await this.names(trx, ownerId);
    const added = without(wanted, current);
    const removed = without(current, wanted);
    if (added.size + removed.size > 0) {
      if (added.size > 0) await requireOwn(trx, principal, { ownerId, added: [...added.keys()] });
      await keepingAnAdministrator(trx, async () => {
        await this.remove(trx, ownerId, [...removed.keys()]);
        await this.add(trx, ownerId, [...added.keys()]);
      });
      await this.recordChange(trx, actor, ownerId, { added, removed });
    }
    return this.list(trx, ownerId);
  }

  /** Adds what is not in the owner's set, in nobody's name. @throws HawserError not_found, validation_failed as `replace` */
  async join(trx: Db, actor: Actor, ownerId: string, ids: readonly string[]): Promise<void> {
    const added = without(await this.requireKnown(trx, ids), await this.names(trx, ownerId));
    await this.add(trx, ownerId, [...added.keys()]);
    await this.recordChange(trx, actor, ownerId, { added, removed: new Map() });
  }

  private async recordChange(
    trx: Db,
    actor: Actor,
    ownerId: string,
    { added, removed }: { added: Names; removed: Names },
  ): Promise<void> {
    const { owner, action } = this.options;
    const row: { name?: string; username?: string } = await owner.table.require(trx, ownerId);
    await owner.table.update(trx, ownerId, { modified_at: actor.at });
    const changes = { added: [...added.values()], removed: [...removed.values()] };
    const details = { [owner.name]: row[owner.name], ...changes };
    await recordAudit(trx, actor, { action, resourceId: ownerId, details });
  }

  private async remove(db: Db, ownerId: string, ids: readonly string[]): Promise<void> {
    const ofOwner = db.deleteFrom(this.table).where(this.owner, '=', ownerId);
    if (ids.length > 0) await ofOwner.where(this.member, 'in', ids).execute();
  }

  private async requireKnown(db: Db, ids: readonly string[]): Promise<Names> {
    if (ids.length === 0) return new Map();
    const { list, missing: message, code } = MEMBERS[this.of as T];
    const known = await this.namesIn(this.all(db).where('id', 'in', ids));
    const faults = ids
      .map((id, index) => ({ id, fault: { path: `/${list}/${index}`, message, code } }))
      .filter(({ id }) => !known.has(id))
      .map(({ fault }) => fault);
    if (faults.length > 0) throw invalid('validation_failed', message, faults.slice(0, MAX_FAULTS));
    return known;
  }

  private setOf(db: Db, ownerId: string) {
    const ids = db.selectFrom(this.table).select(this.member).where(this.owner, '=', ownerId);
    return this.all(db).where('id', 'in', ids);
  }

  private all(db: Db) {
    return db.selectFrom(this.of).orderBy(MEMBERS[this.of].order);
  }

  private async namesIn(rows: ReturnType<typeof this.all>): Promise<Names> {
    const name = sql.ref<string>(MEMBERS[this.of].name).as('name');
    const named = await rows.select(['id', name]).execute();
    return new Map(named.map((row) => [row.id, row.name]));
  }
}

function without(names: Names, others: Names): Names {
  return new Map([...names].filter(([id]) => !others.has(id)));
}
