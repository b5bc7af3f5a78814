/** Formats the results of a run of the fleet as text. */

import type { Measurements } from './measurements.ts';
import type { RolloutReport } from './rollout.ts';
import type { FleetReport } from './run.ts';

export function formatReport(report: FleetReport): string {
  const { options, registered, registrationSeconds, lifeSeconds, lifeRequests, measurements } = report;
  return [
    `${registered} of ${options.nodes} nodes registered in ${seconds(registrationSeconds)} (seed ${options.seed}, a poll each ${options.pollEvery} s)`,
    `${lifeRequests} requests in ${seconds(lifeSeconds)}: ${(lifeRequests / lifeSeconds).toFixed(1)} requests/s`,
    ...(options.rollout ? report.rollouts.flatMap(formatRollout) : formatPublishing(report)),
    ...formatUpkeep(report),
    ...formatConsumption(report),
    '',
    formatLatencies(measurements),
    '',
    formatFaults(measurements),
  ].join('\n');
}

function formatPublishing({ options, lifeSeconds, versions, rotations }: FleetReport): string[] {
  return [
    `the last ${seconds(lifeSeconds - options.seconds)} until every node had the last version`,
    `${versions} versions of ${options.configurations} configurations published, ${rotations} certificates rotated`,
  ];
}

function formatRollout({ version, state, reason, seconds: took, rings }: RolloutReport): string[] {
  const rows = rings.map(({ ring, nodes, run, broken, state: step, counts }) => {
    const { success, regression, alreadyBad, silent, absent } = counts;
    const counted = [success, regression, alreadyBad, silent, absent];
    return [ring ?? 'the others', step, ...[nodes, run, broken, ...counted].map(String)];
  });
  const head = ['ring', 'step', 'nodes', 'run it', 'broke', 'success', 'regr.', 'bad', 'silent', 'absent'];
  return [
    '',
    `version ${version}: ${state} after ${seconds(took)}. ${reason}`,
    ...[head, ...rows].map(([ring = '', step = '', ...numbers]) =>
      [ring.padEnd(12), step.padEnd(8), ...numbers.map((text) => text.padStart(8))].join(''),
    ),
    '',
  ];
}

function formatUpkeep({ options, upkeep }: FleetReport): string[] {
  const { cleanups, deleted, backups, memory } = upkeep;
  const cleaned = `${cleanups} cleanups deleted ${deleted} versions, reports and status events`;
  const course = memory && [
    `memory of the server ${memory.settled.toFixed(0)} MiB after ${options.settledAfter} s, ${memory.last.toFixed(0)} MiB`,
    ` in the end (${(memory.last / memory.settled).toFixed(2)} x, at most 1.10 x), ${memory.most.toFixed(0)} MiB at most`,
  ];
  return [
    ...(options.withRetention ? [cleaned] : []),
    ...(options.withBackup ? [`${backups} backups written`] : []),
    ...(course ? [course.join('')] : []),
  ];
}

function formatConsumption({ server, simulator, lifeSeconds }: FleetReport): string[] {
  const cores = (cpuSeconds: number) =>
    `${cpuSeconds.toFixed(1)} s, ${(cpuSeconds / lifeSeconds).toFixed(2)} cores`;
  const own = `simulator CPU ${cores(simulator.cpuSeconds)}; event loop delay p99 ${simulator.delay.toFixed(1)} ms, which is part of the latencies`;
  if (server === null) return [own];
  const { before, after } = server;
  const memory = `memory ${after.memory.toFixed(0)} MiB, at most ${after.peakMemory.toFixed(0)} MiB`;
  const waited = `its main thread waited ${(after.waitSeconds - before.waitSeconds).toFixed(1)} s for a CPU`;
  return [`server CPU ${cores(after.cpuSeconds - before.cpuSeconds)}; ${waited}; ${memory}`, own];
}

function formatLatencies(measurements: Measurements): string {
  const rows = measurements
    .latencies()
    .map(({ kind, count, p50, p95, p99, max }) => [
      kind,
      String(count),
      ...[p50, p95, p99, max].map((value) => value.toFixed(1)),
    ]);
  const all = [['request, status', 'count', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms'], ...rows];
  return all
    .map(([kind = '', ...numbers]) => kind.padEnd(28) + numbers.map((text) => text.padStart(10)).join(''))
    .join('\n');
}

function formatFaults({ faultCount, faults }: Measurements): string {
  if (faultCount === 0) return 'Every answer was right.';
  return [`${faultCount} wrong answers or errors; the first ones:`, ...faults].join('\n\n');
}

function seconds(value: number): string {
  return `${value.toFixed(1)} s`;
}
