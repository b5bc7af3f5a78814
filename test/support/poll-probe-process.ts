/**
 * The process of a `PollProbe`. A poll is due at each interval, whether or not the last one is answered. Otherwise
 * fewer polls would show a server that stands still for longer. The polls are sent one at a time over one connection,
 * because a node may have only a few open calls. Polls that cannot be sent yet wait in a queue.
 */

import { setPriority } from 'node:os';
import { connect, type TLSSocket } from 'node:tls';
import { machineTime, type Poll, type ProbeOrder, type ProbeReport } from './poll-probe.ts';

type Start = Extract<ProbeOrder, { kind: 'start' }>;

const END_OF_HEAD = '\r\n\r\n';
/** Higher than other processes on the machine, if the system allows it. */
const PRIORITY = -15;
/** Milliseconds until the next try after a connection failed or was closed. */
const RECONNECT = 20;

class Poller {
  private readonly order: Start;
  /** Polls that are due and unanswered, oldest first. The first of them may have been sent. */
  private readonly open: Poll[] = [];
  private socket: TLSSocket | null = null;
  private isSent = false;
  private received = '';
  private etag: string | null = null;
  private next: number;

  constructor(order: Start) {
    this.order = order;
    this.next = machineTime();
    this.connect();
    this.tick();
  }

  report(): void {
    tell({ kind: 'open', polls: this.open });
  }

  private tick(): void {
    const now = machineTime();
    // The timer does not depend on the server, so the server does not cause its delay.
    this.open.push({ start: now, end: null, status: null, late: Math.max(0, now - this.next) });
    this.sendFirst();
    while (this.next <= now) this.next += this.order.interval;
    setTimeout(() => this.tick(), this.next - machineTime());
  }

  private connect(): void {
    const { target, identity } = this.order;
    const socket = connect({
      ...{ host: '127.0.0.1', port: target.port, ca: target.ca, servername: 'localhost', ...identity },
    });
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.once('secureConnect', () => {
      this.socket = socket;
      this.sendFirst();
    });
    socket.on('data', (chunk: Buffer) => this.read(chunk.toString('latin1')));
    socket.once('close', () => this.lose());
  }

  private sendFirst(): void {
    if (this.socket === null || this.isSent || this.open.length === 0) return;
    const known = this.etag === null ? '' : `If-None-Match: ${this.etag}\r\n`;
    this.socket.write(`GET ${this.order.path} HTTP/1.1\r\nHost: localhost\r\n${known}\r\n`);
    this.isSent = true;
  }

  private read(text: string): void {
    this.received += text;
    const headEnd = this.received.indexOf(END_OF_HEAD);
    if (headEnd < 0) return;
    const head = this.received.slice(0, headEnd);
    const status = Number(head.slice(9, 12));
    const length = status === 304 ? 0 : Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (this.received.length < headEnd + END_OF_HEAD.length + length) return;
    this.received = '';
    if (status === 200) this.etag = /\r\netag: (.+)/i.exec(head)?.[1] ?? null;
    this.endFirst(status);
    this.sendFirst();
  }

  /**
   * A poll that was sent over a connection that has ended gets no answer. The others are sent over the next
   * connection.
   */
  private lose(): void {
    this.socket = null;
    this.received = '';
    if (this.isSent) this.endFirst(null);
    setTimeout(() => this.connect(), RECONNECT);
  }

  private endFirst(status: number | null): void {
    this.isSent = false;
    const poll = this.open.shift();
    if (poll !== undefined) tell({ kind: 'ended', poll: { ...poll, end: machineTime(), status } });
  }
}

function tell(report: ProbeReport): void {
  process.send?.(report);
}

function rise(): void {
  try {
    setPriority(PRIORITY);
  } catch {
    // Only the superuser may do this. `late` shows what happens without it.
  }
}

rise();
let poller: Poller | null = null;
process.on('message', (order: ProbeOrder) => {
  if (order.kind === 'start') poller = new Poller(order);
  else poller?.report();
});
process.once('disconnect', () => process.exit(0));
