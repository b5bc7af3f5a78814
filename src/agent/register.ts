/** The command `register`: it makes the machine a node of the server, and says what the node lacks. */

import { ConfigError } from '../config.ts';
import { systemClock } from '../lib/clock.ts';
import { createLog } from '../lib/log.ts';
import { thumbprintOf } from './certificates.ts';
import { enrollmentOf } from './enrollment.ts';
import { planFor, toReported } from './plan.ts';
import { describeMissing, findProgram } from './programs.ts';
import { askSecret } from './secret-prompt.ts';
import type { AgentSettings } from './settings.ts';
import { hasAgent, isRegisteredIn, StateFolder } from './state.ts';

/** What `--json` prints. */
export interface Registered {
  nodeId: string;
  name: string;
  server: string;
  thumbprint: string;
  /** Whether the node was registered before. */
  wasRegistered: boolean;
  /** The program of the command and whether it is on this machine; null when there is no command. */
  command: { program: string; isFound: boolean } | null;
}

/**
 * Registers the node, or checks that the server still knows it.
 * @throws ConfigError when a key is needed, and there is neither one nor somebody to ask
 * @throws Unreachable, Interrupted, or Refusal
 */
export async function register(settings: AgentSettings, stop: AbortSignal): Promise<Registered> {
  const state = await StateFolder.open(settings.stateDir);
  const wasRegistered = (await state.nodeId()) !== null;
  const registrationKey = wasRegistered ? null : (settings.registrationKey ?? (await askForKey(settings)));
  // What matters is the result of the command. The log is for the service.
  const dependencies = { clock: systemClock, log: createLog('silent'), stop };
  const enrollment = enrollmentOf({ ...settings, registrationKey }, dependencies, state);
  try {
    const { certificate } = await enrollment.signIn(toReported(planFor(settings, null)));
    return {
      nodeId: (await state.nodeId()) ?? '',
      name: settings.name,
      server: settings.server.origin,
      thumbprint: thumbprintOf(certificate),
      wasRegistered,
      command: await lookForCommand(settings),
    };
  } finally {
    enrollment.close();
  }
}

/**
 * What is known without the server, of a node whose agent runs.
 * @returns null where the node is not registered, or no agent works in its state folder, which is the working folder
 */
export async function registeredAndRunning(settings: AgentSettings): Promise<Registered | null> {
  const state = StateFolder.at(settings.stateDir);
  const [nodeId, identity] = [await state.nodeId(), await state.identity('current')];
  if (nodeId === null || identity === null || !(await hasAgent())) return null;
  return {
    ...{ nodeId, name: settings.name, server: settings.server.origin },
    ...{ thumbprint: thumbprintOf(identity.certificate), wasRegistered: true },
    command: await lookForCommand(settings),
  };
}

/**
 * Tells a person what was done, what is missing, and what is next.
 * @param run the command line that runs the agent
 */
export function describeRegistered(registered: Registered, run: string): string {
  const { nodeId, name, server, wasRegistered, command } = registered;
  const lines = [
    `${name} ${wasRegistered ? 'was registered before' : 'is registered'} at ${server} as ${nodeId}`,
  ];
  if (command !== null && !command.isFound) lines.push(describeMissing(command.program));
  if (!wasRegistered)
    lines.push(
      'next:',
      `  ${run}`,
      `  ${assigning(name)}    unless the key or a rule has assigned it already`,
    );
  return lines.map((line) => `${line}\n`).join('');
}

/** The command line that assigns a configuration to this node, for whoever may do that. */
export function assigning(name: string): string {
  return `hawserctl node assign ${name} --configuration NAME`;
}

/** @returns null when there is no command */
export async function lookForCommand({
  command: [program],
  environment,
  stateDir,
}: Pick<AgentSettings, 'command' | 'environment' | 'stateDir'>): Promise<Registered['command']> {
  if (program === undefined) return null;
  return { program, isFound: (await findProgram(program, environment, stateDir)) !== null };
}

async function askForKey({ name, server }: AgentSettings): Promise<string> {
  const asked = process.stdin.isTTY
    ? await askSecret(`Registration key for ${name} at ${server.origin}: `)
    : null;
  const key = asked?.trim() ?? '';
  if (key !== '') return key;
  throw missingKey();
}

/**
 * What `run` needs, which asks nobody.
 * @throws ConfigError when the node is not registered, and there is no key
 */
export function requireKey({ stateDir, registrationKey }: AgentSettings): void {
  if (registrationKey === null && !isRegisteredIn(stateDir)) throw missingKey();
}

function missingKey(): ConfigError {
  const allowed = 'a file with the key (also as --key-file), or HAWSER_AGENT_REGISTRATION_KEY';
  return new ConfigError(
    'registrationKeyFile',
    'this node is not registered yet, and there is no key',
    allowed,
  );
}
