/** The line that joins a machine, run as people run it: in a shell, in an empty folder. */

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Ended } from './spawned.ts';

export interface Machine {
  folder: string;
  /** Runs a line in the folder. */
  run(line: string, variables?: Record<string, string>, shell?: string): Promise<Ended>;
  read(path: string): string;
  remove(): void;
}

export function makeMachine(name: string): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-join-'));
  // The line takes whatever is called node.
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  return {
    folder,
    run(line, variables = {}, shell = 'sh') {
      const env = { PATH: path, HAWSER_AGENT_NAME: name, ...variables };
      const child = spawn(shell, ['-c', line], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
      child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
      return new Promise((resolve) => {
        child.once('close', (code) => resolve({ code, stdout, stderr }));
      });
    },
    read: (file) => readFileSync(join(folder, file), 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
