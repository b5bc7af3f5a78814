/**
 * What a poll asks of the database: who holds this certificate, what is assigned to it, and the generation. Read once
 * and then remembered until the change feed names the certificate. Prepared once and run on the bare handle, because
 * Kysely prepares each statement anew (some 50 µs).
 */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';
import { RecentMap } from '../lib/recent-map.ts';
import type { ChangeFeed } from './change-feed.ts';

/** What a node is given: exactly one of the two ids is set. */
export interface Assignment {
  configurationId: string | null;
  compositeId: string | null;
  majorVersion: number | null;
  prereleaseChannel: string | null;
}

export interface KnownNode {
  nodeId: string;
  /** Epoch milliseconds. */
  certificateNotAfter: number;
  assignment: Assignment | null;
  generation: number;
}

/** A scope that speaks for a node: Default, one of its tagged values, or the node itself. */
export interface ScopeLink {
  scopeTypeId: string;
  scopeTypeName: string;
  /** Null of Default; of Node the node's fqdn. */
  scopeValue: string | null;
  precedence: number;
}

type ScopeRow = [scopeTypeId: string, scopeTypeName: string, precedence: number, scopeValue: string | null];

/** An array, because to make an object of as many names costs as much as to find the row. */
type Row = [
  nodeId: string,
  certificateNotAfter: number,
  configurationId: string | null,
  compositeId: string | null,
  majorVersion: number | null,
  prereleaseChannel: string | null,
  generation: number,
];

/** Without the nodes themselves: a certificate goes with its node. */
const SELECT = `select c.node_id, c.not_after, a.configuration_id, a.composite_id, a.major_version,
    a.prerelease_channel, (select value from generation where id = 1)
  from node_certificates c left join assignments a on a.node_id = c.node_id
  where c.state = 'current' and`;

const SELECT_ANNOUNCED = `select 1 from node_certificates
  where node_id = ? and state = 'pending' and thumbprint in (?, ?)`;

/** The enabled scope types that apply to a node, in the order of merging. */
const SELECT_SCOPES = `select t.id, t.name, t.precedence, case t.id
    when '${DEFAULT_SCOPE_TYPE_ID}' then null when '${NODE_SCOPE_TYPE_ID}' then n.fqdn else v.value end
  from nodes n cross join scope_types t
  left join node_tags g on g.node_id = n.id and g.scope_type_id = t.id
  left join scope_values v on v.id = g.scope_value_id
  where n.id = ? and t.is_enabled = 1 and (t.is_system = 1 or v.id is not null)
  order by t.precedence`;

/**
 * More than a fleet has: in a cache that is smaller, nodes that poll in turn would push each other out. A node takes some
 * 400 bytes here.
 */
export const MAX_NODES = 250_000;

export class NodeLookup {
  private readonly feed: ChangeFeed;
  private readonly statement: Statement<[string], Row>;
  private readonly byId: Statement<[string], Row>;
  private readonly announced: Statement<[string, string, string]>;
  private readonly scopes: Statement<[string], ScopeRow>;
  /** Those who hold a current certificate, by its thumbprint, for as long as the feed tells no other. */
  private readonly known = new RecentMap<string, KnownNode>(MAX_NODES);

  /** @param handle one that does not write */
  constructor(handle: SqliteHandle, feed: ChangeFeed) {
    this.feed = feed;
    this.statement = handle.prepare<[string], Row>(`${SELECT} c.thumbprint = ?`).raw();
    this.byId = handle.prepare<[string], Row>(`${SELECT} c.node_id = ?`).raw();
    this.announced = handle.prepare(SELECT_ANNOUNCED);
    this.scopes = handle.prepare<[string], ScopeRow>(SELECT_SCOPES).raw();
    feed.subscribe({
      onChange: (kind, key) => kind === 'certificates' && this.known.delete(key),
      onLost: () => this.known.clear(),
    });
  }

  /**
   * The node whose current certificate this is; null where it is none's.
   * @param thumbprint SHA-256 in upper-case hex
   */
  byThumbprint(thumbprint: string): KnownNode | null {
    this.feed.catchUp();
    const known = this.known.get(thumbprint);
    if (known?.generation === this.feed.generation) return known;
    return known
      ? this.remember(thumbprint, { ...known, generation: this.feed.generation })
      : this.find(thumbprint);
  }

  /** The same facts for a node that somebody else asks about. */
  byNodeId(nodeId: string): KnownNode | null {
    const row = this.byId.get(nodeId);
    return row ? toKnownNode(row) : null;
  }

  /** Whether the node has announced the certificate of these two thumbprints, by either; in time or not. */
  hasAnnounced(nodeId: string, thumbprint: string, sha1Thumbprint: string): boolean {
    return this.announced.get(nodeId, thumbprint, sha1Thumbprint) !== undefined;
  }

  /** The scopes of a node in the order of merging; none of an unknown node. */
  scopesOf(nodeId: string): ScopeLink[] {
    return this.scopes.all(nodeId).map(toScopeLink);
  }

  private find(thumbprint: string): KnownNode | null {
    const row = this.statement.get(thumbprint);
    return row ? this.remember(thumbprint, toKnownNode(row)) : null;
  }

  private remember(thumbprint: string, node: KnownNode): KnownNode {
    this.known.set(thumbprint, node);
    return node;
  }
}

function toKnownNode(row: Row): KnownNode {
  const [nodeId, certificateNotAfter, configurationId, compositeId] = row;
  const [, , , , majorVersion, prereleaseChannel, generation] = row;
  const assignment =
    configurationId === null && compositeId === null
      ? null
      : { configurationId, compositeId, majorVersion, prereleaseChannel };
  return { nodeId, certificateNotAfter, assignment, generation };
}

function toScopeLink([scopeTypeId, scopeTypeName, precedence, scopeValue]: ScopeRow): ScopeLink {
  return { scopeTypeId, scopeTypeName, scopeValue, precedence };
}
