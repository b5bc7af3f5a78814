/** Rounds in turn against each server, and what they come to. */

import { cpuSecondsOf } from './cpu.ts';
import type { LoadClient } from './messages.ts';
import type { LoadGenerator, ServerProcess } from './processes.ts';
import type { Effort, Scenario } from './scenarios.ts';

export interface Contender {
  server: ServerProcess;
  clients: readonly LoadClient[];
}

/** One round against one server. */
export interface Sample {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Server CPU milliseconds per 1,000 requests. */
  cpu: number;
}

/**
 * Takes turns, so that what else the machine does hits all alike, and begins with another contender each
 * round, so that none always runs in the wake of the same one.
 * @returns samples of each contender, those at one place from the same round
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

/** Of several rounds the middle one: a disturbed round does not move it. */
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

/** Ratios of the rounds one by one, as two servers of one round met the same conditions. */
export function ratiosOf(samples: readonly Sample[], bases: readonly Sample[]): number[] {
  return samples.map((sample, round) => sample.cpu / (bases[round]?.cpu ?? Number.NaN));
}
