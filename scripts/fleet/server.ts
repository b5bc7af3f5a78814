/** The server under the fleet: one that runs already, or one of its own on folders that go with it. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from '../../test/support/client.ts';
import { cpuSecondsOf } from '../bench/cpu.ts';
import { ADMIN_PASSWORD, Processes } from '../bench/processes.ts';
import { makeToken } from './operator.ts';
import type { RunningServer } from './options.ts';

export interface FleetServer {
  target: Target;
  token: string;
  /** Null for a server that somebody else has started. */
  pid: number | null;
  close(): Promise<void>;
}

/** @throws Error with the server's own words when it does not come up */
export async function openServer(running: RunningServer | null): Promise<FleetServer> {
  if (running) {
    const { token, ...target } = running;
    return { target, token, pid: null, close: async () => undefined };
  }
  const folder = mkdtempSync(join(tmpdir(), 'hawser-fleet-'));
  const processes = new Processes();
  const close = async () => {
    await processes.close();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void close().then(() => process.exit(1)));
  }
  try {
    const { pid, endpoint: target } = await processes.startHawser(folder);
    return { target, token: await makeToken(target, ADMIN_PASSWORD), pid, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export interface Consumption {
  cpuSeconds: number;
  /** How long its main thread was ready to run, and others had the CPU. */
  waitSeconds: number;
  /** Resident, in MiB. */
  memory: number;
  peakMemory: number;
}

export function consumptionOf(pid: number): Consumption {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  const [, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return {
    cpuSeconds: cpuSecondsOf(pid),
    waitSeconds: Number(waited) / 1e9,
    memory: mebibytes('VmRSS'),
    peakMemory: mebibytes('VmHWM'),
  };
}
