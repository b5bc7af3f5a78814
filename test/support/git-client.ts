/** Stock git as a client of a server under test, in a folder of its own and without any configuration. */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program. HAWSER_TEST_GIT names that of another release, such as one that is older than the server's. */
const GIT = process.env['HAWSER_TEST_GIT'] || 'git';

export interface GitRun {
  code: number | null;
  /** What it printed on both outputs. */
  output: string;
}

export interface GitClient {
  folder: string;
  /** The address of a repository, with the password in it if one is given. */
  url(repository: string, password?: string, user?: string): string;
  run(...args: string[]): Promise<GitRun>;
  /** Starts git without waiting for it. It leads its own process group. */
  start(...args: string[]): ChildProcess;
  close(): void;
}

/** What a client must know of a server. */
export interface GitServer {
  /** The authority of its certificate is in `tls/ca.crt` below. */
  dataDir: string;
  server: { port: number };
}

export function gitClient(hawser: GitServer): GitClient {
  const folder = mkdtempSync(join(tmpdir(), 'hawser-git-'));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_SSL_CAINFO: join(hawser.dataDir, 'tls/ca.crt'),
    GIT_TERMINAL_PROMPT: '0',
  };
  const start = (...args: string[]) =>
    spawn(GIT, args, { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  return {
    folder,
    start,
    url(repository, password, user = 'somebody') {
      const credentials = password === undefined ? '' : `${user}:${encodeURIComponent(password)}@`;
      return `https://${credentials}localhost:${hawser.server.port}/git/${repository}.git`;
    },
    run: (...args) =>
      new Promise((resolve) => {
        let output = '';
        const child = start(...args);
        for (const stream of [child.stdout, child.stderr]) {
          stream.setEncoding('utf8').on('data', (text: string) => {
            output += text;
          });
        }
        child.on('close', (code) => resolve({ code, output }));
      }),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The files of a working copy by path, without git's own. */
export function filesIn(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith('.git/'));
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'latin1')]));
}

/** The command lines of processes that work inside a folder: `git` changes into the repository that it serves. */
export function processesIn(folder: string): string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) continue;
      found.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '));
    } catch {
      // The process has ended in the meantime, or belongs to another user.
    }
  }
  return found;
}

/** A packet of Git's wire format. */
export function packet(text: string): string {
  return (text.length + 4).toString(16).padStart(4, '0') + text;
}

/** A request of protocol version 2 for one object and everything that it reaches. */
export function fetchRequest(oid: string): string {
  const args = [`want ${oid}\n`, 'no-progress\n', 'done\n'].map(packet).join('');
  return `${packet('command=fetch')}0001${args}0000`;
}

/** Milliseconds. */
const PATIENCE = 60_000;

/** Waits until the condition holds. It looks often, because what it looks for may last for a moment only. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const end = Date.now() + PATIENCE;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
