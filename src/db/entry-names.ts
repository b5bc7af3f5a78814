/** Entries of the audit trail know ids. People know names: what each entry is about, and which ids a name has had. */

import { type SqlBool, sql } from 'kysely';
import { summarize } from '../domain/activity-summary.ts';
import { isId } from '../lib/ids.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';
import type { AuditEntriesTable } from './schema.ts';

/** What people are told of an entry beside what is stored. */
export interface EntryNames {
  /** Null where nothing knows the name of the resource any more. */
  resourceName: string | null;
  summary: string;
}

/** Where the names of resources are: the table, the column that shows it, and the one in which it is looked for. */
const PLACES = [
  { table: 'nodes', name: 'fqdn', key: 'fqdn' },
  { table: 'configurations', name: 'name', key: 'name_key' },
  { table: 'composites', name: 'name', key: 'name_key' },
  { table: 'users', name: 'username', key: 'username_key' },
  { table: 'groups', name: 'name', key: 'name_key' },
  { table: 'roles', name: 'name', key: 'name_key' },
  { table: 'scope_types', name: 'name', key: 'name_key' },
  { table: 'scope_values', name: 'value', key: 'value_key' },
  { table: 'access_tokens', name: 'name', key: null },
] as const;

/** The details of an entry have the name in one of these members, if they have it. */
const MEMBERS = ['fqdn', 'username', 'name', 'value', 'title'] as const;

/** The entries by which resources go that had a name. */
const DELETIONS = [
  ...['node.deleted', 'configuration.deleted', 'composite.deleted', 'user.deleted', 'group.deleted'],
  ...['role.deleted', 'scope_type.deleted', 'scope_value.deleted'],
];

/**
 * The ids that resources of these names have, or had until they were deleted. An id stands for itself.
 * @param names in lower case
 */
export async function idsNamed(db: Db, names: readonly string[]): Promise<string[]> {
  const places = PLACES.flatMap(({ table, key }) =>
    key === null
      ? []
      : [sql`select id from ${sql.table(table)} where ${engineOf(db).isOneOf(`${table}.${key}`, names)}`],
  );
  const { rows } = await sql<{ id: string }>`${sql.join(places, sql` union all `)}`.execute(db);
  return [...names.filter(isId), ...rows.map(({ id }) => id), ...(await deletedIds(db, names))];
}

async function deletedIds(db: Db, names: readonly string[]): Promise<string[]> {
  const { isOneOf, placeIn } = engineOf(db);
  const places = names.map((name) => placeIn(sql`lower(details)`, `":${JSON.stringify(name)}`));
  const rows = await db
    .selectFrom('audit_entries')
    .select(['resource_id', 'details'])
    .where(isOneOf('action', DELETIONS))
    .where(
      sql<SqlBool>`(${sql.join(
        places.map((place) => sql`${place} > 0`),
        sql` or `,
      )})`,
    )
    .execute();
  return rows.flatMap(({ resource_id: id, details }) =>
    id !== null && names.includes(nameIn(parsed(details))?.toLowerCase() ?? '') ? id : [],
  );
}

type Entry = Pick<AuditEntriesTable, 'action' | 'resource_type' | 'resource_id' | 'details'>;

/** The entries with the names of what they are about, as they are now, else as they were last. */
export async function withNames<E extends Entry>(db: Db, entries: readonly E[]): Promise<(E & EntryNames)[]> {
  const ids = [...new Set(entries.flatMap(({ resource_id }) => resource_id ?? []))];
  const known = ids.length === 0 ? new Map<string, string>() : await namesOf(db, ids);
  const lost = ids.filter((id) => !known.has(id));
  const last = lost.length === 0 ? new Map<string, string>() : await lastNamesOf(db, lost);
  return entries.map((entry) => {
    const { action, resource_id: id } = entry;
    const details = parsed(entry.details);
    const resourceName = id === null ? null : (known.get(id) ?? last.get(id) ?? nameIn(details));
    return { ...entry, resourceName, summary: summarize(action, resourceName, details) };
  });
}

async function namesOf(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const places = PLACES.map(
    ({ table, name }) =>
      sql`select id, ${sql.ref(name)} as name from ${sql.table(table)} where ${engineOf(db).isOneOf(`${table}.id`, ids)}`,
  );
  const { rows } = await sql<{ id: string; name: string }>`${sql.join(places, sql` union all `)}`.execute(db);
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The names that deleted resources had in the end. */
async function lastNamesOf(db: Db, ids: readonly string[]): Promise<Map<string, string>> {
  const { isOneOf } = engineOf(db);
  const rows = await db
    .selectFrom('audit_entries')
    .select(['resource_id', 'details'])
    .where(isOneOf('resource_id', ids))
    .where(isOneOf('action', DELETIONS))
    .execute();
  return new Map(
    rows.flatMap(({ resource_id: id, details }) => {
      const name = nameIn(parsed(details));
      return id === null || name === null ? [] : [[id, name] as const];
    }),
  );
}

const parsed = (details: string | null) => JSON.parse(details ?? '{}') as Record<string, unknown>;

function nameIn(details: Record<string, unknown>): string | null {
  const found = MEMBERS.map((member) => details[member]).find((value) => typeof value === 'string');
  return typeof found === 'string' ? found : null;
}
