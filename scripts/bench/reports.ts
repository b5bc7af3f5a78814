/**
 * Measures how many durable reports the server accepts when 64 nodes send reports at once: reports that arrive
 * together share a commit, compared with one commit for each. It measures directly at the writer, because over HTTP
 * the load generator would take most of the time.
 */

import { insertNode } from '../../src/api/nodes/queries.ts';
import { openReportWriter, type ReceivedReport, writeReports } from '../../src/api/reports/writer.ts';
import { type Database, openDatabase } from '../../src/db/open.ts';
import { SECOND } from '../../src/lib/clock.ts';
import { newId, newOrderedId } from '../../src/lib/ids.ts';
import { median, middleHalf } from './measure.ts';
import { formatRange, verdict } from './report.ts';
import type { Effort } from './scenarios.ts';

const NODES = 64;
const RESULT_BYTES = 5 * 1024;
/** The least number of reports, as a multiple of the number with one commit for each. */
const TARGET = 8;

type Send = (report: ReceivedReport) => Promise<unknown>;

export interface ReportResult {
  nodes: number;
  /** The size of each report's result. */
  bytes: number;
  /** Reports per second, medians of the rounds. */
  together: number;
  alone: number;
  /** The median of the ratios of the rounds. */
  ratio: number;
  ratioRange: [lower: number, upper: number];
  target: number;
  met: boolean;
}

/** @param folder on the disk that is measured */
export async function measureReports(folder: string, { rounds, records }: Effort): Promise<ReportResult> {
  const database = await openDatabase(folder);
  try {
    const nodeIds = await makeNodes(database);
    const writer = openReportWriter(database);
    const sends = {
      together: (report) => writer.submit(report),
      alone: (report) => database.write.transaction().execute((trx) => writeReports(trx, [report])),
    } satisfies Record<string, Send>;
    const samples: { together: number; alone: number }[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const sample = { together: 0, alone: 0 };
      const turns = round % 2 === 0 ? (['together', 'alone'] as const) : (['alone', 'together'] as const);
      for (const turn of turns) sample[turn] = await measure(nodeIds, sends[turn], records.reportRoundMs);
      samples.push(sample);
    }
    return resultOf(samples);
  } finally {
    await database.close();
  }
}

async function makeNodes({ write }: Database): Promise<string[]> {
  const nodes = Array.from({ length: NODES }, (_, index) => ({ id: newId(), fqdn: `node-${index}` }));
  for (const node of nodes) await insertNode(write, { ...node, now: Date.now(), settings: {} });
  return nodes.map(({ id }) => id);
}

/** Reports per second: each node sends its next report when the last one has been acknowledged. */
async function measure(nodeIds: readonly string[], send: Send, roundMs: number): Promise<number> {
  const start = performance.now();
  let acknowledged = 0;
  await Promise.all(
    nodeIds.map(async (nodeId) => {
      while (performance.now() - start < roundMs) {
        await send(makeReport(nodeId));
        acknowledged += 1;
        // In a real server, the next request never comes in the same turn of the event loop as the answer.
        await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  return (acknowledged * SECOND) / (performance.now() - start);
}

function makeReport(nodeId: string): ReceivedReport {
  const result = JSON.stringify({ hadErrors: false, results: [], messages: ['x'.repeat(RESULT_BYTES)] });
  return {
    row: {
      ...{ id: newOrderedId(Date.now()), node_id: nodeId, timestamp: Date.now(), operation: 'Test', result },
      ...{ in_desired_state: 1, had_errors: 0 },
    },
    nodeStatus: 'Compliant',
  };
}

function resultOf(samples: readonly { together: number; alone: number }[]): ReportResult {
  const ratios = samples.map(({ together, alone }) => together / alone);
  const ratio = median(ratios);
  return {
    ...{ nodes: NODES, bytes: RESULT_BYTES },
    together: median(samples.map(({ together }) => together)),
    alone: median(samples.map(({ alone }) => alone)),
    ...{ ratio, ratioRange: middleHalf(ratios), target: TARGET, met: ratio >= TARGET },
  };
}

export function formatReports({ nodes, bytes, together, alone, ...result }: ReportResult): string {
  const { ratio, ratioRange, target, met } = result;
  return [
    `durable reports a second, of ${nodes} nodes at once, ${bytes} bytes each`,
    `  sharing commits ${together.toFixed(0)}, a commit for each ${alone.toFixed(0)}`,
    `  ${ratio.toFixed(1)} x, half within ${formatRange(ratioRange)}; at least ${target} x: ${verdict(met)}`,
  ].join('\n');
}
