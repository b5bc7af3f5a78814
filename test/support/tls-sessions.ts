/** TLS sessions, which a client begins at one server and may resume at another one. */

import { connect, type TLSSocket } from 'node:tls';
import type { Identity, Target } from './client.ts';

const optionsOf = ({ port, ca }: Target) => ({ host: '127.0.0.1', port, ca, servername: 'localhost' });

/** Gives the session of a new connection. */
export function beginSession(target: Target, identity: Partial<Identity> = {}): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...optionsOf(target), ...identity });
    socket.once('error', reject);
    socket.once('session', (made: Buffer) => {
      resolve(made);
      socket.destroy();
    });
  });
}

/** Whether the server resumes the session. */
export async function isResumed(target: Target, session: Buffer): Promise<boolean> {
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    const made: TLSSocket = connect({ ...optionsOf(target), session }, () => resolve(made));
    made.once('error', reject);
  });
  const isReused = socket.isSessionReused();
  socket.destroy();
  return isReused;
}
