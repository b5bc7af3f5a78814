/** The server for the fleet: one that runs already, or a new one on temporary folders. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Target } from '../../test/support/client.ts';
import { cpuSecondsOf } from '../bench/cpu.ts';
import { memoryOf } from '../bench/memory.ts';
import { ADMIN_PASSWORD, Processes } from '../bench/processes.ts';
import { makeToken } from './operator.ts';
import type { FleetOptions } from './options.ts';

const MIB = 1024 * 1024;

export interface FleetServer {
  target: Target;
  token: string;
  /** Null for a server that somebody else has started. */
  pid: number | null;
  /** Milliseconds after which all of several servers know of a change. A single server knows at once. */
  lag?: number;
  /** Writes a backup archive and removes it again. It exists only for a server that was started here. */
  backUp?(): Promise<void>;
  close(): Promise<void>;
}

/** @throws Error with the server's own output if it does not start */
export async function openServer({ server: running }: FleetOptions): Promise<FleetServer> {
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
    const backUp = () => processes.backUp(folder, join(folder, 'backup'));
    return { target, token: await makeToken(target, ADMIN_PASSWORD), pid, backUp, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The consumption of a server. */
export interface Consumption {
  cpuSeconds: number;
  /** How long its main thread was ready to run while others had the CPU. */
  waitSeconds: number;
  /** The resident memory, in MiB. */
  memory: number;
  peakMemory: number;
}

export function consumptionOf(pid: number): Consumption {
  const { now, peak } = memoryOf(pid);
  return {
    cpuSeconds: cpuSecondsOf(pid),
    waitSeconds: waitSecondsOf(pid),
    memory: now / MIB,
    peakMemory: peak / MIB,
  };
}

function waitSecondsOf(pid: number): number {
  const [, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
  return Number(waited) / 1e9;
}
