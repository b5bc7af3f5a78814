/** The generators' side of a connection. It uses raw TLS, because `https.Agent` costs more than the server. */

import { connect, type SecureContext, type TLSSocket } from 'node:tls';

/**
 * @param from the address from which the connection is made
 * @returns once the handshake is done; it must be a full handshake
 */
export function openConnection(
  port: number,
  secureContext: SecureContext,
  from = '127.0.0.1',
): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const to = { host: '127.0.0.1', port, servername: 'localhost', localAddress: from };
    const socket = connect({ ...to, secureContext });
    socket.setNoDelay(true);
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      socket.off('error', reject);
      // No session is ever offered, so this should not happen. A resumed handshake would make the numbers wrong.
      if (socket.isSessionReused()) reject(new Error('a session was resumed'));
      else if (!socket.authorized) reject(new Error(`server certificate: ${socket.authorizationError}`));
      else resolve(socket);
    });
  });
}

/**
 * Keeps this process's core busy. Over loopback the server's own write wakes a sleeping client. On a virtual machine
 * this costs the server some 10 us that a remote client would not cost it, and it happens less often if the server is
 * faster.
 * @returns a function that ends it
 */
export function stayAwake(): () => void {
  let next: NodeJS.Immediate;
  const spin = (): void => {
    next = setImmediate(spin);
  };
  spin();
  return () => clearImmediate(next);
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
