/**
 * The one database read of a poll: who holds this certificate, what is assigned to it, and the generation.
 * Prepared once and run on the bare handle, because Kysely prepares each statement anew (some 50 µs).
 */

import type { Database as SqliteHandle, Statement } from 'better-sqlite3';

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

export class NodeLookup {
  private readonly statement: Statement<[string], Row>;
  private readonly byId: Statement<[string], Row>;

  constructor(handle: SqliteHandle) {
    this.statement = handle.prepare<[string], Row>(`${SELECT} where c.thumbprint = ?`).raw();
    this.byId = handle.prepare<[string], Row>(`${SELECT} where c.node_id = ? and c.state = 'current'`).raw();
  }

  /** @param thumbprint SHA-256 of the certificate as 64 upper-case hex digits. */
  byThumbprint(thumbprint: string): KnownNode | null {
    const row = this.statement.get(thumbprint);
    return row ? toKnownNode(row) : null;
  }

  /** The same facts for a node that somebody else asks about. */
  byNodeId(nodeId: string): KnownNode | null {
    const row = this.byId.get(nodeId);
    return row ? toKnownNode(row) : null;
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
