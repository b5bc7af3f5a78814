/** Reads nodes from PostgreSQL, always with a promise. Look-ups of the same kind in one turn share a query. */

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
import { BatchedRows, type Query } from './batch.ts';

const SELECT_BY_THUMBPRINT = `select ${NODE_COLUMNS}, c.thumbprint ${FROM_NODES} and c.thumbprint = any($1::text[])`;
const SELECT_BY_ID = `${SELECT_KNOWN}, n.id ${FROM_KNOWN} n.id = any($1::text[])`;
const SELECT_IDS = 'select id from nodes where id = any($1::text[])';
const SELECT_IDS_OF_NAMES = 'select id, fqdn from nodes where fqdn = any($1::text[])';
const SELECT_ANNOUNCED = `select thumbprint, node_id from node_certificates
  where state = 'pending' and node_id = any($1::text[])`;
const SELECT_AWAITING = `select thumbprint from node_certificates where ${IS_AWAITING}`;
const SELECT_SCOPES = `select ${SCOPE_COLUMNS}, n.id ${FROM_SCOPES} and n.id = any($1::text[]) order by t.precedence`;
const SELECT_NAMES = 'select number, fqdn from nodes where number > $1 order by number limit $2';

export class PostgresNodeReader implements NodeReader {
  private readonly query: Query;
  private readonly nodesOfThumbprints: BatchedRows<NodeRow>;
  private readonly nodesOfIds: BatchedRows<NodeRow>;
  private readonly ids: BatchedRows<[]>;
  private readonly idsOfNames: BatchedRows<[id: string]>;
  private readonly announced: BatchedRows<[thumbprint: string]>;
  private readonly scopes: BatchedRows<ScopeRow>;

  constructor(query: Query) {
    this.query = query;
    this.nodesOfThumbprints = new BatchedRows(query, SELECT_BY_THUMBPRINT);
    this.nodesOfIds = new BatchedRows(query, SELECT_BY_ID);
    this.ids = new BatchedRows(query, SELECT_IDS);
    this.idsOfNames = new BatchedRows(query, SELECT_IDS_OF_NAMES);
    this.announced = new BatchedRows(query, SELECT_ANNOUNCED);
    this.scopes = new BatchedRows(query, SELECT_SCOPES);
  }

  byThumbprint(thumbprint: string): Promise<NodeRow | undefined> {
    return this.nodesOfThumbprints.firstOf(thumbprint);
  }

  byNodeId(nodeId: string): Promise<NodeRow | undefined> {
    return this.nodesOfIds.firstOf(nodeId);
  }

  async isNodeId(id: string): Promise<boolean> {
    return (await this.ids.of(id)).length > 0;
  }

  async idByFqdn(fqdn: string): Promise<string | undefined> {
    return (await this.idsOfNames.firstOf(fqdn))?.[0];
  }

  async hasAnnounced(nodeId: string, thumbprint: string, sha1Thumbprint: string): Promise<boolean> {
    const announced = await this.announced.of(nodeId);
    return announced.some(([one]) => one === thumbprint || one === sha1Thumbprint);
  }

  async awaiting(): Promise<readonly string[]> {
    const rows = (await this.query(SELECT_AWAITING, [])) as [thumbprint: string][];
    return rows.map(([thumbprint]) => thumbprint);
  }

  scopesOf(nodeId: string): Promise<readonly ScopeRow[]> {
    return this.scopes.of(nodeId);
  }

  async namesAfter(number: number, limit: number): Promise<readonly NameRow[]> {
    return (await this.query(SELECT_NAMES, [number, limit])) as NameRow[];
  }
}
