#!/usr/bin/env node
/** The process of the agent: its command line, its signals and its exit codes. */

import { parseArgs } from 'node:util';
import { ConfigError, EXIT_CONFIG } from '../config.ts';
import { systemClock } from '../lib/clock.ts';
import { makePrivateFolder } from '../lib/folders.ts';
import { createLog, type Log } from '../lib/log.ts';
import { Agent } from './agent.ts';
import { readSettings } from './settings.ts';
import { lockWorkingFolder } from './state.ts';

/** EX_USAGE of BSD sysexits. */
const EXIT_USAGE = 64;

const USAGE = `usage: hawser-agent [--once] [--csr] [--config <file>]

  --once           one cycle; ends with 0 when it went through and the command had no errors, else with 1
  --csr            have the server's authority issue the certificates
  --config <file>  JSON file of settings; HAWSER_AGENT_* variables win over it
`;

async function main(): Promise<void> {
  const { once, csr, config, help } = readArguments();
  if (help) {
    process.stdout.write(USAGE);
    return;
  }
  const settings = readSettings(process.env, {
    csr,
    ...(config === undefined ? {} : { configFile: config }),
  });
  const log = createLog(settings.logLevel);
  await makePrivateFolder(settings.stateDir);
  // All paths in the settings are absolute.
  process.chdir(settings.stateDir);
  await lockWorkingFolder();
  const stop = stopOnSignals(log);
  const agent = await Agent.open(settings, { clock: systemClock, random: Math.random, log, stop });
  log.info({ server: settings.server.origin, name: settings.name, stateDir: settings.stateDir }, 'started');
  if (once) process.exitCode = (await agent.once()) ? 0 : 1;
  else await agent.run();
  agent.close();
  log.info('ended');
}

function readArguments() {
  const flag = { type: 'boolean', default: false } as const;
  try {
    return parseArgs({ options: { once: flag, csr: flag, help: flag, config: { type: 'string' } } }).values;
  } catch (error) {
    process.stderr.write(`hawser-agent: ${messageOf(error)}\n\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}

/** Later signals are ignored: ending takes seconds at most, and under npm Ctrl-C arrives twice. */
function stopOnSignals(log: Log): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (controller.signal.aborted) return;
      log.info({ signal }, 'ending');
      controller.abort();
    });
  }
  return controller.signal;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

main().catch((error: unknown) => {
  process.stderr.write(`hawser-agent: ${messageOf(error)}\n`);
  process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
});
