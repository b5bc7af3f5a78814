/** Runs a real proxy, such as nginx, Apache or HAProxy, in front of servers under test. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** Debian installs servers in a folder that is only on root's PATH. */
export const PROXY_PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/usr/local/sbin`;

const TRIES = 500;
const PAUSE = 20;

export interface ProxyProgram {
  port: number;
  /** All that it has printed so far, such as its errors. */
  printed(): string;
  stop(): Promise<void>;
}

/**
 * Resolves when the program listens.
 * @param port at which it listens
 * @param folder belongs to the program from now on, and is removed in the end
 */
export async function runProxy(
  program: 'apache2' | 'haproxy' | 'nginx',
  words: readonly string[],
  { port, folder }: { port: number; folder: string },
): Promise<ProxyProgram> {
  const child = spawn(program, words, { env: { PATH: PROXY_PATH }, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const stop = async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  };
  for (let tries = 0; tries < TRIES && child.exitCode === null; tries += 1) {
    if (await takesConnections(port)) return { port, printed: () => printed, stop };
    await sleep(PAUSE);
  }
  await stop();
  throw new Error(`${program} did not start: ${printed}`);
}

async function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
