/**
 * Measures the evaluation of a rollout that all nodes of a large fleet have taken: how long one takes, and how long polls
 * wait meanwhile.
 */

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import { SECOND } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { makeUncheckedClient, type Reply } from '../../test/support/client.ts';
import { machineTime, PollProbe, type PollSummary, summarize } from '../../test/support/poll-probe.ts';
import { parsePrometheus, sumOf } from '../../test/support/prometheus.ts';
import { makePreviewSite, NEXT_VERSION, type PreviewSite } from './preview-site.ts';
import { expect } from './probe.ts';
import type { Processes } from './processes.ts';
import { table } from './report.ts';
import type { Effort } from './scenarios.ts';

/** The most seconds of an evaluation, and the milliseconds by which the p99 of polls may grow meanwhile. */
const TARGETS = { seconds: 1, p99: 10 };
const RINGS = 3;
const NEW_REPORTS = 1_000;
const GIVE_UP = 600 * SECOND;
const LOOK_MS = 500;
/** Milliseconds from one evaluation to the next, and how many are measured. */
const INTERVAL = 10 * SECOND;
const ROUNDS = 3;
/** The milliseconds from one poll to the next. */
const POLL_EVERY = 5;
const TOKEN = 'a-token-for-the-metrics';
const DURATION = 'hawser_rollout_evaluation_duration_seconds';

export interface RolloutMeasurement {
  what: string;
  nodes: number;
  /** The mean of the evaluations that ended meanwhile. */
  seconds: number;
  evaluations: number;
  /** Whether the time of an evaluation has a target. */
  isLimited: boolean;
  idle: PollSummary;
  during: PollSummary;
}

/** @param progress is called with what begins */
export async function measureRollouts(
  folder: string,
  template: string,
  processes: Processes,
  { previews: { nodes, idleMs } }: Effort,
  progress: (message: string) => void,
): Promise<RolloutMeasurement[]> {
  progress(`making ${nodes} nodes in ${RINGS} rings`);
  const site = await makePreviewSite(join(folder, 'rollouts'), template, processes, {
    nodes,
    values: RINGS,
    settings: { HAWSER_METRICS_TOKEN: TOKEN },
  });
  const probe = await PollProbe.start(site.server.endpoint, site.polling, POLL_EVERY);
  const rows: RolloutMeasurement[] = [];
  try {
    const begun = machineTime();
    await sleep(idleMs);
    const end = machineTime();
    const idle = summarize((await probe.look()).filter(({ start }) => start >= begun && start < end));
    const watch = async (what: string, work: () => Promise<unknown>, isLimited = true) => {
      progress(`measuring: the evaluation of a rollout, ${what}`);
      const before = await evaluationsOf(site);
      const start = machineTime();
      await work();
      const during = summarize((await probe.look()).filter((poll) => poll.start >= start));
      const after = await evaluationsOf(site);
      const evaluations = after.count - before.count;
      const seconds = (after.sum - before.sum) / evaluations;
      rows.push({ what, nodes, seconds, evaluations, isLimited, idle, during });
    };
    progress('opening all rings');
    await rollOutToAll(site);
    progress('letting all nodes take the version');
    await takeEverywhere(site);
    await watch('all of them new takers', () => untilJudged(site), false);
    await watch('nothing new', () => sleep(ROUNDS * INTERVAL));
    await watch(`${NEW_REPORTS} new reports each time`, async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        reportFrom(site, NEW_REPORTS);
        await sleep(INTERVAL);
      }
    });
    return rows;
  } finally {
    probe.kill();
    site.client.close();
    await processes.end(site.server);
  }
}

async function evaluationsOf({ server }: PreviewSite): Promise<{ count: number; sum: number }> {
  const client = makeUncheckedClient(server.endpoint);
  const reply = await client.get('/metrics', { Authorization: `Bearer ${TOKEN}` });
  client.close();
  expect(reply.status === 200, 'the metrics', reply);
  const families = parsePrometheus(reply.text);
  const labels = { outcome: 'evaluated' };
  return {
    count: sumOf(families, `${DURATION}_count`, labels),
    sum: sumOf(families, `${DURATION}_sum`, labels),
  };
}

const rolloutPath = ({ configurationName }: PreviewSite) =>
  `/api/v1/configurations/${configurationName}/rollouts`;

/** Opens all steps. The last one never ends. */
async function rollOutToAll(site: PreviewSite): Promise<void> {
  const { client } = site;
  const setting = await client.put('/api/v1/settings/rollouts', { rolloutScopeType: 'Region' });
  expect(setting.status === 200, 'the rings', setting);
  const [type] = (await client.get('/api/v1/scope-types?take=1000')).json.filter(
    ({ name }: { name: string }) => name === 'Region',
  );
  const values = (await client.get(`/api/v1/scope-types/${type.id}/values`)).json;
  const common = {
    successShare: 0,
    maxRegressions: 1_000_000,
    bakeTime: '00:00:00.001',
    deadline: '1000.00:00:00',
  };
  const steps = values.map(({ value }: { value: string }, at: number) => ({
    ring: value,
    gate: { ...common, minNodes: at + 1 < values.length ? 0 : 1_000_000 },
  }));
  const plan = { version: NEXT_VERSION, steps, onHalt: 'Keep' };
  const started = await client.post(rolloutPath(site), plan);
  expect(started.status === 201, 'a rollout', started);
  await until(site, ({ json }) => json.step === values.length - 1);
}

/** Counts are shown a little before their evaluation has ended. */
async function untilJudged(site: PreviewSite): Promise<void> {
  await until(site, ({ json: { step, steps } }) => {
    const { offered, success } = steps[step].counts;
    return offered > 0 && success === offered;
  });
  await sleep(SECOND);
}

async function until(site: PreviewSite, holds: (reply: Reply) => boolean): Promise<void> {
  const deadline = performance.now() + GIVE_UP;
  for (;;) {
    const reply = await site.client.get(`${rolloutPath(site)}/${NEXT_VERSION}`);
    expect(reply.status === 200 && performance.now() < deadline, 'a rollout that goes on', reply);
    if (holds(reply)) return;
    await sleep(LOOK_MS);
  }
}

/** The node that can connect takes the version, and then all others have, too. Each of them reports that it is well. */
async function takeEverywhere(site: PreviewSite): Promise<void> {
  const { nodeId, identity } = site.polling;
  const client = makeUncheckedClient(site.server.endpoint, identity);
  const base = `/api/v1/nodes/${nodeId}/configuration`;
  const poll = await client.get(`${base}/checksum`);
  const { checksum, version } = poll.json;
  expect(version === NEXT_VERSION, 'a poll', poll);
  const bundle = await client.get(`${base}/bundle`);
  expect(bundle.status === 200, 'a bundle', bundle);
  client.close();
  const now = Date.now();
  writeInto(site, (db) => {
    db.prepare(
      `insert into node_running (node_id, checksum, evidence, since, answered_checksum, served_checksum)
        select id, ?, 'Declared', ?, ?, ? from nodes where true
        on conflict (node_id) do update set checksum = excluded.checksum, evidence = excluded.evidence,
          since = excluded.since, answered_checksum = excluded.answered_checksum,
          served_checksum = excluded.served_checksum`,
    ).run(checksum, now, checksum, checksum);
  });
  await sleep(1);
  reportFrom(site, site.nodes);
}

/** So many nodes report that they are well. */
function reportFrom(site: PreviewSite, nodes: number): void {
  writeInto(site, (db) => {
    const insert = db.prepare(
      `insert into reports (id, node_id, timestamp, operation, in_desired_state, had_errors, result)
        values (?, ?, ?, 'Test', 1, 0, '{}')`,
    );
    const ids = db.prepare<[number], string>('select id from nodes order by random() limit ?').pluck();
    for (const nodeId of ids.all(nodes)) insert.run(newId(), nodeId, Date.now());
  });
}

function writeInto({ folder }: PreviewSite, write: (db: SqliteDatabase.Database) => void): void {
  const db = new SqliteDatabase(join(folder, 'data/hawser.db'), { timeout: 60 * SECOND });
  // A transaction that reads first could not write after another process has.
  db.transaction(() => write(db)).immediate();
  db.close();
}

const COLUMNS = [
  ...['evaluation of a rollout', '', 'nodes', 'evaluations', 'seconds each', 'at most'],
  ...['p99 ms before', 'during', 'at most', 'longest ms before', 'during', 'own ms'],
];

export function formatRollouts(rows: readonly RolloutMeasurement[]): string {
  const cells = rows.map(({ what, nodes, evaluations, seconds, isLimited, idle, during }) => {
    const mostP99 = idle.p99 + TARGETS.p99;
    const isMet = during.p99 <= mostP99 && during.wrong === 0 && (!isLimited || seconds <= TARGETS.seconds);
    return [
      ...[what, isMet ? 'met' : 'MISSED', String(nodes), String(evaluations), seconds.toFixed(2)],
      isLimited ? String(TARGETS.seconds) : '',
      ...[idle.p99.toFixed(2), during.p99.toFixed(2), mostP99.toFixed(2)],
      ...[idle.longest.toFixed(0), during.longest.toFixed(0), during.ownDelay.toFixed(0)],
    ];
  });
  return ['rollouts, and the polls of a node meanwhile', ...table([COLUMNS, ...cells])].join('\n');
}
