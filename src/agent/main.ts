#!/usr/bin/env node
/** The process of the agent: it runs the command of its command line, and ends with an exit code that says how it went. */

import { resolve } from 'node:path';
import { Unreachable } from '../client/errors.ts';
import { ConfigError, EXIT_CONFIG } from '../config.ts';
import { systemClock } from '../lib/clock.ts';
import { UsageError } from '../lib/command-words.ts';
import { makePrivateFolder } from '../lib/folders.ts';
import { createLog, openOutput } from '../lib/log.ts';
import { readVersion } from '../lib/version.ts';
import { Agent, type Outcome } from './agent.ts';
import { type CommandName, type Options, readCommandLine, USAGE } from './command-line.ts';
import {
  describeInstallation,
  describeRemoval,
  type InstallOptions,
  install,
  planService,
  runSystemctl,
  uninstall,
} from './install.ts';
import { Refusal } from './node-api.ts';
import { describeRegistered, register, registeredAndRunning, requireKey } from './register.ts';
import { unitOf, windowsCommands, windowsRemoval } from './service.ts';
import { type AgentSettings, type Given, readSettings, settingsOf } from './settings.ts';
import { SignersFile } from './signers.ts';
import { lockWorkingFolder, requireOwnFolder } from './state.ts';
import { describeStatus, readStatus } from './status.ts';

const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_NOTHING_SENT = 3;
const EXIT_BY_OUTCOME: Record<Outcome, number> = {
  done: 0,
  failed: EXIT_FAILED,
  'nothing sent': EXIT_NOTHING_SENT,
};

const COMMANDS: Record<CommandName, (options: Options) => Promise<number>> = {
  run: async (options) => {
    const settings = readSettings(process.env, givenBy(options));
    const log = createLog(settings.logLevel, openOutput(process.env['JOURNAL_STREAM'] ?? null));
    await enterState(settings);
    requireKey(settings);
    await new SignersFile(settings).read();
    const stop = stopOnSignals((signal) => log.info({ signal }, 'ending'));
    const agent = await Agent.open(settings, { clock: systemClock, random: Math.random, log, stop });
    log.info({ server: settings.server.origin, name: settings.name, stateDir: settings.stateDir }, 'started');
    const outcome = options.once ? await agent.once() : await agent.run().then(() => 'done' as const);
    agent.close();
    log.info('ended');
    return EXIT_BY_OUTCOME[outcome];
  },
  register: async (options) => {
    const settings = readSettings(process.env, givenBy(options));
    await enterFolder(settings);
    await new SignersFile(settings).keepCopy();
    const running = await registeredAndRunning(settings);
    if (running === null) await lockWorkingFolder();
    const registered = running ?? (await register(settings, stopOnSignals()));
    print(options, registered, (each) => describeRegistered(each, runLine(settings)));
    return 0;
  },
  status: async (options) => {
    const settings = readSettings(process.env, givenBy(options));
    print(options, await readStatus(settings), (status) => describeStatus(status, systemClock.now()));
    return 0;
  },
  install: async (options) => {
    const request = installOptionsOf(options);
    if (process.platform === 'win32') print(options, windowsCommands(planService(request)), String);
    else if (options.print) print(options, unitOf(planService(request)), String);
    else print(options, await install(request), describeInstallation);
    return 0;
  },
  uninstall: async (options) => {
    if (process.platform === 'win32') print(options, windowsRemoval(), String);
    else print(options, await uninstall(installOptionsOf(options)), describeRemoval);
    return 0;
  },
};

async function main(): Promise<number> {
  const request = readCommandLine(process.argv.slice(2));
  if (request.kind === 'command') return COMMANDS[request.name](request.options);
  const version = readVersion();
  if (request.kind === 'help') process.stdout.write(USAGE);
  else print(request, { name: 'hawser-agent', version }, () => `hawser-agent ${version}\n`);
  return 0;
}

function givenBy(options: Options): Given {
  const { config: configFile, csr, signers } = options;
  return { configFile, csr, keyFile: options['key-file'], signers, refuseOlder: options['refuse-older'] };
}

function installOptionsOf({ root, config, 'read-only': readOnly = false }: Options): InstallOptions {
  if (root === '') throw new UsageError('install: --root is empty');
  const given = settingsOf(process.env);
  const folder = root === undefined ? null : resolve(root);
  return {
    root: folder,
    config: config ?? null,
    given,
    isReadOnly: readOnly,
    program: import.meta.filename,
    systemctl: runSystemctl,
  };
}

/** Makes this process the only agent of the state folder. */
async function enterState(settings: AgentSettings): Promise<void> {
  await enterFolder(settings);
  await lockWorkingFolder();
}

async function enterFolder({ stateDir }: AgentSettings): Promise<void> {
  await makePrivateFolder(stateDir);
  await requireOwnFolder(stateDir);
  // All paths in the settings are absolute.
  process.chdir(stateDir);
}

/** The command line that runs the agent with these settings. */
function runLine({ file }: AgentSettings): string {
  const words = ['node', import.meta.filename, 'run', ...(file === null ? [] : ['--config', file])];
  return words.map((word) => (/^[\w./-]+$/.test(word) ? word : `"${word}"`)).join(' ');
}

function print<T>({ json }: { json?: boolean }, value: T, describe: (value: T) => string): void {
  process.stdout.write(json ? `${JSON.stringify(value)}\n` : describe(value));
}

/** Later signals are ignored: ending takes seconds at most, and under npm Ctrl-C arrives twice. */
function stopOnSignals(onStop: (signal: string) => void = () => undefined): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) return;
      onStop(signal);
      controller.abort();
    });
  }
  return controller.signal;
}

/** Writes one line for the person, with the usage after a wrong command line. */
function explain(error: unknown): number {
  process.stderr.write(`hawser-agent: ${messageOf(error)}\n`);
  if (error instanceof UsageError) {
    process.stderr.write(`\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (error instanceof ConfigError) return EXIT_CONFIG;
  return error instanceof Unreachable ? EXIT_NOTHING_SENT : EXIT_FAILED;
}

function messageOf(error: unknown): string {
  if (error instanceof Refusal && error.detail !== '') {
    const said = [error.code, error.detail].filter(Boolean).join(': ');
    return error.nextStep === null ? said : `${said.replace(/\.$/, '')}. ${error.nextStep}`;
  }
  return error instanceof Error ? error.message : String(error);
}

main()
  .catch(explain)
  .then((code) => {
    process.exitCode = code;
  });
