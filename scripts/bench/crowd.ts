/**
 * The crowd, in a separate process: thousands of nodes that poll in waves, each over a connection with its own
 * certificate. In a wave each node polls once, so after a change every poll is the first one of its node.
 */

import { createSecureContext, type TLSSocket } from 'node:tls';
import { openConnection, percentile, stayAwake } from './connections.ts';
import type { CrowdNode, CrowdOrder, CrowdResult, Endpoint, Wave } from './messages.ts';
import { readBody } from './wire.ts';

const HANDSHAKES_AT_ONCE = 16;
/** So many new nodes poll, because the server closes a connection that has sent no request within 30 seconds. */
const CONNECTED_AT_ONCE = 250;
/** All nodes poll after so many new ones, because the server closes a connection that was idle for 125 seconds. */
const ALL_POLL_AFTER = 1_000;
const WAVE_LIMIT_MS = 120_000;

interface Member {
  socket: TLSSocket;
  request: Buffer;
  pending: Buffer | null;
  sent: number;
  /** The body of its last poll. */
  body: Buffer | null;
  /** Maps a state to the body that the node got in it. */
  bodies: Map<string, Buffer>;
}

const members: Member[] = [];
let current: RunningWave | null = null;

/** One poll of each of some members, with some of them in progress at a time. */
class RunningWave {
  private readonly polling: readonly Member[];
  private readonly state: string | null;
  private readonly finished: (wave: Wave) => void;
  private readonly failed: (error: Error) => void;
  private readonly start = performance.now();
  private readonly times: number[] = [];
  private begun = 0;
  private inFirstSecond = 0;
  private changed = 0;

  constructor(
    polling: readonly Member[],
    state: string | null,
    finished: (wave: Wave) => void,
    failed: (error: Error) => void,
  ) {
    this.polling = polling;
    this.state = state;
    this.finished = finished;
    this.failed = failed;
  }

  begin(): void {
    const member = this.polling[this.begun];
    if (member === undefined) return;
    this.begun += 1;
    if (member.socket.destroyed) this.failed(new Error('the server closed an idle connection'));
    member.sent = performance.now();
    member.socket.write(member.request);
  }

  take(member: Member, chunk: Buffer): void {
    member.pending = member.pending === null ? chunk : Buffer.concat([member.pending, chunk]);
    const body = readBody(member.pending);
    if (body === null) return;
    member.pending = null;
    this.compare(member, body);
    const now = performance.now();
    this.times.push(now - member.sent);
    if (now < this.start + 1_000) this.inFirstSecond += 1;
    if (this.times.length === this.polling.length) this.end((now - this.start) / 1_000);
    else this.begin();
  }

  fail(error: Error): void {
    this.failed(error);
  }

  private compare(member: Member, body: Buffer): void {
    const known = this.state === null ? undefined : member.bodies.get(this.state);
    if (known && !known.equals(body)) {
      throw new Error(`a node got another answer than before:\n${body}\nbefore:\n${known}`);
    }
    const kept = known ?? Buffer.from(body);
    if (this.state !== null) member.bodies.set(this.state, kept);
    if (member.body && !member.body.equals(body)) this.changed += 1;
    member.body = kept;
  }

  private end(seconds: number): void {
    this.finished({
      polls: this.polling.length,
      seconds,
      pollsPerSecond: seconds < 1 ? this.polling.length / seconds : this.inFirstSecond,
      p50: percentile(this.times, 0.5),
      p99: percentile(this.times, 0.99),
      changed: this.changed,
    });
  }
}

async function connectAll(endpoint: Endpoint, nodes: readonly CrowdNode[]): Promise<void> {
  for (let start = 0; start < nodes.length; start += CONNECTED_AT_ONCE) {
    const some = nodes.slice(start, start + CONNECTED_AT_ONCE);
    await connectSome(endpoint, some);
    await runWave(HANDSHAKES_AT_ONCE, null, members.slice(-some.length));
    if ((start + CONNECTED_AT_ONCE) % ALL_POLL_AFTER === 0) await runWave(HANDSHAKES_AT_ONCE, null);
  }
  await runWave(HANDSHAKES_AT_ONCE, null);
}

async function connectSome(endpoint: Endpoint, nodes: readonly CrowdNode[]): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let node = nodes[next++]; node !== undefined; node = nodes[next++]) {
      members.push(await join(endpoint, node));
    }
  };
  await Promise.all(Array.from({ length: HANDSHAKES_AT_ONCE }, lane));
}

async function join({ port, ca }: Endpoint, { identity, request }: CrowdNode): Promise<Member> {
  const context = createSecureContext({ ca, cert: identity.cert, key: identity.key });
  const socket = await openConnection(port, context);
  const member: Member = {
    ...{ socket, request: Buffer.from(request), pending: null, sent: 0, body: null },
    bodies: new Map(),
  };
  socket.on('error', (error) => current?.fail(error));
  socket.on('close', () => current?.fail(new Error('the server closed a connection')));
  socket.on('data', (chunk: Buffer) => {
    try {
      current?.take(member, chunk);
    } catch (error) {
      current?.fail(error as Error);
    }
  });
  return member;
}

/** @param state null if the answers are not compared */
async function runWave(atOnce: number, state: string | null, polling = members): Promise<Wave> {
  const rest = stayAwake();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<Wave>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error('a wave took more than two minutes')), WAVE_LIMIT_MS);
      const wave = new RunningWave(polling, state, resolve, reject);
      current = wave;
      for (let lane = 0; lane < atOnce; lane += 1) wave.begin();
    });
  } finally {
    clearTimeout(timer);
    current = null;
    rest();
  }
}

async function carryOut(order: CrowdOrder): Promise<CrowdResult> {
  if (order.kind === 'wave') return { kind: 'done', ...(await runWave(order.atOnce, order.state)) };
  await connectAll(order.endpoint, order.nodes);
  return { kind: 'connected' };
}

process.on('message', (order: CrowdOrder) => {
  carryOut(order).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ kind: 'failed', message: error.message } satisfies CrowdResult),
  );
});
process.once('disconnect', () => process.exit(0));
