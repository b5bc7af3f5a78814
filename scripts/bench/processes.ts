/** Starts and ends the processes of a bench: Hawser as its users start it, the bare server, and the generator. */

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROJECT } from '../support/project.ts';
import type {
  BareSetup,
  CannedAnswer,
  CrowdNode,
  CrowdOrder,
  CrowdResult,
  Endpoint,
  LoadOrder,
  LoadResult,
  ReportOrder,
  ReportOutcome,
  Wave,
} from './messages.ts';

const START_LIMIT_MS = 60_000;
const CLOSE_LIMIT_MS = 10_000;
/** A start is noticed with at most this delay. */
const LOOK_MS = 5;

export const ADMIN_PASSWORD = 'a-password-for-the-bench';

export interface HawserOptions {
  nodeOptions?: readonly string[];
  /** Settings in addition to those that it needs. */
  settings?: Record<string, string>;
}

/** A server that is measured. */
export interface ServerProcess {
  pid: number;
  endpoint: Endpoint;
}

export interface BareServer extends ServerProcess {
  answerWith(answer: CannedAnswer): Promise<void>;
}

export interface LoadGenerator {
  /** @throws Error if any answer was wrong */
  run(order: LoadOrder): Promise<Extract<LoadResult, { kind: 'done' }>>;
}

/** Nodes that keep their connections to one server and poll in waves. */
export interface Crowd {
  pid: number;
  connect(endpoint: Endpoint, nodes: readonly CrowdNode[]): Promise<void>;
  /**
   * Lets every connected node poll once; see `CrowdOrder`.
   * @throws Error if any answer was wrong
   */
  wave(atOnce: number, state: string): Promise<Wave>;
}

/** All child processes of a bench, so that none survives it. */
export class Processes {
  private readonly children: ChildProcess[] = [];
  private readonly program: string;

  /** @param program the built server, of this checkout or another */
  constructor(program = '.build/main.js') {
    this.program = program;
  }

  /**
   * Starts Hawser as `npm start` runs it, on the folders `data` and `repos` below `folder`, otherwise with the
   * default settings. The log goes to a file, because a pipe would make this process part of the measurement.
   */
  async startHawser(
    folder: string,
    { nodeOptions = [], settings = {} }: HawserOptions = {},
  ): Promise<ServerProcess> {
    const logFile = join(folder, 'log.jsonl');
    const output = openSync(logFile, 'w');
    const child = spawn(process.execPath, [...nodeOptions, this.program], {
      cwd: PROJECT,
      stdio: ['ignore', output, output],
      env: { ...settingsOf(folder), HAWSER_ADMIN_PASSWORD: ADMIN_PASSWORD, ...settings },
    });
    this.children.push(child);
    const port = await portFromLog(child, logFile);
    return {
      pid: pidOf(child),
      endpoint: { port, ca: readFileSync(join(folder, 'data/tls/ca.crt'), 'utf8') },
    };
  }

  /**
   * Runs `hawser backup` beside the server that runs on `folder`.
   * @throws Error with its output if it fails
   */
  async backUp(folder: string, file: string): Promise<void> {
    const child = spawn(process.execPath, [this.program, 'backup', file], {
      ...{ cwd: PROJECT, env: settingsOf(folder), stdio: ['ignore', 'ignore', 'pipe'] },
    });
    this.children.push(child);
    const [said, code] = await Promise.all([text(child.stderr), exitCodeOf(child)]);
    this.children.splice(this.children.indexOf(child), 1);
    if (code !== 0) throw new Error(`hawser backup: exit code ${code}: ${said}`);
    rmSync(file);
  }

  /**
   * Imports an OpenDSC site into the folder, which may be empty.
   * @returns milliseconds of the whole process
   * @throws Error with its output if it fails
   */
  async importOpenDsc(
    folder: string,
    { location, files }: { location: string; files: string },
    ...words: string[]
  ): Promise<number> {
    const command = ['import-opendsc', '--database', location, '--files', files, ...words];
    const start = performance.now();
    const child = spawn(process.execPath, [this.program, ...command], {
      ...{ cwd: PROJECT, env: settingsOf(folder), stdio: ['ignore', 'ignore', 'pipe'] },
    });
    this.children.push(child);
    const [said, code] = await Promise.all([text(child.stderr), exitCodeOf(child)]);
    this.children.splice(this.children.indexOf(child), 1);
    if (code !== 0) throw new Error(`hawser ${words.join(' ')}: exit code ${code}: ${said}`);
    return performance.now() - start;
  }

  /** Starts the bare server with the certificate of the Hawser that runs on `folder`. */
  async startBare(folder: string): Promise<BareServer> {
    const child = this.fork('bare-server.js');
    const read = (name: string) => readFileSync(join(folder, 'data/tls', name), 'utf8');
    const setup: BareSetup = { cert: read('server.crt'), key: read('server.key') };
    const port = await exchange<number>(child, setup);
    return {
      pid: pidOf(child),
      endpoint: { port, ca: read('ca.crt') },
      answerWith: async (answer) => void (await exchange(child, answer)),
    };
  }

  startGenerator(): LoadGenerator {
    const child = this.fork('load-generator.js');
    return {
      async run(order) {
        const result = await exchange<LoadResult>(child, order);
        if (result.kind === 'failed') throw new Error(result.message);
        return result;
      },
    };
  }

  startCrowd(): Crowd {
    const child = this.fork('crowd.js');
    const ask = async (order: CrowdOrder) => {
      const result = await exchange<CrowdResult>(child, order);
      if (result.kind === 'failed') throw new Error(result.message);
      return result;
    };
    return {
      pid: pidOf(child),
      connect: async (endpoint, nodes) => void (await ask({ kind: 'connect', endpoint, nodes })),
      wave: async (atOnce, state) => (await ask({ kind: 'wave', atOnce, state })) as Wave & { kind: 'done' },
    };
  }

  /** Lets nodes report in a process of its own. @throws Error if any answer was wrong */
  async report(order: ReportOrder): Promise<Extract<ReportOutcome, { kind: 'done' }>> {
    const child = this.fork('reporters.js');
    const result = await exchange<ReportOutcome>(child, order);
    await end(child);
    if (result.kind === 'failed') throw new Error(result.message);
    return result;
  }

  /** Ends one process, in the same way as `close` ends all. */
  async end({ pid }: Pick<ServerProcess, 'pid'>): Promise<void> {
    await Promise.all(this.children.filter((child) => child.pid === pid).map(end));
  }

  async close(): Promise<void> {
    await Promise.all(this.children.map(end));
  }

  /** @param script a path below this folder, as it was transpiled */
  fork(script: string): ChildProcess {
    const path = join(import.meta.dirname, script);
    const child = fork(path, { cwd: PROJECT, serialization: 'advanced' });
    this.children.push(child);
    return child;
  }
}

/** Ends one process. Kills it if it does not end by itself. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), CLOSE_LIMIT_MS);
  await gone;
  clearTimeout(timer);
}

function exitCodeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((ended) => child.once('exit', ended));
}

function settingsOf(folder: string): NodeJS.ProcessEnv {
  return {
    ...withoutHawserSettings(process.env),
    HAWSER_HOST: '127.0.0.1',
    HAWSER_PORT: '0',
    HAWSER_DATA_DIR: join(folder, 'data'),
    HAWSER_REPOS_DIR: join(folder, 'repos'),
  };
}

function withoutHawserSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('HAWSER_')));
}

async function portFromLog(child: ChildProcess, logFile: string): Promise<number> {
  const deadline = performance.now() + START_LIMIT_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const listening = readFileSync(logFile, 'utf8').match(/"url":"https:\/\/localhost:(\d+)"/);
    if (listening) return Number(listening[1]);
    await sleep(LOOK_MS);
  }
  throw new Error(`Hawser did not start:\n${readFileSync(logFile, 'utf8')}`);
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('a process could not be started');
  return child.pid;
}

type Message = BareSetup | CannedAnswer | LoadOrder | CrowdOrder | ReportOrder;

/** Sends one message and waits for one answer. */
function exchange<T>(child: ChildProcess, message: Message): Promise<T> {
  return new Promise((done, failed) => {
    const onExit = () => failed(new Error('a process of the bench ended unexpectedly'));
    child.once('exit', onExit);
    child.once('message', (reply) => {
      child.off('exit', onExit);
      done(reply as T);
    });
    child.send(message);
  });
}
