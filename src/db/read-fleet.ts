/** Reads all nodes in one read transaction, with the statements on the bare handle: 100,000 nodes take half a second. */

import type { Database as SqliteHandle } from 'better-sqlite3';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import {
  Distinct,
  FleetSnapshot,
  type KnownConfiguration,
  placeOfAssignment,
  placeOfScopes,
  type SnapshotNodes,
  type SnapshotPosition,
  type SnapshotRegistry,
} from './fleet-snapshot.ts';
import type { Assignment, ScopeLink } from './node-lookup.ts';

type NodeRow = [
  id: string,
  fqdn: string,
  configurationId: string | null,
  compositeId: string | null,
  majorVersion: number | null,
  prereleaseChannel: string | null,
  version: string | null,
];
type TypeRow = [id: string, name: string, precedence: number];
type ValueRow = [id: string, typeId: string, value: string];
type TagRow = [nodeId: string, typeId: string, valueId: string];
type ConfigurationRow = [id: string, name: string, usesParameters: number, hasParameters: number];

/** Each node has these scopes without a tag. */
const SYSTEM_TYPES = new Set([DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID]);

const SELECT = {
  position: `select value, coalesce((select max(seq) from changes), 0) from generation where id = 1`,
  configurations: 'select id, name, use_server_managed_parameters, has_parameters from configurations',
  composites: 'select id, name from composites',
  types: 'select id, name, precedence from scope_types where is_enabled = 1 order by precedence',
  values: 'select id, scope_type_id, value from scope_values',
  nodes: `select n.id, n.fqdn, a.configuration_id, a.composite_id, a.major_version, a.prerelease_channel, a.version
    from nodes n left join assignments a on a.node_id = n.id order by n.fqdn`,
  tags: 'select node_id, scope_type_id, scope_value_id from node_tags',
};

/** @param handle must not write, and is in no transaction */
export function readFleet(handle: SqliteHandle): FleetSnapshot {
  handle.exec('begin');
  try {
    return read(handle);
  } finally {
    handle.exec('commit');
  }
}

function read(handle: SqliteHandle): FleetSnapshot {
  const rowsOf = <R extends unknown[]>(sql: string) =>
    handle.prepare<[], R>(sql).raw().iterate() as Iterable<R>;
  const registry = readRegistry(rowsOf);
  const nodeIds: string[] = [];
  const fqdns: string[] = [];
  const assigned: number[] = [];
  const assignments = new Distinct<Assignment>();
  for (const [id, fqdn, ...columns] of rowsOf<NodeRow>(SELECT.nodes)) {
    nodeIds.push(id);
    fqdns.push(fqdn);
    assigned.push(placeOfAssignment(assignments, toAssignment(columns)));
  }
  const scopes = new Distinct<readonly ScopeLink[]>();
  const scopesOf = placeScopes(registry, nodeIds, rowsOf<TagRow>(SELECT.tags), scopes);
  const nodes: SnapshotNodes = { nodeIds, fqdns, assignmentOf: Int32Array.from(assigned), scopesOf };
  return new FleetSnapshot(registry, nodes, { assignments, scopes });
}

type RowsOf = <R extends unknown[]>(sql: string) => Iterable<R>;

function readRegistry(rowsOf: RowsOf): SnapshotRegistry {
  const [[generation, lastChange] = [0, 0]] = [...rowsOf<[number, number]>(SELECT.position)];
  const position: SnapshotPosition = { generation, lastChange };
  const configurations = new Map<string, KnownConfiguration>();
  for (const [id, name, usesParameters, hasParameters] of rowsOf<ConfigurationRow>(SELECT.configurations))
    configurations.set(id, {
      name,
      usesParameters: usesParameters === 1,
      hasParameters: hasParameters === 1,
    });
  const composites = new Map(rowsOf<[string, string]>(SELECT.composites));
  const types = new Map<string, ScopeLink>();
  for (const [scopeTypeId, scopeTypeName, precedence] of rowsOf<TypeRow>(SELECT.types))
    types.set(scopeTypeId, { scopeTypeId, scopeTypeName, scopeValue: null, precedence });
  const values = new Map<string, ScopeLink>();
  for (const [id, typeId, scopeValue] of rowsOf<ValueRow>(SELECT.values)) {
    const type = types.get(typeId);
    if (type) values.set(id, { ...type, scopeValue });
  }
  return { position, configurations, composites, scopeTypes: [...types.values()], values };
}

function toAssignment([configurationId, compositeId, majorVersion, prereleaseChannel, version]: readonly [
  string | null,
  string | null,
  number | null,
  string | null,
  string | null,
]): Assignment | null {
  if (configurationId === null && compositeId === null) return null;
  return { configurationId, compositeId, majorVersion, prereleaseChannel, version };
}

/** Gives each node its place in the distinct lists of scopes. The values of each type are gathered in a column first. */
function placeScopes(
  { scopeTypes, values }: SnapshotRegistry,
  nodeIds: readonly string[],
  tags: Iterable<TagRow>,
  distinct: Distinct<readonly ScopeLink[]>,
): Int32Array {
  const places = new Map(nodeIds.map((id, at) => [id, at]));
  const numbers = new Map([...values.keys()].map((id, at) => [id, at + 1]));
  const links = [...values.values()];
  const columns = new Map(scopeTypes.map(({ scopeTypeId }) => [scopeTypeId, new Int32Array(nodeIds.length)]));
  for (const [nodeId, typeId, valueId] of tags) {
    const column = columns.get(typeId);
    const at = places.get(nodeId);
    if (column && at !== undefined) column[at] = numbers.get(valueId) ?? 0;
  }
  const byNumbers = new Map<string, number>();
  return Int32Array.from(nodeIds, (_id, at) => {
    let key = '';
    for (const column of columns.values()) key += `${column[at]} `;
    const known = byNumbers.get(key);
    if (known !== undefined) return known;
    const own = scopeTypes.flatMap((type) => {
      const number = columns.get(type.scopeTypeId)?.[at] ?? 0;
      return SYSTEM_TYPES.has(type.scopeTypeId) ? type : (links[number - 1] ?? []);
    });
    const place = placeOfScopes(distinct, own);
    byNumbers.set(key, place);
    return place;
  });
}
