/** Row types of nodes and of the tables that belong to them. `schema.ts` explains the conventions. */

import type { Generated } from 'kysely';

/** A node has at most one certificate of each state. A current one belongs to one node, a pending one may belong to many. */
export interface NodeCertificatesTable {
  /**
   * SHA-256 as 64 upper-case hex digits. It is the SHA-1 as 40 digits if a pending certificate was announced by that, or if
   * a node came from another server and has not called yet; then `sha1_thumbprint` is the same.
   */
  thumbprint: string;
  /** SHA-1 as 40 upper-case hex digits, if it is known. */
  sha1_thumbprint: string | null;
  node_id: string;
  state: 'current' | 'pending';
  subject: string;
  /** This is 0 for a certificate that was announced or came from another server, but was not presented. */
  not_before: number;
  not_after: number;
  created_at: number;
}

/** A node that came from another server, and has not called yet. No other current certificate has a SHA-1 in its place. */
export const IS_AWAITING = `state = 'current' and thumbprint = sha1_thumbprint`;

export const AWAITING_INDEX = `create index node_certificates_awaiting on node_certificates (thumbprint)
  where ${IS_AWAITING}`;

/** What an assignment says beside what is assigned, as one text in SQL. @param row the name of the row of `assignments` */
export const assignedAs = (row: string) =>
  ['cast(ROW.major_version as text)', 'ROW.prerelease_channel', 'ROW.version']
    .map((part) => `coalesce(${part.replace('ROW', row)}, '')`)
    .join(` || '|' || `);

/** A change either of the LCM's status or of the compliance of a node. The other one of the two is null. */
export interface StatusEventsTable {
  /** Later events have higher ids. */
  id: Generated<number>;
  node_id: string;
  lcm_status: string | null;
  status: string | null;
  timestamp: number;
}

export interface NodeTagsTable {
  node_id: string;
  scope_type_id: string;
  scope_value_id: string;
  assigned_at: number;
  /** The name of the node, which a trigger sets. */
  fqdn: Generated<string | null>;
}

export const NODE_STATUSES = ['Unknown', 'Compliant', 'NonCompliant', 'Error'] as const;
export const LCM_STATUSES = ['Unknown', 'Idle', 'Downloading', 'Testing', 'Remediating', 'Error'] as const;

/** How the server knows what a node runs, the weakest first. */
export const EVIDENCE = ['Told', 'Served', 'Declared'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** What a node runs, as far as the server knows. A row is written only when it changes. */
export interface NodeRunningTable {
  node_id: string;
  /** The checksum that the node runs. It, the evidence and its time are null together. */
  checksum: string | null;
  evidence: Evidence | null;
  /** When this evidence of this checksum came. */
  since: number | null;
  /** The checksum with which the node's last poll was answered. */
  answered_checksum: string | null;
  /** The checksum of the last bundle that went to the node whole. */
  served_checksum: string | null;
}

/** What a checksum stands for. A manifest is kept for as long as a node, a report or the past names it, or a node got its last bundle of it. */
export interface ManifestsTable {
  checksum: string;
  configuration_name: string;
  is_composite: number;
  version: string;
  /** JSON: the tag, the entry point and the parts. */
  content: string;
  /** The SHA-256 of the ZIP in base64; null until the ZIP was made. */
  bundle_digest: string | null;
  first_served_at: number | null;
}

export interface NodeTables {
  nodes: {
    id: string;
    fqdn: string;
    status: string;
    lcm_status: string;
    configuration_source: string | null;
    configuration_mode: string | null;
    configuration_mode_interval: string | null;
    configuration_mode_interval_ms: number | null;
    report_compliance: number | null;
    desired_configuration_mode: string | null;
    desired_configuration_mode_interval: string | null;
    desired_report_compliance: number | null;
    created_at: number;
    /** When the status changed last; null for a node whose status never has, as far as is known. */
    status_since: Generated<number | null>;
    /** A later node has a higher number, and no two ever have the same. A trigger sets it. */
    number: Generated<number>;
    /** The id of the configuration or composite that is assigned; null where nothing is. Triggers set it. */
    assigned_id: Generated<string | null>;
    /** What else the assignment says, as `assignedAs` puts it together. Triggers set it. */
    assigned_as: Generated<string | null>;
    /** How it is known what the node runs, as in `node_running`. Triggers set it. */
    evidence: Generated<Evidence | null>;
    /** When the current certificate ends. A trigger sets it. */
    certificate_end: Generated<number | null>;
    /** Whether the node has not shown a certificate yet. A trigger sets it when the certificate changes. */
    is_awaiting: Generated<number>;
    /** The key by which the node has registered last. */
    registration_key_id: Generated<string | null>;
  };
  /** This is apart from `nodes` so that the batched write of check-ins touches narrow rows only. */
  node_check_ins: {
    node_id: string;
    last_check_in: number;
    /** The node's number, which a trigger sets. */
    number: Generated<number | null>;
  };
  node_certificates: NodeCertificatesTable;
  status_events: StatusEventsTable;
  assignments: {
    node_id: string;
    configuration_id: string | null;
    composite_id: string | null;
    major_version: number | null;
    prerelease_channel: string | null;
    /** The version to which the node is pinned. Then the two above are null. */
    version: string | null;
    assigned_at: number;
  };
  node_tags: NodeTagsTable;
  node_running: NodeRunningTable;
  manifests: ManifestsTable;
  /**
   * How many nodes run each checksum, to how many it was served last, and how many reports name it; and, apart from these, how
   * many stretches of the past do. Triggers keep these counts.
   */
  checksum_uses: { checksum: string; uses: number; past: Generated<number> };
}
