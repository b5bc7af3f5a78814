/**
 * A node that polls every 20 ms while somebody else attacks the server. It runs in a separate process, so that work
 * of the attacker or the test in this process does not look like a delay of the server.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Identity, Target } from './client.ts';

/** One poll. All times are in milliseconds of `machineTime`. */
export interface Poll {
  /** When the poll was due. It is sent at once, or when those before it are answered; this waiting counts. */
  start: number;
  /** When its answer arrived or its connection ended; null if it is still unanswered. */
  end: number | null;
  /** The status of the answer; null if there was none. */
  status: number | null;
  /**
   * The delay of the probe's own timer, which shows how far the measurement can be trusted. It is not part of
   * `start`.
   */
  late: number;
}

/** The results of a series of polls. Times are in milliseconds. */
export interface PollSummary {
  polls: number;
  /** The number of polls without an answer. Each counts as a wait until now. */
  unanswered: number;
  /** The number of polls with another status than 200 or 304, or without an answer because the connection ended. */
  wrong: number;
  /** The number of polls by status; `none` stands for a connection that ended. */
  statuses: Record<string, number>;
  longest: number;
  p50: number;
  p99: number;
  /** The longest delay of the probe's own timer. */
  ownDelay: number;
}

/** A message to the probe's process. */
export type ProbeOrder =
  | { kind: 'start'; target: Target; identity: Identity; path: string; interval: number }
  | { kind: 'look' };

/** A message from the probe's process: each poll when it ends, and on demand the polls that have not ended. */
export type ProbeReport = { kind: 'ended'; poll: Poll } | { kind: 'open'; polls: Poll[] };

const INTERVAL = 20;
const START_LIMIT = 30_000;

/** Milliseconds of a clock that all processes of this machine share and that nobody sets. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class PollProbe {
  /** The polls that have ended, in the order in which they ended. */
  readonly ended: Poll[] = [];
  private readonly child: ChildProcess;
  private readonly listeners = new Set<() => void>();
  private isOver = false;

  private constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (report: ProbeReport) => {
      if (report.kind === 'ended') this.ended.push(report.poll);
      this.tell();
    });
    child.once('exit', () => {
      this.isOver = true;
      this.tell();
    });
  }

  /**
   * Starts to poll `/configuration/checksum` of the node over one connection with its certificate. After the first
   * 200 it sends the ETag of that answer.
   * @param interval milliseconds
   * @returns once a poll is answered
   * @throws Error if no poll is answered within half a minute
   */
  static async start(
    target: Target,
    { nodeId, identity }: { nodeId: string; identity: Identity },
    interval = INTERVAL,
  ): Promise<PollProbe> {
    const script = join(import.meta.dirname, 'poll-probe-process.js');
    const probe = new PollProbe(fork(script));
    const path = `/api/v1/nodes/${nodeId}/configuration/checksum`;
    const { cert, key } = identity;
    probe.tellChild({ kind: 'start', target, identity: { cert, key }, path, interval });
    const timer = setTimeout(() => probe.kill(), START_LIMIT);
    await probe.answered(1);
    clearTimeout(timer);
    return probe;
  }

  /**
   * Resolves when this many more polls are answered.
   * @throws Error if the probe's process has ended
   */
  async answered(count: number): Promise<void> {
    const answers = () => this.ended.filter(({ status }) => status !== null).length;
    const goal = answers() + count;
    while (answers() < goal) await this.news();
  }

  /** All polls so far, with the unanswered ones at the end. */
  async look(): Promise<Poll[]> {
    const open = new Promise<Poll[]>((resolve, reject) => {
      const gone = () => reject(new Error('the process of the probe has ended'));
      this.child.once('exit', gone);
      const take = (report: ProbeReport) => {
        if (report.kind !== 'open') return;
        this.child.off('exit', gone).off('message', take);
        resolve(report.polls);
      };
      this.child.on('message', take);
    });
    this.tellChild({ kind: 'look' });
    const unanswered = await open;
    return [...this.ended, ...unanswered];
  }

  /**
   * Ends the probe.
   * @returns the same as `look`
   */
  async stop(): Promise<Poll[]> {
    try {
      return await this.look();
    } finally {
      this.kill();
    }
  }

  /** Kills the probe's process, which may have ended already. */
  kill(): void {
    this.child.kill('SIGKILL');
  }

  private tellChild(order: ProbeOrder): void {
    this.child.send(order);
  }

  private tell(): void {
    for (const listener of [...this.listeners]) listener();
  }

  private news(): Promise<void> {
    return new Promise((resolve, reject) => {
      const listener = () => {
        this.listeners.delete(listener);
        if (this.isOver) reject(new Error('the process of the probe has ended'));
        else resolve();
      };
      this.listeners.add(listener);
      if (this.isOver) listener();
    });
  }
}

/**
 * The polls that were due and answered between two times of `machineTime`, such as the begin and the end of an
 * attack.
 */
export function answeredBetween(polls: readonly Poll[], begin: number, end: number): Poll[] {
  return polls.filter((poll) => poll.start >= begin && poll.status !== null && (poll.end ?? end) < end);
}

/** @param now the time of `machineTime` until which an unanswered poll has waited */
export function waitOf({ start, end }: Poll, now = machineTime()): number {
  return (end ?? now) - start;
}

/** @param now the same as for `waitOf` */
export function summarize(polls: readonly Poll[], now = machineTime()): PollSummary {
  const waits = polls.map((poll) => waitOf(poll, now)).sort((a, b) => a - b);
  const share = (part: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * part))] ?? 0;
  const over = polls.filter(({ end }) => end !== null);
  const statuses: Record<string, number> = {};
  for (const { status } of over) statuses[status ?? 'none'] = (statuses[status ?? 'none'] ?? 0) + 1;
  return {
    polls: polls.length,
    unanswered: polls.length - over.length,
    wrong: over.filter(({ status }) => status !== 200 && status !== 304).length,
    statuses,
    longest: waits.at(-1) ?? 0,
    p50: share(0.5),
    p99: share(0.99),
    ownDelay: polls.reduce((most, { late }) => Math.max(most, late), 0),
  };
}
