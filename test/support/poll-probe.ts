/**
 * A node that polls every 20 ms while somebody else attacks the server, in a process of its own, so that what the attacker
 * or the test costs this process is not taken for a delay of the server.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Identity, Target } from './client.ts';

/** One poll. All times are milliseconds of `machineTime`. */
export interface Poll {
  /** When it was due. It is sent at once, or as soon as those before it are answered, and this waiting counts. */
  start: number;
  /** When its answer was there or its connection ended; null: still unanswered. */
  end: number | null;
  /** Of the answer; null: none came. */
  status: number | null;
  /** By how much the probe's own timer was late, which says how far the machine lets it be trusted. Not in `start`. */
  late: number;
}

/** What a series of polls comes to; times are milliseconds. */
export interface PollSummary {
  polls: number;
  /** Not answered yet; each counts as a wait with its age. */
  unanswered: number;
  /** Answered otherwise than by 200 or 304, or not at all because the connection ended. */
  wrong: number;
  /** By status; `none` for a connection that ended. */
  statuses: Record<string, number>;
  longest: number;
  p50: number;
  p99: number;
  /** The most that the probe's own timer was late. */
  ownDelay: number;
}

/** What the probe's process is told. */
export type ProbeOrder =
  | { kind: 'start'; target: Target; identity: Identity; path: string; interval: number }
  | { kind: 'look' };

/** What it tells: each poll as it ends, and on demand those that have not. */
export type ProbeReport = { kind: 'ended'; poll: Poll } | { kind: 'open'; polls: Poll[] };

const INTERVAL = 20;
const START_LIMIT = 30_000;

/** Milliseconds of a clock that all processes of this machine share and nobody sets. */
export function machineTime(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

export class PollProbe {
  /** Those that have ended, in the order in which they did. */
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
   * Starts to poll `/configuration/checksum` of the node, over one connection with its certificate, and from the first
   * 200 on with the ETag that it gave.
   * @param interval milliseconds
   * @returns once a poll is answered
   * @throws Error when none is within half a minute
   */
  static async start(
    target: Target,
    { nodeId, identity }: { nodeId: string; identity: Identity },
    interval = INTERVAL,
  ): Promise<PollProbe> {
    const script = join(import.meta.dirname, 'poll-probe-process.ts');
    const probe = new PollProbe(fork(script, { execArgv: ['--import', 'tsx'] }));
    const path = `/api/v1/nodes/${nodeId}/configuration/checksum`;
    const { cert, key } = identity;
    probe.tellChild({ kind: 'start', target, identity: { cert, key }, path, interval });
    const timer = setTimeout(() => probe.kill(), START_LIMIT);
    await probe.answered(1);
    clearTimeout(timer);
    return probe;
  }

  /** Resolves once so many more polls are answered. @throws Error when the probe's process is gone */
  async answered(count: number): Promise<void> {
    const answers = () => this.ended.filter(({ status }) => status !== null).length;
    const goal = answers() + count;
    while (answers() < goal) await this.news();
  }

  /** All polls so far, those that are unanswered behind the others. */
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

  /** Ends it. @returns what `look` does */
  async stop(): Promise<Poll[]> {
    try {
      return await this.look();
    } finally {
      this.kill();
    }
  }

  /** Ends it without a look, where it may be gone already. */
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

/** Those that were due and answered between two moments of `machineTime`, such as the begin and the end of an attack. */
export function answeredBetween(polls: readonly Poll[], begin: number, end: number): Poll[] {
  return polls.filter((poll) => poll.start >= begin && poll.status !== null && (poll.end ?? end) < end);
}

/** @param now of `machineTime`, up to which a poll without an answer has waited */
export function waitOf({ start, end }: Poll, now = machineTime()): number {
  return (end ?? now) - start;
}

/** @param now as `waitOf` takes it */
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
