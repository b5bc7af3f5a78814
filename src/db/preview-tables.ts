/** Row types of previews and of what they found. `schema.ts` explains the conventions. */

export interface PreviewsTable {
  id: string;
  /** The user who made it, who may be gone. */
  user_id: string;
  /** The process that makes it, which holds the lock of this name for as long as it lives. */
  maker: string;
  state: 'Running' | 'Done' | 'Failed';
  created_at: number;
  completed_at: number | null;
  expires_at: number;
  /** JSON: the changes as answers show them, without any content. */
  changes: string;
  /** JSON: the configurations, composites and parameters that the changes name, as `Named` of deeds/named-changes.ts. */
  named: string;
  /** JSON: what is found in the versions that the changes publish, as `FoundInVersion` of deeds/propose-changes.ts. */
  findings: string;
  /** JSON: what is in the way of the changes at the moment, as `PreviewWarning` of deeds/propose-changes.ts. */
  warnings: string;
  /** Whether it is narrowed to some nodes. */
  is_narrowed: number;
  /** While it runs, how many nodes there are. Then the sum of the three that follow. */
  nodes: number;
  changed: number;
  unchanged: number;
  unresolvable: number;
  not_visible: number;
  /** Null until it is done. */
  group_count: number | null;
  /** Why it failed, as a sentence that users may read. */
  error: string | null;
}

/** What a preview found. There is none until it is made. */
export interface PreviewResultsTable {
  preview_id: string;
  /** From 0. Each row has the next part of each column, so that no write holds up a poll; most previews have one. */
  position: number;
  /** JSON: what its nodes get, as `ContentOfNodes` of resolve/preview-types.ts. Empty but in the first row. */
  contents: string;
  /** Compressed lines, as `KeptColumn` of resolve/preview-types.ts says. */
  groups: Buffer;
  nodes: Buffer;
  details: Buffer;
}

export interface PreviewTables {
  previews: PreviewsTable;
  preview_results: PreviewResultsTable;
}
