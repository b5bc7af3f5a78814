/** Reads all nodes, with what decides what each of them gets. 100,000 nodes take half a second on SQLite. */

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
import type { Reading } from './reading.ts';

type NodeRow = [
  id: string,
  fqdn: string,
  configurationId: string | null,
  compositeId: string | null,
  majorVersion: number | null,
  prereleaseChannel: string | null,
  version: string | null,
];
type NameRow = [fqdn: string];
type TypeRow = [id: string, name: string, precedence: number];
type ValueRow = [id: string, typeId: string, value: string];
type TagRow = [nodeId: string, typeId: string, valueId: string];
type ConfigurationRow = [
  id: string,
  name: string,
  usesParameters: number,
  hasParameters: number,
  variables: string | null,
];

/** Each node has these scopes without a tag. */
const SYSTEM_TYPES = new Set([DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID]);

const SELECT = {
  position: `select value, coalesce((select max(seq) from changes), 0) from generation where id = 1`,
  configurations: `select c.id, c.name, c.use_server_managed_parameters, c.has_parameters, s.variables
    from configurations c left join configuration_settings s on s.configuration_id = c.id`,
  composites: 'select id, name from composites',
  types: 'select id, name, precedence from scope_types where is_enabled = 1 order by precedence',
  values: 'select id, scope_type_id, value from scope_values',
  nodes: `select n.id, n.fqdn, a.configuration_id, a.composite_id, a.major_version, a.prerelease_channel, a.version
    from nodes n left join assignments a on a.node_id = n.id order by n.fqdn`,
  succeeded: 'select n.fqdn from nodes n join deleted_node_names d on d.fqdn = n.fqdn',
  tags: 'select node_id, scope_type_id, scope_value_id from node_tags',
};

/** All nodes. */
export function* readingFleet(): Reading<FleetSnapshot> {
  const registry = yield* readingRegistry();
  const nodeIds: string[] = [];
  const fqdns: string[] = [];
  const assigned: number[] = [];
  const assignments = new Distinct<Assignment>();
  yield {
    sql: SELECT.nodes,
    take([id, fqdn, ...columns]: NodeRow) {
      nodeIds.push(id);
      fqdns.push(fqdn);
      assigned.push(placeOfAssignment(assignments, toAssignment(columns)));
    },
  };
  const succeeded = new Set<string>();
  yield { sql: SELECT.succeeded, take: ([fqdn]: NameRow) => succeeded.add(fqdn) };
  const tags = new TagColumns(registry, nodeIds);
  yield { sql: SELECT.tags, take: (row: TagRow) => tags.add(row) };
  const scopes = new Distinct<readonly ScopeLink[]>();
  const scopesOf = tags.place(scopes);
  const assignmentOf = Int32Array.from(assigned);
  const nodes: SnapshotNodes = { nodeIds, fqdns, succeeded, assignmentOf, scopesOf };
  return new FleetSnapshot(registry, nodes, { assignments, scopes });
}

function* readingRegistry(): Reading<SnapshotRegistry> {
  let position: SnapshotPosition = { generation: 0, lastChange: 0 };
  const configurations = new Map<string, KnownConfiguration>();
  const composites = new Map<string, string>();
  const types = new Map<string, ScopeLink>();
  const values = new Map<string, ScopeLink>();
  yield {
    sql: SELECT.position,
    take([generation, lastChange]: [number, number]) {
      position = { generation, lastChange };
    },
  };
  yield {
    sql: SELECT.configurations,
    take([id, name, parameters, repository, variables]: ConfigurationRow) {
      configurations.set(id, {
        ...{ id, name, usesParameters: parameters === 1, hasParameters: repository === 1 },
        hasVariables: variables === 'On',
      });
    },
  };
  yield {
    sql: SELECT.composites,
    take: ([id, name]: [string, string]) => void composites.set(id, name),
  };
  yield {
    sql: SELECT.types,
    take([scopeTypeId, scopeTypeName, precedence]: TypeRow) {
      types.set(scopeTypeId, {
        scopeTypeId,
        scopeTypeName,
        scopeValue: null,
        scopeValueId: null,
        precedence,
      });
    },
  };
  yield {
    sql: SELECT.values,
    take([id, typeId, scopeValue]: ValueRow) {
      const type = types.get(typeId);
      if (type) values.set(id, { ...type, scopeValue, scopeValueId: id });
    },
  };
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

/** The values of each type in a column, by the places of the nodes. A value is its number; 0 stands for none. */
class TagColumns {
  private readonly registry: SnapshotRegistry;
  private readonly places: ReadonlyMap<string, number>;
  private readonly numbers: ReadonlyMap<string, number>;
  private readonly columns: ReadonlyMap<string, Int32Array>;

  constructor(registry: SnapshotRegistry, nodeIds: readonly string[]) {
    const { scopeTypes, values } = registry;
    this.registry = registry;
    this.places = new Map(nodeIds.map((id, at) => [id, at]));
    this.numbers = new Map([...values.keys()].map((id, at) => [id, at + 1]));
    this.columns = new Map(
      scopeTypes.map(({ scopeTypeId }) => [scopeTypeId, new Int32Array(nodeIds.length)]),
    );
  }

  add([nodeId, typeId, valueId]: TagRow): void {
    const column = this.columns.get(typeId);
    const at = this.places.get(nodeId);
    if (column && at !== undefined) column[at] = this.numbers.get(valueId) ?? 0;
  }

  /** Gives each node its place in the distinct lists of scopes. */
  place(distinct: Distinct<readonly ScopeLink[]>): Int32Array {
    const { scopeTypes, values } = this.registry;
    const links = [...values.values()];
    const byNumbers = new Map<string, number>();
    return Int32Array.from({ length: this.places.size }, (_, at) => {
      let key = '';
      for (const column of this.columns.values()) key += `${column[at]} `;
      const known = byNumbers.get(key);
      if (known !== undefined) return known;
      const own = scopeTypes.flatMap((type) => {
        const number = this.columns.get(type.scopeTypeId)?.[at] ?? 0;
        return SYSTEM_TYPES.has(type.scopeTypeId) ? type : (links[number - 1] ?? []);
      });
      const place = placeOfScopes(distinct, own);
      byNumbers.set(key, place);
      return place;
    });
  }
}
