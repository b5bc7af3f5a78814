/** The generators' side of a connection: raw TLS, because `https.Agent` costs more than the server. */

import { connect, type SecureContext, type TLSSocket } from 'node:tls';

/**
 * @param from the address to call from
 * @returns once the handshake is done, which must be a full one
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
      // No session is ever handed in, so this cannot be; a resumed handshake would make the numbers a lie.
      if (socket.isSessionReused()) reject(new Error('a session was resumed'));
      else if (!socket.authorized) reject(new Error(`server certificate: ${socket.authorizationError}`));
      else resolve(socket);
    });
  });
}

/**
 * Keeps this process's core busy. Over loopback the server's own write wakes a sleeping client, on a virtual
 * machine for some 10 us that no remote client would cost it; the faster the server, the less often.
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
