/** A connection of an attacker. It sends any bytes, reads answers or leaves them unread, and counts both. */

import { once } from 'node:events';
import { connect, type SecureContext, type TLSSocket } from 'node:tls';
import type { Identity, Target } from '../client.ts';

export interface RawOptions {
  /** The client certificate. Without it the server does not know the caller. */
  identity?: Identity;
  /** The certificate as a context that is made once, so that it is not read anew for thousands of connections. */
  secureContext?: SecureContext;
  /** The address from which to connect; 127.0.0.1 if it is missing. */
  from?: string;
  /**
   * If it is false, the answers stay in the socket, so that the server's buffers fill up. It is true if it is
   * missing.
   */
  reads?: boolean;
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3}) /g;
/** The longest part of a status line that may be at the end of one chunk, with the rest in the next chunk. */
const LONGEST_SPLIT = 12;

export class RawConnection {
  /** The statuses of the status lines read so far, in order. A status line inside a body counts too. */
  readonly statuses: number[] = [];
  /** The number of bytes read. */
  received = 0;
  private readonly socket: TLSSocket;
  private tail = '';
  private readonly listeners = new Set<() => void>();

  /** Call `openRaw` instead. */
  constructor(socket: TLSSocket, reads: boolean) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => this.tell());
    if (reads) socket.on('data', (chunk: Buffer) => this.read(chunk));
  }

  /** The number of bytes that have left this process. */
  get sent(): number {
    return Math.max(0, this.socket.bytesWritten - this.socket.writableLength);
  }

  get isClosed(): boolean {
    return this.socket.destroyed || this.socket.readableEnded;
  }

  /** Resolves when the bytes have left, or the connection has ended. */
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

  /** Resolves when this many answers have begun in total, or the connection has ended. */
  async answered(count: number): Promise<void> {
    while (this.statuses.length < count && !this.isClosed) {
      await new Promise<void>((resolve) => this.listeners.add(resolve));
    }
  }

  /** Closes the connection at once. */
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

/**
 * @returns once the handshake is done
 * @throws Error if the server ends it before
 */
export async function openRaw({ port, ca }: Target, options: RawOptions = {}): Promise<RawConnection> {
  const { identity, secureContext, from = '127.0.0.1', reads = true } = options;
  const to = { host: '127.0.0.1', port, servername: 'localhost', localAddress: from };
  const socket = connect({ ...to, ...(secureContext ? { secureContext } : { ca, ...identity }) });
  socket.setNoDelay(true);
  const connection = new RawConnection(socket, reads);
  await once(socket, 'secureConnect');
  return connection;
}
