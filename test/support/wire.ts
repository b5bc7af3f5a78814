/**
 * A TLS connection that the test controls: it sends the body in pieces, and reads what the server answers meanwhile.
 */

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
    // A reset ends the connection like any other end. The test sees it because the reply is missing.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isOver = true;
      this.wake();
    });
  }

  /** @param from the client certificate, and the address of this machine from which to connect */
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

  /** @param length the length of the body that follows; null sends it in chunks */
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

  /** Sends a chunk. An empty one is the last. */
  chunk(bytes: Buffer): void {
    this.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
  }

  /** Stops reading until `reply` is called. */
  stopReading(): void {
    this.socket.pause();
  }

  /** Ends the connection in order; what was sent before still arrives. */
  end(): void {
    this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** The next answer; null if the connection ends before it is complete. */
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
