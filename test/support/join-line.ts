/** The line that joins a machine, run as people run it: in a shell, in an empty folder. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Ended, outputOf } from './spawned.ts';

export interface Started {
  child: ChildProcess;
  stdout(): string;
  ended: Promise<Ended>;
}

export interface Machine {
  folder: string;
  /** Runs a line in the folder. */
  run(line: string, variables?: Record<string, string>, shell?: string): Promise<Ended>;
  /** Starts a line in the folder, and does not wait for its end. */
  start(line: string, variables?: Record<string, string>, shell?: string): Started;
  read(path: string): string;
  remove(): void;
}

export function makeMachine(name: string): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-join-'));
  // The line takes whatever is called node.
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const start = (line: string, variables: Record<string, string> = {}, shell = 'sh'): Started => {
    const env = { PATH: path, HAWSER_AGENT_NAME: name, ...variables };
    const child = spawn(shell, ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const { ended, stdout } = outputOf(child);
    return { child, stdout, ended };
  };
  return {
    folder,
    start,
    run: (line, variables, shell) => start(line, variables, shell).ended,
    read: (file) => readFileSync(join(folder, file), 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
