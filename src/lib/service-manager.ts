/**
 * Tells systemd how the service is doing (sd_notify(3)). Its socket takes datagrams, for which Node has no call; systemd
 * comes with a program that has, so no native add-on is needed.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { SECOND } from './clock.ts';
import type { Log } from './log.ts';

export interface ServiceManager {
  /** `NOTIFY_SOCKET` as the service manager set it: a path, or `@` and an abstract name. Null: nobody wants to know. */
  socket: string | null;
  /** Where `systemd-notify` is looked for, like `PATH`. */
  searchPath: string;
}

/** It waits until its message was received, which a manager that hangs would make for ever. */
const PATIENCE = 10 * SECOND;

/**
 * Says that the service has started; under `Type=notify` systemd lets nothing that depends on it begin before. A fault is
 * only logged: to end a server that works would help nobody, and systemd ends it anyway if it was waiting.
 * @param status one line for `systemctl status`
 */
export async function notifyReady(manager: ServiceManager, status: string, log: Log): Promise<void> {
  const { socket, searchPath } = manager;
  if (socket === null) return;
  try {
    await promisify(execFile)('systemd-notify', ['--ready', `--status=${status}`], {
      env: { NOTIFY_SOCKET: socket, PATH: searchPath },
      timeout: PATIENCE,
    });
  } catch (error) {
    log.warn({ err: error }, 'systemd could not be told that the server is ready');
  }
}
