/** The ids of what the files of a scope of a configuration belong to, which their secrets are bound to. */

import { NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import type { Db } from './database.ts';
import type { Reading } from './reading.ts';

/** The names of a scope, as the repository of the parameters has them. */
export interface NamedSeries {
  configurationName: string;
  scopeType: string;
  scopeValue: string | null;
}

export interface FoundSeries {
  configurationId: string;
  scopeTypeId: string;
  /** The id of the scope value or of the node. */
  ownerId: string | null;
}

/** Undefined where there is no such configuration or scope type. */
export async function findSeriesPlace(
  db: Db,
  { configurationName, scopeType, scopeValue }: NamedSeries,
): Promise<FoundSeries | undefined> {
  const row = await db
    .selectFrom('configurations as c')
    .innerJoin('scope_types as t', (join) => join.on('t.name', '=', scopeType))
    .leftJoin('scope_values as v', (join) =>
      join.onRef('v.scope_type_id', '=', 't.id').on('v.value', '=', scopeValue ?? ''),
    )
    .leftJoin('nodes as n', (join) =>
      join.on('t.id', '=', NODE_SCOPE_TYPE_ID).on('n.fqdn', '=', scopeValue ?? ''),
    )
    .select(['c.id as configurationId', 't.id as scopeTypeId', 'v.id as valueId', 'n.id as nodeId'])
    .where('c.name', '=', configurationName)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { configurationId, scopeTypeId, valueId, nodeId } = row;
  return { configurationId, scopeTypeId, ownerId: valueId ?? nodeId };
}

const SELECT_PLACE = `select c.id, t.id, coalesce(v.id, n.id) from configurations c
  join scope_types t on t.name = ?
  left join scope_values v on v.scope_type_id = t.id and v.value = ?
  left join nodes n on t.id = '${NODE_SCOPE_TYPE_ID}' and n.fqdn = ?
  where c.name = ?`;

/** The same, for threads. */
export function* readingSeriesPlace({
  configurationName,
  scopeType,
  scopeValue,
}: NamedSeries): Reading<FoundSeries | undefined> {
  let found: FoundSeries | undefined;
  yield {
    sql: SELECT_PLACE,
    values: [scopeType, scopeValue ?? '', scopeValue ?? '', configurationName],
    take(row) {
      const [configurationId, scopeTypeId, ownerId] = row as [string, string, string | null];
      found = { configurationId, scopeTypeId, ownerId };
    },
  };
  return found;
}
