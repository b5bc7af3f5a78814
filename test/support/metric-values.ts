/** What a server under test says in its metrics. */

import { expect } from 'chai';
import { type Client, makeClient, type Target } from './client.ts';
import { eventually } from './eventually.ts';
import { parsePrometheus, sumOf } from './prometheus.ts';

const TOKEN = 'a-token-that-opens-the-metrics';

/** The setting of a server whose metrics these functions read. */
export const WITH_METRICS = { HAWSER_METRICS_TOKEN: TOKEN };

async function metricBy(client: Client, name: string, labels: Record<string, string>): Promise<number> {
  const reply = await client.get('/metrics', { Authorization: `Bearer ${TOKEN}` });
  expect(reply.status, reply.text).to.equal(200);
  return sumOf(parsePrometheus(reply.text), name, labels);
}

/** The sum of the samples of this name that have these labels, among others; 0 if there are none. */
export async function metricOf(
  target: Target,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const client = makeClient(target);
  try {
    return await metricBy(client, name, labels);
  } finally {
    client.close();
  }
}

/** Waits until so many requests have come to the server and wait for their answers, besides the one that asks for this. */
export async function untilInFlight(target: Target, requests: number): Promise<void> {
  await eventually(async () =>
    expect(await metricOf(target, 'hawser_http_requests_in_flight')).to.equal(requests + 1),
  );
}

/** How many evaluations of rollouts the server has made as the leader since its start. */
export function countEvaluations(target: Target): Promise<number> {
  return metricOf(target, 'hawser_rollout_evaluation_duration_seconds_count');
}
