/**
 * Reads nodes from SQLite, never with a promise. The statements are prepared once and run on the bare handle, because
 * Kysely prepares a statement each time (some 50 µs).
 */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';
import {
  FROM_KNOWN,
  FROM_NODES,
  FROM_SCOPES,
  type NameRow,
  NODE_COLUMNS,
  type NodeReader,
  type NodeRow,
  SCOPE_COLUMNS,
  type ScopeRow,
  SELECT_KNOWN,
} from '../node-reader.ts';
import { IS_AWAITING } from '../node-tables.ts';

const SELECT_NODE = `select ${NODE_COLUMNS} ${FROM_NODES} and`;
const SELECT_ANNOUNCED = `select 1 from node_certificates
  where node_id = ? and state = 'pending' and thumbprint in (?, ?)`;
// By itself SQLite takes another index, and looks at the certificates of all nodes.
const SELECT_AWAITING = `select thumbprint from node_certificates indexed by node_certificates_awaiting
  where ${IS_AWAITING}`;
const SELECT_SCOPES = `select ${SCOPE_COLUMNS} ${FROM_SCOPES} and n.id = ? order by t.precedence`;
const SELECT_NAMES = 'select number, fqdn from nodes where number > ? order by number limit ?';

export class SqliteNodeReader implements NodeReader {
  private readonly nodeOfThumbprint: Statement<[string], NodeRow>;
  private readonly nodeOfId: Statement<[string], NodeRow>;
  private readonly idIfKnown: Statement<[string], string>;
  private readonly idOfFqdn: Statement<[string], string>;
  private readonly announced: Statement<[string, string, string]>;
  private readonly awaited: Statement<[], string>;
  private readonly scopes: Statement<[string], ScopeRow>;
  private readonly names: Statement<[number, number], NameRow>;

  /** @param handle must not write */
  constructor(handle: SqliteHandle) {
    this.nodeOfThumbprint = handle.prepare<[string], NodeRow>(`${SELECT_NODE} c.thumbprint = ?`).raw();
    this.nodeOfId = handle.prepare<[string], NodeRow>(`${SELECT_KNOWN} ${FROM_KNOWN} n.id = ?`).raw();
    this.idIfKnown = handle.prepare<[string], string>('select id from nodes where id = ?').pluck();
    this.idOfFqdn = handle.prepare<[string], string>('select id from nodes where fqdn = ?').pluck();
    this.announced = handle.prepare(SELECT_ANNOUNCED);
    this.awaited = handle.prepare<[], string>(SELECT_AWAITING).pluck();
    this.scopes = handle.prepare<[string], ScopeRow>(SELECT_SCOPES).raw();
    this.names = handle.prepare<[number, number], NameRow>(SELECT_NAMES).raw();
  }

  byThumbprint(thumbprint: string): NodeRow | undefined {
    return this.nodeOfThumbprint.get(thumbprint);
  }

  byNodeId(nodeId: string): NodeRow | undefined {
    return this.nodeOfId.get(nodeId);
  }

  isNodeId(id: string): boolean {
    return this.idIfKnown.get(id) !== undefined;
  }

  idByFqdn(fqdn: string): string | undefined {
    return this.idOfFqdn.get(fqdn);
  }

  hasAnnounced(nodeId: string, thumbprint: string, sha1Thumbprint: string): boolean {
    return this.announced.get(nodeId, thumbprint, sha1Thumbprint) !== undefined;
  }

  awaiting(): string[] {
    return this.awaited.all();
  }

  scopesOf(nodeId: string): ScopeRow[] {
    return this.scopes.all(nodeId);
  }

  namesAfter(number: number, limit: number): NameRow[] {
    return this.names.all(number, limit);
  }
}
