/** One agent per state folder: two would rotate the same certificate and tidy away each other's work. */

import { unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';

/**
 * A socket rather than a file with a process id: the system closes it however the process ends, so it can be asked
 * whether its owner lives. A path of its own length limit (107 bytes) makes it relative to the working folder.
 */
const NAME = 'agent.lock';

/**
 * Takes the working folder for this process, until it ends.
 * @throws Error when another agent has it
 */
export async function lockWorkingFolder(): Promise<void> {
  if (await listens()) return;
  if (await isAnswered()) throw new Error('Another agent works in this state folder');
  await unlink(NAME).catch(() => undefined);
  if (!(await listens())) throw new Error('Another agent works in this state folder');
}

function listens(): Promise<boolean> {
  const server: Server = createServer((socket) => socket.destroy());
  // It alone is no reason to stay.
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    server.listen(NAME, () => resolve(true));
  });
}

function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(NAME);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
