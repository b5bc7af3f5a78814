/** Reads nodes from PostgreSQL, each with a query of its own. */

import {
  FROM_NODES,
  FROM_SCOPES,
  type NameRow,
  NODE_COLUMNS,
  type NodeReader,
  type NodeRow,
  SCOPE_COLUMNS,
  type ScopeRow,
} from '../node-reader.ts';

type Query = (text: string, values: unknown[]) => Promise<unknown[][]>;

export function nodeReads(query: Query): NodeReader {
  const node = async (where: string, value: string) =>
    (await query(`select ${NODE_COLUMNS} ${FROM_NODES} and ${where} = $1`, [value]))[0] as
      | NodeRow
      | undefined;
  return {
    byThumbprint: (thumbprint) => node('c.thumbprint', thumbprint),
    byNodeId: (nodeId) => node('c.node_id', nodeId),
    isNodeId: async (id) => (await query('select 1 from nodes where id = $1', [id])).length > 0,
    idByFqdn: async (fqdn) =>
      (await query('select id from nodes where fqdn = $1', [fqdn]))[0]?.[0] as string | undefined,
    hasAnnounced: async (nodeId, ...thumbprints) =>
      (
        await query(
          `select 1 from node_certificates where node_id = $1 and state = 'pending' and thumbprint in ($2, $3)`,
          [nodeId, ...thumbprints],
        )
      ).length > 0,
    scopesOf: async (nodeId) =>
      (await query(`select ${SCOPE_COLUMNS} ${FROM_SCOPES} and n.id = $1 order by t.precedence`, [
        nodeId,
      ])) as ScopeRow[],
    namesAfter: async (number, limit) =>
      (await query('select number, fqdn from nodes where number > $1 order by number limit $2', [
        number,
        limit,
      ])) as NameRow[],
  };
}
