/** The results as a value and as a table for people, and which targets they meet. */

import { availableParallelism, cpus, release } from 'node:os';
import type { FleetSize } from './fleet.ts';
import { median, middleHalf, ratiosOf, type Sample } from './measure.ts';
import { type Effort, GROWTH_TARGET, type Scenario } from './scenarios.ts';

export interface Row {
  scenario: string;
  data: FleetSize;
  requestsPerSecond: number;
  /** Latencies in milliseconds. */
  p50: number;
  p99: number;
  /** CPU milliseconds per 1,000 requests. */
  cpu: number;
  bareCpu: number;
  /** The median of the ratios of the rounds, and the middle half of these ratios. */
  ratio: number;
  ratioRange: [lower: number, upper: number];
  target: number | null;
  met: boolean | null;
}

/** CPU on the large fleet as a multiple of the small one's. */
export interface Growth {
  scenario: string;
  factor: number;
  target: number;
  met: boolean;
}

export interface Report {
  machine: { cpu: string; cores: number; node: string; system: string };
  started: string;
  connections: number;
  rounds: number;
  rows: Row[];
  growth: Growth[];
}

/** The samples of one scenario, by round. */
export interface Measured {
  scenario: Scenario;
  bare: readonly Sample[];
  fleets: readonly { size: FleetSize; samples: readonly Sample[] }[];
}

export function makeReport(started: Date, effort: Effort, measured: readonly Measured[]): Report {
  return {
    machine: {
      cpu: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableParallelism(),
      node: process.version,
      system: `${process.platform} ${release()}`,
    },
    started: started.toISOString(),
    connections: effort.connections,
    rounds: effort.polls.rounds,
    rows: measured.flatMap((one) => one.fleets.map(({ size, samples }) => rowOf(one, size, samples))),
    growth: measured.filter(({ scenario }) => scenario.target !== null).flatMap(growthOf),
  };
}

function rowOf({ scenario, bare }: Measured, data: FleetSize, samples: readonly Sample[]): Row {
  const { label, target } = scenario;
  const ratios = ratiosOf(samples, bare);
  const ratio = median(ratios);
  const middle = (pick: (sample: Sample) => number) => median(samples.map(pick));
  return {
    scenario: label,
    data,
    requestsPerSecond: middle((sample) => sample.requestsPerSecond),
    p50: middle((sample) => sample.p50),
    p99: middle((sample) => sample.p99),
    cpu: middle((sample) => sample.cpu),
    bareCpu: median(bare.map((sample) => sample.cpu)),
    ratio,
    ratioRange: middleHalf(ratios),
    target,
    met: target === null ? null : ratio <= target,
  };
}

function growthOf({ scenario, fleets }: Measured): Growth[] {
  const [small, large] = fleets;
  if (small === undefined || large === undefined) return [];
  const factor = median(ratiosOf(large.samples, small.samples));
  return [{ scenario: scenario.label, factor, target: GROWTH_TARGET, met: factor <= GROWTH_TARGET }];
}

const COLUMNS = [
  ...[
    'scenario',
    'data',
    'req/s',
    'p50 ms',
    'p99 ms',
    'CPU ms/1k',
    'bare',
    'ratio',
    'half within',
    'target',
    '',
  ],
];

export function formatReport({ machine, connections, rounds, rows, growth }: Report): string {
  const cells = rows.map((row) => [
    row.scenario,
    `${row.data.configurations} conf., ${row.data.nodes} nodes`,
    row.requestsPerSecond.toFixed(0),
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    row.cpu.toFixed(1),
    row.bareCpu.toFixed(1),
    `${row.ratio.toFixed(2)} x`,
    formatRange(row.ratioRange),
    row.target === null ? '-' : `${row.target.toFixed(2)} x`,
    row.met === null ? '' : verdict(row.met),
  ]);
  const factors = growth.map(
    ({ scenario, factor, met }) => `${scenario} ${factor.toFixed(2)} x ${verdict(met)}`,
  );
  return [
    formatMachine(machine),
    `${connections} connections in a closed loop, medians of ${rounds} rounds`,
    '',
    ...table([COLUMNS, ...cells]),
    '',
    `growth, large against small (target ${GROWTH_TARGET.toFixed(2)} x): ${factors.join('; ')}`,
    summaryOf(rows, growth),
  ].join('\n');
}

export function formatMachine({ cpu, cores, node, system }: Report['machine']): string {
  return `${cpu}, ${cores} cores, Node ${node}, ${system}`;
}

export function formatRange(range: readonly number[]): string {
  return range.map((bound) => bound.toFixed(2)).join('-');
}

export function verdict(met: boolean): string {
  return met ? 'met' : 'MISSED';
}

function summaryOf(rows: readonly Row[], growth: readonly Growth[]): string {
  const verdicts = [...rows, ...growth].flatMap(({ met }) => (met === null ? [] : [met]));
  const missed = verdicts.filter((met) => !met).length;
  return missed === 0
    ? `all ${verdicts.length} targets met`
    : `MISSED: ${missed} of ${verdicts.length} targets`;
}

/** Formats two columns of text, and then numbers aligned to the right. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column < 2 || column === row.length - 1
          ? cell.padEnd(widths[column] ?? 0)
          : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
