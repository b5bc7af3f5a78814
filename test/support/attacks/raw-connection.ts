/** A connection of an attacker: sends any bytes, reads answers or leaves them unread, and counts both. */

import { once } from 'node:events';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { Identity, Target } from '../client.ts';

export interface RawOptions {
  /** The client certificate; none: nobody knows who calls. */
  identity?: Identity;
  /** The same made before, as for thousands of connections the certificate is read once only. */
  secureContext?: SecureContext;
  /** The address to call from; default 127.0.0.1. */
  from?: string;
  /** False: what the server answers stays in the socket, so that its buffers fill up. Default: true. */
  reads?: boolean;
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;
/** What of a status line may stand at the end of one chunk, the rest in the next. */
const LONGEST_SPLIT = 12;

export class RawConnection {
  /** Of the status lines read so far, in order; also of one that stands in a body. */
  readonly statuses: number[] = [];
  /** Bytes read. */
  received = 0;
  private readonly socket: TLSSocket;
  private tail = '';
  private readonly listeners = new Set<() => void>();

  /** Use `openRaw`. */
  constructor(socket: TLSSocket, reads: boolean) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => this.tell());
    if (reads) socket.on('data', (chunk: Buffer) => this.read(chunk));
  }

  /** Bytes that have left this process. */
  get sent(): number {
    return Math.max(0, this.socket.bytesWritten - this.socket.writableLength);
  }

  get isClosed(): boolean {
    return this.socket.destroyed || this.socket.readableEnded;
  }

  /** Resolves once the bytes have left, or the connection has ended. */
  send(bytes: string | Buffer): Promise<void> {
    if (this.socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.socket.off('close', done);
        resolve();
      };
      this.socket.once('close', done);
      this.socket.write(bytes, () => done());
    });
  }

  /** Resolves once so many answers have begun in all, or the connection has ended. */
  async answered(count: number): Promise<void> {
    while (this.statuses.length < count && !this.isClosed) {
      await new Promise<void>((resolve) => this.listeners.add(resolve));
    }
  }

  /** Ends it without ceremony. */
  close(): void {
    this.socket.destroy();
  }

  private read(chunk: Buffer): void {
    this.received += chunk.length;
    const text = this.tail + chunk.toString('latin1');
    let end = 0;
    for (const match of text.matchAll(STATUS_LINE)) {
      this.statuses.push(Number(match[1]));
      end = match.index + match[0].length;
    }
    this.tail = text.slice(Math.max(end, text.length - LONGEST_SPLIT));
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
    this.listeners.clear();
  }
}

/** @returns once the handshake is done @throws Error when the server ends it before */
export async function openRaw({ port, ca }: Target, options: RawOptions = {}): Promise<RawConnection> {
  const { identity, secureContext, from = '127.0.0.1', reads = true } = options;
  const to = { host: '127.0.0.1', port, servername: 'localhost', localAddress: from };
  const socket = connect({ ...to, ...(secureContext ? { secureContext } : { ca, ...identity }) });
  socket.setNoDelay(true);
  const connection = new RawConnection(socket, reads);
  await once(socket, 'secureConnect');
  return connection;
}
