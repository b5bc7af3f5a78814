/** Measures servers in alternating rounds, and computes medians and ratios. */

import { cpuSecondsOf } from './cpu.ts';
import type { LoadClient } from './messages.ts';
import type { LoadGenerator, ServerProcess } from './processes.ts';
import type { Effort, Scenario } from './scenarios.ts';

export interface Contender {
  server: ServerProcess;
  clients: readonly LoadClient[];
}

/** One round with one server. */
export interface Sample {
  requestsPerSecond: number;
  /** Latencies in milliseconds. */
  p50: number;
  p99: number;
  /** Server CPU in milliseconds per 1,000 requests. */
  cpu: number;
}

/**
 * The contenders take turns, so that other load on the machine affects all of them. Each round begins with another
 * contender, so that none always follows the same one.
 * @returns the samples of each contender; samples at the same index are from the same round
 */
export async function measure(
  generator: LoadGenerator,
  scenario: Scenario,
  contenders: readonly Contender[],
  effort: Effort,
): Promise<Sample[][]> {
  const samples: Sample[][] = contenders.map(() => []);
  for (let round = -effort.polls.warmUpRounds; round < effort.polls.rounds; round += 1) {
    for (let turn = 0; turn < contenders.length; turn += 1) {
      const at = (turn + round + effort.polls.warmUpRounds) % contenders.length;
      const sample = await takeSample(generator, scenario, contenders[at] as Contender, effort);
      if (round >= 0) samples[at]?.push(sample);
    }
  }
  return samples;
}

async function takeSample(
  generator: LoadGenerator,
  scenario: Scenario,
  { server, clients }: Contender,
  effort: Effort,
): Promise<Sample> {
  const requests = Math.ceil(scenario.requests * effort.share);
  const { newConnections } = scenario;
  const before = cpuSecondsOf(server.pid);
  const result = await generator.run({ endpoint: server.endpoint, clients, newConnections, requests });
  const cpuSeconds = cpuSecondsOf(server.pid) - before;
  return {
    requestsPerSecond: requests / result.seconds,
    p50: result.p50,
    p99: result.p99,
    cpu: (cpuSeconds * 1_000 * 1_000) / requests,
  };
}

/** The median of several rounds. A single disturbed round does not move it. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

export function middleHalf(values: readonly number[]): [lower: number, upper: number] {
  const sorted = [...values].sort((a, b) => a - b);
  const quartile = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return [quartile(0.25), quartile(0.75)];
}

/** Computes the ratio of each round, because two servers of one round had the same conditions. */
export function ratiosOf(samples: readonly Sample[], bases: readonly Sample[]): number[] {
  return samples.map((sample, round) => sample.cpu / (bases[round]?.cpu ?? Number.NaN));
}
