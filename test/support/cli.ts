/**
 * Runs `hawserctl` with a home of its own: most command lines within this process, since a process takes a quarter of a
 * second of processor time for each, and others as users do: the one file, as a process of its own.
 */

import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { expect } from 'chai';
import { PROJECT } from '../../scripts/support/project.ts';
import { runProgram } from '../../src/cli/program.ts';
import { recordCommand } from './calls.ts';
import type { Target } from './client.ts';
import { programArguments } from './program.ts';
import { type Ended, outputOf } from './spawned.ts';

export interface RunOptions {
  /** In addition to HOME and PATH. */
  env?: Record<string, string>;
  stdin?: string | Buffer;
  cwd?: string;
}

export interface Cli {
  /** The folder that is HOME and the working folder. */
  home: string;
  /** Where the servers are kept. */
  hostsFile: string;
  /** Runs a command line within this process. */
  run(words: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Runs it as a process of its own. */
  runProcess(words: readonly string[], options?: RunOptions): Promise<Ended>;
  /** @returns the path of the program, in the home */
  program(): string;
  /** Begins a command that goes on until it is stopped. */
  begin(words: readonly string[]): Begun;
  /** Runs in a terminal of 80 columns and types these lines; both streams are stdout then. */
  runInTerminal(words: readonly string[], typed: readonly string[], options?: RunOptions): Promise<Ended>;
  /** Writes a file into the home. @returns its path */
  write(name: string, content: string | Buffer): string;
  /** Keeps a token for this server without `login`. */
  signIn(target: Target, token: string, username?: string): void;
  close(): void;
}

export interface Begun {
  /** The whole lines of stdout so far. */
  lines(): string[];
  /** Stops it as Ctrl-C does. */
  stop(): Promise<Ended>;
}

/** Checks that a command has failed: it prints nothing but a reason. */
export function expectFailed({ code, stdout, stderr }: Ended, exitCode: number, says: string | RegExp): void {
  expect({ code, stdout }, stderr).to.deep.equal({ code: exitCode, stdout: '' });
  if (typeof says === 'string') expect(stderr).to.include(says);
  else expect(stderr).to.match(says);
}

/** The cells of a printed table, row by row. */
export const rowsOf = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));

/** Takes what is written to it as a pipe does. */
class Sink extends Writable {
  private readonly chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }

  text(): string {
    return Buffer.concat(this.chunks).toString('utf8');
  }
}

/** @param env all variables that the program sees */
async function runHere(words: readonly string[], { env, stdin, cwd }: Required<RunOptions>): Promise<Ended> {
  const [stdout, stderr] = [new Sink(), new Sink()];
  const streams = { stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr } as unknown as Pick<
    NodeJS.Process,
    'stdin' | 'stdout' | 'stderr'
  >;
  const code = await runProgram(words, { env, cwd, ...streams });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

export async function makeCli(): Promise<Cli> {
  const home = mkdtempSync(join(tmpdir(), 'hawserctl-'));
  const config = join(home, 'config');
  const hostsFile = join(config, 'hawser/hosts.json');
  const own = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_CONFIG_HOME: config };
  const program = () => {
    const path = join(home, 'hawserctl.mjs');
    if (!existsSync(path)) copyFileSync(join(PROJECT, ...programArguments('hawserctl')), path);
    return path;
  };
  const start = (file: string, words: readonly string[], { env, cwd = home }: RunOptions) => {
    const child = spawn(file, words, { cwd, env: { ...own, ...env } });
    child.stdin.on('error', () => undefined);
    return { child, ended: outputOf(child).ended };
  };
  const recorded = async (words: readonly string[], ended: Promise<Ended>): Promise<Ended> => {
    const outcome = await ended;
    if (outcome.code === 0) recordCommand(words);
    return outcome;
  };
  return {
    home,
    hostsFile,
    run: (words, { env, stdin = '', cwd = home } = {}) =>
      recorded(words, runHere(words, { env: { ...own, ...env }, stdin, cwd })),
    runProcess: (words, options = {}) => {
      const { child, ended } = start(process.execPath, [program(), ...words], options);
      child.stdin.end(options.stdin);
      return recorded(words, ended);
    },
    program,
    begin: (words) => {
      const { child, ended } = start(process.execPath, [program(), ...words], {});
      let stdout = '';
      child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
      return {
        lines: () => stdout.split('\n').slice(0, -1),
        stop: () => {
          child.kill('SIGINT');
          return recorded(words, ended);
        },
      };
    },
    runInTerminal: (words, typed, options = {}) => {
      const line = ['stty cols 80;', process.execPath, program(), ...words].map(quoteWord).join(' ');
      const { child, ended } = start('script', ['-qec', line, '/dev/null'], options);
      // A line is typed when the question for it is there.
      const rest = [...typed];
      child.stdout.on('data', (chunk: Buffer) => {
        if (/(: |\[y\/N\] )$/.test(chunk.toString())) child.stdin.write(`${rest.shift() ?? ''}\r`);
      });
      return recorded(words, ended);
    },
    write: (name, content) => {
      writeFileSync(join(home, name), content);
      return join(home, name);
    },
    signIn: ({ port, ca }, token, username = 'admin') => {
      const origin = `https://localhost:${port}`;
      const host = { trust: { kind: 'authority', pem: ca }, token, username, tokenId: null };
      mkdirSync(join(config, 'hawser'), { recursive: true, mode: 0o700 });
      const text = JSON.stringify({ current: origin, hosts: { [origin]: host } });
      writeFileSync(hostsFile, text, { mode: 0o600 });
    },
    close: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** The first word is a command of the shell. */
function quoteWord(word: string): string {
  return word.endsWith(';') ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
