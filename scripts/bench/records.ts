/**
 * Measures what nodes, reports and events cost as they grow in number: lists, accepting reports, and deleting old
 * ones.
 */

import { join } from 'node:path';
import type { Processes } from './processes.ts';
import { type BulkRow, formatBulk, measureBulk } from './record-bulk.ts';
import { type CleanupResult, formatCleanup, measureCleanup } from './record-cleanup.ts';
import { compareRecordLists } from './record-lists.ts';
import { makeRecordSite, type RecordSize } from './record-site.ts';
import { formatReports, measureReports, type ReportResult } from './reports.ts';
import { formatScale, type ScaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';

const FEW: RecordSize = { nodes: 1_000, reports: 1_000, reportsOfBusy: 500 };

export interface RecordResults {
  few: RecordSize;
  many: RecordSize;
  lists: ScaleRow[];
  reports: ReportResult;
  cleanup: CleanupResult;
  bulk: BulkRow[];
}

/** @param progress is called with what begins */
export async function measureRecords(
  folder: string,
  template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<RecordResults> {
  progress('measuring: durable reports');
  const reports = await measureReports(join(folder, 'reports'), effort);
  const { many } = effort.records;
  progress(`making ${many.nodes} nodes and ${many.reports} reports`);
  const fewSite = await makeRecordSite(join(folder, 'few-records'), template, processes, FEW);
  const manySite = await makeRecordSite(join(folder, 'many-records'), template, processes, many);
  progress('measuring: lists of few and of many records');
  const lists = await compareRecordLists(fewSite, manySite, effort);
  progress(`measuring: a cleanup of ${many.reports} reports`);
  const cleanup = await measureCleanup(manySite, effort);
  progress('measuring: bulk deeds');
  const bulk = await measureBulk(manySite);
  for (const { client } of [fewSite, manySite]) client.close();
  return { few: FEW, many, lists, reports, cleanup, bulk };
}

export function formatRecords({ lists, reports, cleanup, bulk }: RecordResults): string {
  return [
    formatScale('nodes and reports', lists),
    formatReports(reports),
    formatCleanup(cleanup),
    formatBulk(bulk),
  ].join('\n\n');
}
