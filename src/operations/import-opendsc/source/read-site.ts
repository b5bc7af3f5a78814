/** Reads all that the database of an OpenDSC server holds and that is carried over, as it was at one moment. */

import { atOneForeignMoment } from '../../../db/foreign-database.ts';
import type { ForeignTables } from '../../../db/foreign-tables.ts';
import { guid, text } from './converters.ts';
import { parseLocation } from './location.ts';
import { readTable, requireShape } from './read-table.ts';
import type { SourceSite, SourceUser } from './site.ts';
import { type SourceTable, TABLES } from './tables.ts';

export interface Source {
  site: SourceSite;
  engine: 'sqlite' | 'postgres';
  /** The path, or `host:port/database`. It may be shown to anybody. */
  name: string;
}

/**
 * The database may be in use. It is only read, in one transaction.
 * @param location the path of an SQLite file, or a `postgres://` URL
 * @param signal ends the work before the next table
 * @throws UsageError for another location; HawserError `source_of_other_engine`, `source_missing`, `source_unreadable`,
 *   `source_of_other_release`, `source_value_unknown`; none of them shows a secret
 */
export async function readSite(location: string, signal?: AbortSignal): Promise<Source> {
  const { place, name } = parseLocation(location);
  const site = await atOneForeignMoment(place, (database) => readAll(database, signal));
  return { site, engine: place.engine, name };
}

async function readAll(database: ForeignTables, signal: AbortSignal | undefined): Promise<SourceSite> {
  requireShape(database, Object.values(TABLES));
  const read = <R extends object>(table: SourceTable<R>) => {
    signal?.throwIfAborted();
    return readTable(database, table);
  };
  const users = await read(TABLES.users);
  return {
    users,
    externalLogins: await read(TABLES.externalLogins),
    scopeTypes: await read(TABLES.scopeTypes),
    scopeValues: await read(TABLES.scopeValues),
    groups: await read(TABLES.groups),
    roles: await read(TABLES.roles),
    userGroups: await read(TABLES.userGroups),
    userRoles: await read(TABLES.userRoles),
    groupRoles: await read(TABLES.groupRoles),
    groupMappings: await read(TABLES.groupMappings),
    serverSettings: (await read(TABLES.serverSettings))[0] ?? null,
    validationSettings: (await read(TABLES.validationSettings))[0] ?? null,
    configurationSettings: await read(TABLES.configurationSettings),
    registrationKeys: await read(TABLES.registrationKeys),
    configurations: await read(TABLES.configurations),
    versions: await read(TABLES.versions),
    files: await read(TABLES.files),
    composites: await read(TABLES.composites),
    compositeVersions: await read(TABLES.compositeVersions),
    compositeItems: await read(TABLES.compositeItems),
    parameterSchemas: await read(TABLES.parameterSchemas),
    parameterFiles: await read(TABLES.parameterFiles),
    nodes: await read(TABLES.nodes),
    nodeTags: await read(TABLES.nodeTags),
    assignments: await read(TABLES.assignments),
    configurationGrants: await read(TABLES.configurationGrants),
    compositeGrants: await read(TABLES.compositeGrants),
    parameterGrants: await read(TABLES.parameterGrants),
    notCarried: await readNotCarried(database, users),
  };
}

type NotCarried = SourceSite['notCarried'][number];

const TOKENS: SourceTable<{ userId: string; name: string }> = {
  name: 'PersonalAccessTokens',
  columns: { userId: guid, name: text },
};

/** What is only counted, by its table. A release that has no such table has none of it. */
const COUNTED = {
  reports: 'Reports',
  'status events': 'NodeStatusEvents',
  'audit trail': 'AuditLogs',
  'retention runs': 'RetentionRuns',
};

/** What is not carried over: how much of it, and what a person would miss. */
async function readNotCarried(database: ForeignTables, users: readonly SourceUser[]): Promise<NotCarried[]> {
  const usernames = new Map(users.map(({ id, username }) => [id, username]));
  const userOf = (id: string) => usernames.get(id) ?? 'unknown user';
  const tokens = await readTable(database, TOKENS);
  const names = tokens.map(({ userId, name }) => `${userOf(userId)}: ${name}`).sort();
  const found: NotCarried[] = [{ kind: 'personal access tokens', count: names.length, names }];
  for (const [kind, table] of Object.entries(COUNTED)) {
    const count = database.columns.has(table) ? await database.count(table) : 0;
    found.push({ kind, count, names: [] });
  }
  return found;
}
