/**
 * What `NodeLookup` and `NodeNames` read from the database. Each engine reads it in its own way: SQLite at once, and
 * PostgreSQL with promises.
 */

import type { Awaitable } from '../lib/awaitable.ts';

/** A row is an array, because making an object with as many names costs as much as finding the row. */
export type NodeRow = [
  nodeId: string,
  certificateNotAfter: number,
  pendingNotAfter: number,
  configurationId: string | null,
  compositeId: string | null,
  majorVersion: number | null,
  prereleaseChannel: string | null,
  version: string | null,
];

/** The value is null for Default and for Node. */
export type SharedRow = [
  scopeTypeId: string,
  scopeTypeName: string,
  precedence: number,
  scopeValue: string | null,
  scopeValueId: string | null,
];
export type ScopeRow = [fqdn: string, isSuccessor: number, ...shared: SharedRow];

export type NameRow = [number: number, fqdn: string];

/** Each method sees all that was committed before its call. */
export interface NodeReader {
  /** The node whose current certificate this is. */
  byThumbprint(thumbprint: string): Awaitable<NodeRow | undefined>;
  /** The node of this id. While it is expected its certificate ends at 0. */
  byNodeId(nodeId: string): Awaitable<NodeRow | undefined>;
  isNodeId(id: string): Awaitable<boolean>;
  idByFqdn(fqdn: string): Awaitable<string | undefined>;
  /** Whether the node has announced a certificate by one of its two thumbprints. */
  hasAnnounced(nodeId: string, thumbprint: string, sha1Thumbprint: string): Awaitable<boolean>;
  /** The SHA-1 thumbprints of certificates that nodes await. */
  awaiting(): Awaitable<readonly string[]>;
  /** The enabled scope types that apply to a node, in the order of merging. */
  scopesOf(nodeId: string): Awaitable<readonly ScopeRow[]>;
  /** The first names whose numbers are higher than this one, in the order of their numbers. */
  namesAfter(number: number, limit: number): Awaitable<readonly NameRow[]>;
}

const ASSIGNED = 'a.configuration_id, a.composite_id, a.major_version, a.prerelease_channel, a.version';

/** The columns of `NodeRow` by a certificate. */
export const NODE_COLUMNS = `c.node_id, c.not_after, coalesce(p.not_after, 0), ${ASSIGNED}`;

/** The table of nodes is not needed, because a certificate is deleted with its node. */
export const FROM_NODES = `from node_certificates c left join assignments a on a.node_id = c.node_id
  left join node_certificates p on p.node_id = c.node_id and p.state = 'pending'
  where c.state = 'current'`;

/** `NodeRow` by the id of the node, which is `n.id`. */
export const SELECT_KNOWN = `select n.id, coalesce(c.not_after, 0), coalesce(p.not_after, 0), ${ASSIGNED}`;

export const FROM_KNOWN = `from nodes n left join assignments a on a.node_id = n.id
  left join node_certificates c on c.node_id = n.id and c.state = 'current'
  left join node_certificates p on p.node_id = n.id and p.state = 'pending' where`;

/** Whether a node `n` has the name of one that was deleted before. */
export const IS_SUCCESSOR =
  'case when exists (select 1 from deleted_node_names d where d.fqdn = n.fqdn) then 1 else 0 end';

/** The columns of `ScopeRow`. */
export const SCOPE_COLUMNS = `n.fqdn, ${IS_SUCCESSOR}, t.id, t.name, t.precedence, v.value, v.id`;

export const FROM_SCOPES = `from nodes n cross join scope_types t
  left join node_tags g on g.node_id = n.id and g.scope_type_id = t.id
  left join scope_values v on v.id = g.scope_value_id
  where t.is_enabled = 1 and (t.is_system = 1 or v.id is not null)`;
