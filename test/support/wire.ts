/** One TLS connection driven by hand: a body in pieces of the test's choosing, and what is answered meanwhile. */

import { connect, type TLSSocket } from 'node:tls';
import type { Identity, Target } from './client.ts';

export interface WireReply {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export class Wire {
  private readonly socket: TLSSocket;
  private received = Buffer.alloc(0);
  private isOver = false;
  private wake: () => void = () => undefined;

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.received = Buffer.concat([this.received, bytes]);
      this.wake();
    });
    // A reset is an end like any other: the test sees it in the reply that does not come.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isOver = true;
      this.wake();
    });
  }

  /** @param from the certificate to show, and the address of this machine to come from */
  static open({ port, ca }: Target, from: Partial<Identity & { localAddress: string }> = {}): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost', ...from });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        socket.off('error', reject);
        resolve(new Wire(socket));
      });
    });
  }

  /** @param length of the body that is to follow; null: in chunks */
  head(method: string, path: string, headers: Record<string, string>, length: number | null): void {
    const framing: Record<string, string> =
      length === null ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(length) };
    const lines = Object.entries({ Host: 'localhost', ...headers, ...framing });
    const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    this.write(`${method} ${path} HTTP/1.1\r\n${text}\r\n`);
  }

  write(bytes: string | Buffer): void {
    if (this.socket.writable) this.socket.write(bytes);
  }

  /** An empty one is the last. */
  chunk(bytes: Buffer): void {
    this.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
  }

  /** Reads nothing of what comes, until `reply` is asked for. */
  stopReading(): void {
    this.socket.pause();
  }

  /** Says goodbye; what was sent before still arrives. */
  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** The next answer, null when the connection ends before it is complete. */
  async reply(): Promise<WireReply | null> {
    this.socket.resume();
    for (;;) {
      const reply = this.takeReply();
      if (reply !== null || this.isOver) return reply;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  private takeReply(): WireReply | null {
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return null;
    const [first = '', ...lines] = this.received.subarray(0, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.split(':', 1)[0]?.toLowerCase() ?? '',
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
    );
    const body = end + 4;
    const length = Number(headers['content-length'] ?? 0);
    if (this.received.length < body + length) return null;
    const text = this.received.subarray(body, body + length).toString('utf8');
    this.received = this.received.subarray(body + length);
    return { status: Number(first.split(' ')[1]), headers, text };
  }
}
