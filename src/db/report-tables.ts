/** Row types of reports. */

import type { Generated } from 'kysely';

export interface ReportsTable {
  /** Rises with the order of writing. */
  seq: Generated<number>;
  id: string;
  node_id: string;
  timestamp: number;
  operation: 'Get' | 'Set' | 'Test' | 'Export';
  /** Null where the report says nothing of it. */
  in_desired_state: number | null;
  had_errors: number;
  /** JSON text, exactly as the node sent it. */
  result: string;
}

/** How many reports of one outcome there are; kept by triggers. */
export interface ReportCountsTable {
  /** Milliseconds, of which each is counted on its own; 0: all times together. */
  span: number;
  /** Which span, counted from the epoch. */
  period: number;
  operation: ReportsTable['operation'];
  /** 0 or 1, or -1 where the reports say nothing of it: a primary key holds no null. */
  in_desired_state: number;
  had_errors: number;
  count: number;
}

export interface ReportTables {
  reports: ReportsTable;
  report_counts: ReportCountsTable;
}
