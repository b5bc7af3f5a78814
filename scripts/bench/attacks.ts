/**
 * Measures what one caller can do to the others. Each attack has a fresh server, a node that polls it every 20 ms, and an
 * attacker, each in a separate process. The results are how long the polls waited, and by how much the server's memory grew.
 */

import type { ChildProcess } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../src/lib/clock.ts';
import { machineTime, PollProbe, type PollSummary, summarize } from '../../test/support/poll-probe.ts';
import type { Attack, AttackNode, AttackOrder, AttackReport } from './attacks/attack.ts';
import { ATTACKS } from './attacks/rows.ts';
import type { TrafficSummary } from './attacks/traffic.ts';
import { forgetPeak, memoryOf } from './memory.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { table } from './report.ts';
import type { Effort } from './scenarios.ts';

/** An attack that lasts longer is stopped, and so is the wait for polls that are still unanswered after it. */
const GIVE_UP = 60 * SECOND;
/** Preparing may take long, for instance if it uploads 205 MB. */
const PREPARE_LIMIT = 120 * SECOND;
/** The polls go on for this time after an attack. */
const CALM = SECOND / 2;
/**
 * Memory may grow by twice the bytes that have arrived, and by this amount, which any work needs until garbage is
 * collected.
 */
const MEMORY_SLACK = 64e6;

export interface AttackRow {
  name: string;
  label: string;
  /** The longest wait of a poll in milliseconds: before the attack, and from its begin until its effects have ended. */
  idle: number;
  longest: number;
  ratio: number;
  waitLimit: number;
  /** The results of the polls during the attack. */
  polls: PollSummary;
  /** Bytes of resident memory: the peak during the attack minus what it was before. */
  memory: number;
  memoryLimit: number;
  traffic: TrafficSummary;
  timed: Attack['timed'];
  /** Whether the attack was stopped after GIVE_UP. */
  gaveUp: boolean;
  /** The limits that were missed; empty if all were met. */
  missed: string[];
}

export type AttacksResults = AttackRow[];

/** @param progress is called with what begins */
export async function measureAttacks(
  folder: string,
  _template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<AttacksResults> {
  const rows: AttackRow[] = [];
  for (const attack of ATTACKS.filter(({ name }) => effort.attacks.rows(name))) {
    progress(`attacking: ${attack.label}`);
    rows.push(await measureAttack(join(folder, `attack-${attack.name}`), attack, processes, effort));
  }
  return rows;
}

async function measureAttack(
  folder: string,
  attack: Attack,
  processes: Processes,
  { attacks: { isQuick, idleMs } }: Effort,
): Promise<AttackRow> {
  mkdirSync(folder);
  const server = await processes.startHawser(folder, { settings: attack.settings ?? {} });
  const attacker = new Attacker(processes.fork('attacks/attacker.js'));
  let probe: PollProbe | null = null;
  try {
    const { name } = attack;
    const node = await attacker.prepare({ name, endpoint: server.endpoint, folder, isQuick });
    probe = await PollProbe.start(server.endpoint, node);
    await sleep(idleMs);
    return await underAttack(attack, attacker, probe, server);
  } finally {
    probe?.kill();
    attacker.kill();
    await processes.end(server);
  }
}

async function underAttack(
  attack: Attack,
  attacker: Attacker,
  probe: PollProbe,
  { pid }: ServerProcess,
): Promise<AttackRow> {
  const start = machineTime();
  forgetPeak(pid);
  const before = memoryOf(pid).now;
  const gaveUp = !(await attacker.attack(GIVE_UP));
  // Even when the attacker has ended, the server may still work on its requests.
  if (gaveUp) attacker.kill();
  await probeIsAnswered(probe, start + GIVE_UP);
  const { traffic } = attacker;
  const polls = await probe.stop();
  const now = machineTime();
  return toRow(attack, {
    idle: summarize(
      polls.filter((poll) => poll.start < start),
      now,
    ).longest,
    polls: summarize(
      polls.filter((poll) => poll.start >= start),
      now,
    ),
    memory: Math.max(0, memoryOf(pid).peak - before),
    traffic,
    gaveUp,
  });
}

type Measured = Pick<AttackRow, 'idle' | 'polls' | 'memory' | 'traffic' | 'gaveUp'>;

function toRow({ name, label, waitLimit, timed }: Attack, measured: Measured): AttackRow {
  const { idle, polls, memory, traffic } = measured;
  const memoryLimit = 2 * (traffic.sent + traffic.received) + MEMORY_SLACK;
  const faults = {
    waits: polls.longest > waitLimit,
    polls: polls.wrong > 0,
    memory: memory > memoryLimit,
    time: timed !== undefined && (traffic.took === null || traffic.took > timed.limit),
  };
  const missed = Object.entries(faults).flatMap(([what, isMissed]) => (isMissed ? [what] : []));
  const ratio = polls.longest / idle;
  return { name, label, longest: polls.longest, ratio, waitLimit, memoryLimit, timed, missed, ...measured };
}

/**
 * Resolves when no poll waits for an answer, and some time has passed after that.
 * @param deadline of `machineTime`
 */
async function probeIsAnswered(probe: PollProbe, deadline: number): Promise<void> {
  await sleep(CALM);
  for (;;) {
    const polls = await probe.look();
    const isAnswered = polls.filter(({ end }) => end === null).length <= 1;
    if (isAnswered || machineTime() > deadline) return;
    await sleep(CALM);
  }
}

/** The attacker's process. */
class Attacker {
  traffic: TrafficSummary = { sent: 0, received: 0, answers: {}, took: null };
  private readonly child: ChildProcess;

  constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (report: AttackReport) => {
      if (report.kind === 'traffic' || report.kind === 'done') this.traffic = report.traffic;
    });
  }

  /** @throws Error if the server cannot be prepared */
  async prepare(order: Omit<Extract<AttackOrder, { kind: 'prepare' }>, 'kind'>): Promise<AttackNode> {
    const report = await this.tell({ kind: 'prepare', ...order }, 'prepared', PREPARE_LIMIT);
    if (report === null) throw new Error(`${order.name} could not be prepared in time`);
    return report.node;
  }

  /**
   * @returns whether the attack ended within this time in milliseconds
   * @throws Error if the attacker itself fails
   */
  async attack(limit: number): Promise<boolean> {
    return (await this.tell({ kind: 'attack' }, 'done', limit)) !== null;
  }

  /** Kills the attacker, which also ends its connections. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  /** Null if no such report comes in time. */
  private tell<K extends AttackReport['kind']>(
    order: AttackOrder,
    kind: K,
    limit: number,
  ): Promise<Extract<AttackReport, { kind: K }> | null> {
    return new Promise((resolve, reject) => {
      const over = () => {
        clearTimeout(timer);
        this.child.off('message', take).off('exit', gone);
      };
      const gone = () => {
        over();
        reject(new Error('the attacker has ended unexpectedly'));
      };
      const take = (report: AttackReport) => {
        if (report.kind !== kind && report.kind !== 'failed') return;
        over();
        if (report.kind === 'failed') reject(new Error(report.message));
        else resolve(report as Extract<AttackReport, { kind: K }>);
      };
      const timer = setTimeout(() => {
        over();
        resolve(null);
      }, limit);
      this.child.on('message', take).once('exit', gone);
      this.child.send(order);
    });
  }
}

const COLUMNS = [
  ...['attack', '', 'idle ms', 'longest ms', 'ratio', 'at most', 'polls', 'wrong', 'own ms'],
  ...['MB grown', 'at most', 'MB sent', 'MB read', 'answers'],
];

export function formatAttacks(rows: AttacksResults): string {
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  const cells = rows.map((row) => [
    row.label,
    row.missed.length === 0 ? 'met' : `MISSED: ${row.missed.join(', ')}`,
    row.idle.toFixed(0),
    row.longest.toFixed(0),
    `${row.ratio.toFixed(1)} x`,
    String(row.waitLimit),
    String(row.polls.polls),
    String(row.polls.wrong),
    row.polls.ownDelay.toFixed(0),
    megabytes(row.memory),
    megabytes(row.memoryLimit),
    megabytes(row.traffic.sent),
    megabytes(row.traffic.received),
    [showAnswers(row.traffic), showTime(row), row.gaveUp ? `gave up after ${GIVE_UP / SECOND} s` : '']
      .filter(Boolean)
      .join('; '),
  ]);
  const missed = rows.filter((row) => row.missed.length > 0).length;
  return [
    'attacks, and the polls of another node meanwhile',
    ...table([COLUMNS, ...cells]),
    '',
    missed === 0 ? `all ${rows.length} bounds met` : `MISSED: ${missed} of ${rows.length} bounds`,
  ].join('\n');
}

function showAnswers({ answers }: TrafficSummary): string {
  return Object.entries(answers)
    .map(([what, count]) => `${count} x ${what}`)
    .join(', ');
}

function showTime({ timed, traffic: { took } }: AttackRow): string {
  if (timed === undefined) return '';
  const time = took === null || !Number.isFinite(took) ? 'not in time' : `${(took / SECOND).toFixed(1)} s`;
  return `${timed.what}: ${time} (at most ${timed.limit / SECOND} s)`;
}
