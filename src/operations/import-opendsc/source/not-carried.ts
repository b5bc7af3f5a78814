/** What is in the database of an OpenDSC server and is not carried over: how much of it, and what a person would miss. */

import type { ForeignTables } from '../../../db/foreign-tables.ts';
import { guid, text } from './converters.ts';
import { readTable } from './read-table.ts';
import type { SourceSite, SourceUser } from './site.ts';
import type { SourceTable } from './tables.ts';

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

export async function readNotCarried(
  database: ForeignTables,
  users: readonly SourceUser[],
): Promise<NotCarried[]> {
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
