/** `/metrics`: what the server counts and measures, in the text format of Prometheus. */

import { type Route, route } from '../../http/route.ts';
import type { Metrics } from '../../lib/metrics/metrics.ts';
import { readRunRecord } from '../../lib/run-record.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import { FleetReader } from './fleet.ts';

interface MetricsTools extends Pick<FleetTools, 'database' | 'questions'> {
  metrics: Metrics;
  dataDir: string;
}

export function metricsRoutes({ metrics, dataDir, ...tools }: MetricsTools): Route[] {
  const fleet = new FleetReader(tools);
  return [
    route({
      id: 'getMetrics',
      method: 'GET',
      path: '/metrics',
      summary: 'Read the metrics of this server',
      description:
        'For Prometheus. Opened by the token of `HAWSER_METRICS_TOKEN` alone; 404 where none is configured. No label ' +
        'holds the name or id of a node or configuration.',
      tags: ['Metrics'],
      bound: 'shared',
      access: { kind: 'metrics' },
      answers: {
        200: {
          description: 'The metrics',
          mediaType: 'text/plain',
          headers: { 'Cache-Control': '`no-store`' },
        },
      },
      async handle({ facts }) {
        metrics.fleet.show(await fleet.read(facts.now));
        const [backup, doctor] = [readRunRecord(dataDir, 'backup'), readRunRecord(dataDir, 'doctor')];
        metrics.runs.show({ backup: await backup, doctor: await doctor }, facts.now);
        const headers = { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' };
        return { status: 200, headers, body: await metrics.text() };
      },
    }),
  ];
}
