/**
 * A pooler that gives one connection of PostgreSQL to many clients, each for one transaction. It knows as much of the
 * protocol as that takes (postgresql.org/docs/current/protocol-message-formats.html).
 */

import { connect, createServer, type Server, type Socket } from 'node:net';

const READY = 'Z';
const TERMINATE = 'X';
const IDLE = 'I';
const HEADER = 5;

export interface TransactionPooler {
  port: number;
  close(): Promise<void>;
}

/** @param port that of PostgreSQL on this machine */
export async function startTransactionPooler(port: number): Promise<TransactionPooler> {
  const pool = new Pool(port);
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    sockets.add(client);
    pool.serve(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      pool.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

class Pool {
  private readonly port: number;
  private shared: Socket | null = null;
  private owner: Socket | null = null;
  private readonly waiting: { client: Socket; message: Buffer }[] = [];

  constructor(port: number) {
    this.port = port;
  }

  /** Each client signs in over a connection of its own. The first of these is then the one that all share. */
  serve(client: Socket): void {
    const own = connect(this.port, '127.0.0.1');
    for (const socket of [client, own]) socket.on('error', () => undefined);
    let isSignedIn = false;
    let isStarted = false;
    client.on('data', (data) => {
      if (!isSignedIn) own.write(data);
    });
    readMessages(client, {
      // The first message of a client has no type.
      skipsFirst: () => {
        const isFirst = !isStarted;
        isStarted = true;
        return isFirst;
      },
      onMessage: (type, message) => {
        if (!isSignedIn) return;
        if (type === TERMINATE) client.end();
        else this.send(client, message);
      },
    });
    readMessages(own, {
      skipsFirst: () => false,
      onMessage: (type, message) => {
        if (!isSignedIn) client.write(message);
        else if (own === this.shared) this.answer(type, message);
        if (type !== READY || isSignedIn) return;
        isSignedIn = true;
        if (this.shared === null) this.shared = own;
        else own.end();
      },
    });
  }

  close(): void {
    this.shared?.destroy();
  }

  private send(client: Socket, message: Buffer): void {
    if (this.owner !== null && this.owner !== client) {
      this.waiting.push({ client, message });
      return;
    }
    this.owner = client;
    this.shared?.write(message);
  }

  private answer(type: string, message: Buffer): void {
    this.owner?.write(message);
    if (type !== READY || message.toString('latin1', HEADER, HEADER + 1) !== IDLE) return;
    this.owner = null;
    for (const { client, message: kept } of this.waiting.splice(0)) this.send(client, kept);
  }
}

function readMessages(
  socket: Socket,
  { skipsFirst, onMessage }: { skipsFirst(): boolean; onMessage(type: string, message: Buffer): void },
): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (data: Buffer) => {
    if (skipsFirst()) return;
    rest = Buffer.concat([rest, data]);
    while (rest.length >= HEADER) {
      const length = 1 + rest.readUInt32BE(1);
      if (rest.length < length) return;
      onMessage(rest.toString('latin1', 0, 1), rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
}
