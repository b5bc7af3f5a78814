/**
 * The process of a `PollProbe`. A poll is due every so many milliseconds whether or not the last one is answered, else the
 * longer a server stands still the fewer polls would tell of it. They go one at a time over one connection, as a node has
 * only few open calls; those that cannot go yet wait in a queue.
 */

import { setPriority } from 'node:os';
import { connect, type TLSSocket } from 'node:tls';
import { machineTime, type Poll, type ProbeOrder, type ProbeReport } from './poll-probe.ts';

type Start = Extract<ProbeOrder, { kind: 'start' }>;

const END_OF_HEAD = '\r\n\r\n';
/** Above what else the machine does, where the system allows it. */
const PRIORITY = -15;
/** Milliseconds after which a connection that could not be made or was closed is made anew. */
const RECONNECT = 20;

class Poller {
  private readonly order: Start;
  /** Due and without an answer, oldest first; the first of them may have been sent. */
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
    // The timer depends on nothing that the server does, so what it is late by is not the server's.
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

  /** A poll whose connection ended has got no answer; one that was only waiting goes over the next connection. */
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
    // Only the superuser may; `late` shows what it costs.
  }
}

rise();
let poller: Poller | null = null;
process.on('message', (order: ProbeOrder) => {
  if (order.kind === 'start') poller = new Poller(order);
  else poller?.report();
});
process.once('disconnect', () => process.exit(0));
