/** Measures how fast a fleet polls right after a parameter file was published. */

import { setTimeout as sleep } from 'node:timers/promises';
import { unzipTexts } from '../../test/support/unzip.ts';
import { median, middleHalf } from './measure.ts';
import type { Wave } from './messages.ts';
import { type ParameterSite, valueAt } from './parameter-site.ts';
import { type Published, pollAll, publishFile } from './parameter-steps.ts';
import { expect } from './probe.ts';
import { formatRange, table, verdict } from './report.ts';
import { summaryOf } from './scale.ts';
import type { Effort } from './scenarios.ts';

/** The least rate in the first second after a publish, as a share of the steady rate. */
const WAVE_TARGET = 0.4;

/** The polls after a publish that concerns this many nodes. */
export interface WaveRow {
  published: string;
  touched: number;
  /** Milliseconds; null in the steady state. */
  publishMs: number | null;
  pollsPerSecond: number;
  p50: number;
  p99: number;
  /** Polls per second as a share of the steady state's: the median of the ratios of the rounds. */
  ratio: number | null;
  ratioRange: [lower: number, upper: number] | null;
  target: number | null;
  met: boolean | null;
}

interface Kind {
  published: string;
  scopeType: string;
  value: string | null;
  /** How many of the connected nodes the publish concerns. */
  touched: number;
}

export async function measureWaves(site: ParameterSite, effort: Effort): Promise<WaveRow[]> {
  const { connected, values, settleMs } = effort.parameters;
  const kinds: Kind[] = [
    // The connected nodes get the used values in turn.
    { ...published('Environment', valueAt(1)), touched: Math.ceil(connected / (values - 1)) },
    { ...published('Region', valueAt(0)), touched: Math.ceil(connected / 5) },
    { ...published('Default', null), touched: connected },
  ];
  const revisions = new Map(kinds.map(({ scopeType }) => [scopeType, 'a']));
  const state = () => [...revisions.values()].join('');
  const steady: Wave[] = [];
  const after = kinds.map(() => [] as (Wave & Published)[]);
  await pollAll(site, state(), null);
  for (let round = -effort.warmUpRounds; round < effort.rounds; round += 1) {
    await sleep(settleMs);
    const still = await pollAll(site, state(), 0);
    if (round >= 0) steady.push(still);
    for (const [at, { scopeType, value, touched }] of kinds.entries()) {
      await sleep(settleMs);
      const revision = revisions.get(scopeType) === 'a' ? 'b' : 'a';
      revisions.set(scopeType, revision);
      const times = await publishFile(site, scopeType, value, revision);
      const wave = await pollAll(site, state(), touched);
      if (round >= 0) after[at]?.push({ ...wave, ...times });
      await checkBundle(site, revisions);
    }
  }
  return [
    waveRow({ published: 'nothing', touched: 0 }, steady, null),
    ...kinds.map((kind, at) => waveRow(kind, after[at] ?? [], steady)),
  ];
}

function published(scopeType: string, value: string | null) {
  return { published: value === null ? scopeType : `one value of ${scopeType}`, scopeType, value };
}

function waveRow(
  { published, touched }: Pick<Kind, 'published' | 'touched'>,
  waves: readonly (Wave & Partial<Published>)[],
  steady: readonly Wave[] | null,
): WaveRow {
  const middle = (pick: (wave: Wave) => number) => median(waves.map(pick));
  const row = {
    ...{ published, touched },
    pollsPerSecond: middle((wave) => wave.pollsPerSecond),
    p50: middle((wave) => wave.p50),
    p99: middle((wave) => wave.p99),
  };
  if (steady === null)
    return { ...row, publishMs: null, ratio: null, ratioRange: null, target: null, met: null };
  const ratios = waves.map(
    ({ pollsPerSecond }, round) => pollsPerSecond / (steady[round]?.pollsPerSecond ?? Number.NaN),
  );
  const ratio = median(ratios);
  const publishMs = median(waves.map((wave) => wave.publishMs ?? Number.NaN));
  return {
    ...row,
    publishMs,
    ratio,
    ratioRange: middleHalf(ratios),
    target: WAVE_TARGET,
    met: ratio >= WAVE_TARGET,
  };
}

/** The first node has the published values, so its bundle shows whether nodes get them. */
async function checkBundle(
  { client, connecting }: ParameterSite,
  revisions: ReadonlyMap<string, string>,
): Promise<void> {
  const reply = await client.get(`/api/v1/nodes/${connecting[0]?.nodeId}/configuration/bundle`);
  expect(reply.status === 200, 'a bundle', reply);
  const parameters = (await unzipTexts(reply.bytes))['parameters.yaml'] ?? '';
  for (const [scopeType, revision] of revisions) {
    const value = scopeType === 'Default' ? 'all' : scopeType === 'Environment' ? valueAt(1) : valueAt(0);
    const line = `${scopeType.toLowerCase()}Revision: ${value}-${revision}`;
    if (!parameters.includes(line)) throw new Error(`the bundle lacks ${line}:\n${parameters}`);
  }
}

export function formatWaves(rows: readonly WaveRow[]): string {
  const cells = rows.map((row) => [
    row.published,
    String(row.touched),
    row.publishMs === null ? '-' : row.publishMs.toFixed(1),
    row.pollsPerSecond.toFixed(0),
    row.p50.toFixed(2),
    row.p99.toFixed(2),
    row.ratio === null ? '-' : `${row.ratio.toFixed(2)} x`,
    row.ratioRange === null ? '-' : formatRange(row.ratioRange),
    row.target === null ? '-' : `${row.target.toFixed(2)} x`,
    row.met === null ? '' : verdict(row.met),
  ]);
  const columns = [
    'published',
    'nodes touched',
    'publish ms',
    'polls/s',
    'p50 ms',
    'p99 ms',
    'ratio',
    'half within',
    'target',
    '',
  ];
  return [...table([columns, ...cells]), '', summaryOf(rows)].join('\n');
}
