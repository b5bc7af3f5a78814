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
  fqdn: string;
  certificateState: 'current' | 'pending';
  /** Epoch milliseconds. */
  certificateNotAfter: number;
  assignment: Assignment | null;
  generation: number;
}

interface Row {
  nodeId: string;
  fqdn: string;
  certificateState: 'current' | 'pending';
  certificateNotAfter: number;
  assigned: string | null;
  configurationId: string | null;
  compositeId: string | null;
  majorVersion: number | null;
  prereleaseChannel: string | null;
  generation: number;
}

const SELECT = `select n.id as nodeId, n.fqdn as fqdn, c.state as certificateState,
    c.not_after as certificateNotAfter, a.node_id as assigned, a.configuration_id as configurationId,
    a.composite_id as compositeId, a.major_version as majorVersion, a.prerelease_channel as prereleaseChannel,
    (select value from generation where id = 1) as generation`;

export class NodeLookup {
  private readonly statement: Statement<[string], Row>;
  private readonly byId: Statement<[string], Row>;

  constructor(handle: SqliteHandle) {
    this.statement = handle.prepare(`${SELECT} from node_certificates c
      join nodes n on n.id = c.node_id left join assignments a on a.node_id = n.id where c.thumbprint = ?`);
    this.byId = handle.prepare(`${SELECT} from nodes n
      join node_certificates c on c.node_id = n.id and c.state = 'current'
      left join assignments a on a.node_id = n.id where n.id = ?`);
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
  const { nodeId, fqdn, certificateState, certificateNotAfter, generation } = row;
  const { configurationId, compositeId, majorVersion, prereleaseChannel } = row;
  const assignment =
    row.assigned === null ? null : { configurationId, compositeId, majorVersion, prereleaseChannel };
  return { nodeId, fqdn, certificateState, certificateNotAfter, assignment, generation };
}
