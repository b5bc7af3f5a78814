/** Runs the program as a separate process, as users start it: its settings, its output, and its exit code. */

import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { PROJECT } from '../../scripts/support/project.ts';
import { CHEAP_HASHES } from './cheap-hashes.ts';
import type { Target } from './client.ts';
import { databaseSettings } from './engine.ts';
import { ADMIN_PASSWORD } from './hawser.ts';
import { programArguments } from './program.ts';

const LISTENING = /"url":"https:\/\/localhost:(\d+)"/;

/** They are killed with this process, as when a hook failed that would have ended them. */
const running = new Set<ChildProcessWithoutNullStreams>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Spawned {
  child: ChildProcessWithoutNullStreams;
  stdout(): string;
  stderr(): string;
  /** Resolves when the text is in the log. Throws with all output if the program ends before. */
  logged(text: string | RegExp): Promise<void>;
  /** Resolves when the server listens. */
  listening(): Promise<Target>;
  ended: Promise<Ended>;
}

/**
 * @param settings HAWSER_* variables in addition to the address and the folders; an empty one counts as not set
 * @param words the command line; if it is empty, the program serves
 */
export async function spawnHawser(
  folder: string,
  settings: Record<string, string> = {},
  words: readonly string[] = [],
): Promise<Spawned> {
  const dataDir = settings['HAWSER_DATA_DIR'] ?? join(folder, 'data');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HAWSER_HOST: '127.0.0.1',
    HAWSER_PORT: '0',
    HAWSER_DATA_DIR: dataDir,
    HAWSER_REPOS_DIR: join(folder, 'repos'),
    HAWSER_ADMIN_PASSWORD: ADMIN_PASSWORD,
    ...CHEAP_HASHES,
    ...(await databaseSettings(dataDir)),
    ...settings,
  };
  const child = spawn(process.execPath, [...programArguments('main'), ...words], { cwd: PROJECT, env });
  return follow(child, dataDir);
}

/** Runs the program to its end; see `spawnHawser`. */
export async function runHawser(...words: Parameters<typeof spawnHawser>): Promise<Ended> {
  const spawned = await spawnHawser(...words);
  return spawned.ended;
}

/** What a program has written so far, and how it ends. */
export function outputOf(child: ChildProcess & { stdout: Readable; stderr: Readable }) {
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { stdout: () => stdout, stderr: () => stderr, ended };
}

/** @param child a server that has just been started on this data folder */
export function follow(child: ChildProcessWithoutNullStreams, dataDir: string): Spawned {
  running.add(child);
  child.once('exit', () => running.delete(child));
  const { stdout, stderr, ended } = outputOf(child);
  const logged = (text: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = () => {
        if (typeof text === 'string' ? stdout().includes(text) : text.test(stdout())) resolve();
      };
      child.stdout.on('data', look);
      child.once('close', () =>
        reject(new Error(`ended before ${text} was logged:\n${stdout()}\n${stderr()}`)),
      );
      look();
    });
  return {
    child,
    logged,
    ...{ ended, stdout, stderr },
    listening: async () => {
      await logged(LISTENING);
      const port = Number(LISTENING.exec(stdout())?.[1]);
      return { port, ca: readFileSync(join(dataDir, 'tls/ca.crt'), 'utf8') };
    },
  };
}
