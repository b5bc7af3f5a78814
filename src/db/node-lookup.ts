/**
 * The one database read of a poll: who holds this certificate, what is assigned to it, and the generation.
 * Prepared once and run on the bare handle, because Kysely prepares each statement anew (some 50 µs).
 */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';
import { DEFAULT_SCOPE_TYPE_ID, NODE_SCOPE_TYPE_ID } from '../domain/scopes.ts';

/** What a node is given: exactly one of the two ids is set. */
export interface Assignment {
  configurationId: string | null;
  compositeId: string | null;
  majorVersion: number | null;
  prereleaseChannel: string | null;
}

export interface KnownNode {
  nodeId: string;
  certificateState: 'current' | 'pending';
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
  certificateState: 'current' | 'pending',
  certificateNotAfter: number,
  configurationId: string | null,
  compositeId: string | null,
  majorVersion: number | null,
  prereleaseChannel: string | null,
  generation: number,
];

/** Without the nodes themselves: a certificate goes with its node. */
const SELECT = `select c.node_id, c.state, c.not_after, a.configuration_id, a.composite_id, a.major_version,
    a.prerelease_channel, (select value from generation where id = 1)
  from node_certificates c left join assignments a on a.node_id = c.node_id`;

/** The enabled scope types that apply to a node, in the order of merging. */
const SELECT_SCOPES = `select t.id, t.name, t.precedence, case t.id
    when '${DEFAULT_SCOPE_TYPE_ID}' then null when '${NODE_SCOPE_TYPE_ID}' then n.fqdn else v.value end
  from nodes n cross join scope_types t
  left join node_tags g on g.node_id = n.id and g.scope_type_id = t.id
  left join scope_values v on v.id = g.scope_value_id
  where n.id = ? and t.is_enabled = 1 and (t.is_system = 1 or v.id is not null)
  order by t.precedence`;

/**
 * One view of the database for all look-ups of one turn of the event loop. To take and to leave a view costs as
 * much as the look-up (two calls of the kernel), and a busy server has several look-ups a turn. Nobody misses a
 * write: an answer that acknowledges it reaches its caller only after the turn, and `leave` is called as well
 * after each write of this process.
 */
class SharedView {
  private readonly begin: Statement;
  private readonly end: Statement;
  private isTaken = false;

  constructor(handle: SqliteHandle) {
    this.begin = handle.prepare('begin');
    this.end = handle.prepare('commit');
  }

  take(): void {
    if (this.isTaken) return;
    this.begin.run();
    this.isTaken = true;
    setImmediate(this.leave);
  }

  readonly leave = (): void => {
    if (!this.isTaken) return;
    this.isTaken = false;
    this.end.run();
  };
}

export class NodeLookup {
  private readonly statement: Statement<[string], Row>;
  private readonly byId: Statement<[string], Row>;
  private readonly scopes: Statement<[string], ScopeRow>;
  private readonly view: SharedView;

  /** @param handle of the look-up alone: its view of the database is not that of its neighbours */
  constructor(handle: SqliteHandle) {
    this.view = new SharedView(handle);
    this.statement = handle.prepare<[string], Row>(`${SELECT} where c.thumbprint = ?`).raw();
    this.byId = handle.prepare<[string], Row>(`${SELECT} where c.node_id = ? and c.state = 'current'`).raw();
    this.scopes = handle.prepare<[string], ScopeRow>(SELECT_SCOPES).raw();
  }

  /** @param thumbprint SHA-256 in upper-case hex; SHA-1 finds a certificate that was announced by that. */
  byThumbprint(thumbprint: string): KnownNode | null {
    this.view.take();
    const row = this.statement.get(thumbprint);
    return row ? toKnownNode(row) : null;
  }

  /** The same facts for a node that somebody else asks about. */
  byNodeId(nodeId: string): KnownNode | null {
    this.view.take();
    const row = this.byId.get(nodeId);
    return row ? toKnownNode(row) : null;
  }

  /** The scopes of a node in the order of merging; none of an unknown node. */
  scopesOf(nodeId: string): ScopeLink[] {
    this.view.take();
    return this.scopes.all(nodeId).map(toScopeLink);
  }

  /** Must be called after every write, so that the next look-up sees it. */
  refresh(): void {
    this.view.leave();
  }
}

function toKnownNode(row: Row): KnownNode {
  const [nodeId, certificateState, certificateNotAfter, configurationId, compositeId] = row;
  const [, , , , , majorVersion, prereleaseChannel, generation] = row;
  const assignment =
    configurationId === null && compositeId === null
      ? null
      : { configurationId, compositeId, majorVersion, prereleaseChannel };
  return { nodeId, certificateState, certificateNotAfter, assignment, generation };
}

function toScopeLink([scopeTypeId, scopeTypeName, precedence, scopeValue]: ScopeRow): ScopeLink {
  return { scopeTypeId, scopeTypeName, scopeValue, precedence };
}
