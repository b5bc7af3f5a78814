#!/usr/bin/env node
/** The agent's process: command line, settings, signals, exit codes. */

import { parseArgs } from 'node:util';
import { systemClock } from '../lib/clock.ts';
import { makePrivateFolder } from '../lib/folders.ts';
import { createLog, type Log } from '../lib/log.ts';
import { Agent } from './agent.ts';
import { lockWorkingFolder } from './lock.ts';
import { readSettings, SettingsError } from './settings.ts';

/** EX_USAGE and EX_CONFIG of BSD sysexits. */
const EXIT_USAGE = 64;
const EXIT_CONFIG = 78;

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
  // Every path in the settings is absolute by now.
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

function readArguments(): { once: boolean; csr: boolean; help: boolean; config: string | undefined } {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const { values } = parseArgs({
      options: { once: flag, csr: flag, help: flag, config: { type: 'string' } },
    });
    return { once: values.once, csr: values.csr, help: values.help, config: values.config };
  } catch (error) {
    process.stderr.write(
      `hawser-agent: ${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`,
    );
    process.exit(EXIT_USAGE);
  }
}

/** Ctrl-C under npm arrives twice; asking again changes nothing, because ending takes seconds at most. */
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

main().catch((error: unknown) => {
  process.stderr.write(`hawser-agent: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof SettingsError ? EXIT_CONFIG : 1);
});
