/**
 * Tells systemd that the service has started (sd_notify(3)). The socket takes datagrams, which Node cannot send. A program
 * that comes with systemd sends them, so no native add-on is needed.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SECOND } from './clock.ts';
import type { Log } from './log.ts';

export interface ServiceManager {
  /** `NOTIFY_SOCKET` of the service manager: a path, or `@` and an abstract name. Null if there is none to be told. */
  socket: string | null;
  /** The folders in which `systemd-notify` is looked for, like `PATH`. */
  searchPath: string;
}

/** The program waits until its message was received, so a manager that hangs would make it wait for ever. */
const PATIENCE = 10 * SECOND;

/**
 * Says that the service has started. With `Type=notify` systemd starts units that depend on it only then. A fault is only
 * logged, because the server works, and systemd ends it anyway if it was waiting.
 * @param status is one line for `systemctl status`
 */
export async function notifyReady(manager: ServiceManager, status: string, log: Log): Promise<void> {
  await notify(manager, ['--ready', `--status=${status}`]).catch((error) => {
    log.warn({ err: error }, 'systemd could not be told that the server is ready');
  });
}

/** Changes the line for `systemctl status`. A fault is only logged. */
export async function notifyStatus(manager: ServiceManager, status: string, log: Log): Promise<void> {
  await notify(manager, [`--status=${status}`]).catch((error) => {
    log.warn({ err: error }, 'systemd could not be told the state of the server');
  });
}

/**
 * Says again and again that the server lives, for as long as its event loop goes round. A fault is only logged: systemd ends
 * the server if it hears nothing.
 */
export function keepTelling(manager: ServiceManager, milliseconds: number, log: Log): void {
  const tell = () =>
    void notify(manager, ['WATCHDOG=1']).catch((error) => {
      log.warn({ err: error }, 'systemd could not be told that the server lives');
    });
  setInterval(tell, milliseconds).unref();
}

async function notify({ socket, searchPath }: ServiceManager, args: string[]): Promise<void> {
  if (socket === null) return;
  const env = { NOTIFY_SOCKET: socket, PATH: searchPath };
  await promisify(execFile)('systemd-notify', args, { env, timeout: PATIENCE });
}
