/** Row types of nodes and of what hangs on them, in the manner of `schema.ts`. */

import type { Generated } from 'kysely';

/** A node has at most one certificate of each state. A current one is of one node alone, a pending one may be of many. */
export interface NodeCertificatesTable {
  /** SHA-256 as 64 upper-case hex digits; of a pending one that was announced by SHA-1 that, 40 of them. */
  thumbprint: string;
  /** SHA-1 as 40 upper-case hex digits, where it is known. */
  sha1_thumbprint: string | null;
  node_id: string;
  state: 'current' | 'pending';
  subject: string;
  /** 0 of a pending one that was announced, not shown. */
  not_before: number;
  not_after: number;
  created_at: number;
}

/** Of a change either of what the node's LCM does or of its compliance; the other of the two is null. */
export interface StatusEventsTable {
  /** Rises with the order of writing. */
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
  };
  /** Apart from `nodes` so that the batched write of check-ins touches narrow rows only. */
  node_check_ins: { node_id: string; last_check_in: number };
  node_certificates: NodeCertificatesTable;
  status_events: StatusEventsTable;
  assignments: {
    node_id: string;
    configuration_id: string | null;
    composite_id: string | null;
    major_version: number | null;
    prerelease_channel: string | null;
    assigned_at: number;
  };
  node_tags: NodeTagsTable;
  /** Kept by triggers. */
  node_counts: { status: string; lcm_status: string; count: number };
}
