/**
 * The reporters, in a separate process: nodes that send reports at a fixed rate, each over a connection with its own
 * certificate. A report is due at its time, whether or not the server has answered those before it.
 */

import { createSecureContext, type TLSSocket } from 'node:tls';
import { openConnection, percentile } from './connections.ts';
import type { CrowdNode, Endpoint, ReportOrder, ReportOutcome } from './messages.ts';
import { readBody } from './wire.ts';

const HANDSHAKES_AT_ONCE = 16;
const CREATED = 201;
/** Milliseconds between two looks at what is due. */
const LOOK = 2;
/** Whoever waits longer than this after the last report was due waits for nothing. */
const PATIENCE_MS = 60_000;

/** One node. It sends a report once the one before is answered. */
class Reporter {
  private readonly socket: TLSSocket;
  private readonly request: Buffer;
  private readonly due: number[] = [];
  private pending: Buffer | null = null;

  /** @param took is called with the milliseconds from when a report was due to its answer */
  constructor(
    socket: TLSSocket,
    request: string,
    took: (ms: number) => void,
    failed: (error: Error) => void,
  ) {
    this.socket = socket;
    this.request = Buffer.from(request);
    socket.on('error', failed);
    socket.on('close', () => failed(new Error('the server closed a connection')));
    socket.on('data', (chunk: Buffer) => {
      try {
        if (this.isAnswered(chunk)) this.next(took);
      } catch (error) {
        failed(error as Error);
      }
    });
  }

  report(due: number): void {
    this.due.push(due);
    if (this.due.length === 1) this.socket.write(this.request);
  }

  private isAnswered(chunk: Buffer): boolean {
    this.pending = this.pending === null ? chunk : Buffer.concat([this.pending, chunk]);
    return readBody(this.pending, CREATED) !== null;
  }

  private next(took: (ms: number) => void): void {
    this.pending = null;
    took(performance.now() - (this.due.shift() ?? Number.NaN));
    if (this.due.length > 0) this.socket.write(this.request);
  }
}

async function connectAll({ port, ca }: Endpoint, nodes: readonly CrowdNode[]): Promise<TLSSocket[]> {
  const sockets: TLSSocket[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let at = next++; at < nodes.length; at = next++) {
      const { identity } = nodes[at] as CrowdNode;
      const context = createSecureContext({ ca, cert: identity.cert, key: identity.key });
      sockets[at] = await openConnection(port, context);
    }
  };
  await Promise.all(Array.from({ length: HANDSHAKES_AT_ONCE }, lane));
  return sockets;
}

/** @returns once all reports are answered */
async function run({ endpoint, nodes, perSecond, seconds }: ReportOrder): Promise<ReportOutcome> {
  const sockets = await connectAll(endpoint, nodes);
  const count = perSecond * seconds;
  const times: number[] = [];
  const start = performance.now();
  await new Promise<void>((resolve, reject) => {
    const took = (ms: number) => times.push(ms) === count && resolve();
    const reporters = sockets.map(
      (socket, at) => new Reporter(socket, nodes[at]?.request ?? '', took, reject),
    );
    const dueAt = (report: number) => start + (report * 1_000) / perSecond;
    let next = 0;
    const look = setInterval(() => {
      for (; next < count && dueAt(next) <= performance.now(); next += 1)
        reporters[next % reporters.length]?.report(dueAt(next));
      if (next === count) clearInterval(look);
    }, LOOK);
    const late = () => reject(new Error(`${times.length} of ${count} reports were answered`));
    setTimeout(late, seconds * 1_000 + PATIENCE_MS);
  });
  return {
    ...{ kind: 'done', acknowledged: count, seconds: (performance.now() - start) / 1_000 },
    ...{ p50: percentile(times, 0.5), p99: percentile(times, 0.99), longest: Math.max(...times) },
  };
}

process.on('message', (order: ReportOrder) => {
  run(order).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ kind: 'failed', message: error.message } satisfies ReportOutcome),
  );
});
process.once('disconnect', () => process.exit(0));
