/** A door before a server: while it is shut, the server cannot be reached, and connections that were open end. */

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Gate {
  url: string;
  port: number;
  shut(): void;
  open(): void;
  close(): Promise<void>;
}

/**
 * @param target gives the port of the server, which may change
 * @param onSent is called when a caller has sent something, a record of TLS or a few of them
 */
export async function startGate(target: () => number, onSent?: () => void): Promise<Gate> {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    if (!isOpen) {
      client.destroy();
      return;
    }
    const behind = connect(target(), '127.0.0.1');
    keep(behind);
    client.pipe(behind).pipe(client);
    if (onSent !== undefined) client.on('data', onSent);
    client.on('close', () => behind.destroy());
    behind.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `https://localhost:${port}`,
    port,
    shut: () => {
      isOpen = false;
      end();
    },
    open: () => {
      isOpen = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        end();
      }),
  };
}
