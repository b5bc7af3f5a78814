/** The agent's settings, from a JSON file and from HAWSER_AGENT_* variables, which win. They are read once and frozen. */

import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { ConfigError } from '../config.ts';
import { describeIssue } from '../lib/issue-text.ts';
import { MEMBERS, Settings } from './settings-schema.ts';
import { isRegisteredIn } from './state.ts';

const PREFIX = 'HAWSER_AGENT_';
type Environment = Record<string, string | undefined>;

/** Where `install` puts the settings, and the state that it makes. */
export const INSTALLED = { settings: '/etc/hawser-agent/settings.json', state: '/var/lib/hawser-agent' };

/** Paths are absolute, sizes are in bytes, and null stands for a setting that was not given. */
export interface AgentSettings extends z.output<typeof Settings> {
  stateDir: string;
  /** The file that the settings came from; null when all came from the environment. */
  file: string | null;
  /** PEM of the authorities that are trusted in place of those of the system. */
  ca: string | null;
  /** The environment of the command, without the settings of the agent. */
  environment: Environment;
}

/** Settings of the command line, which win over all others. */
export interface Given {
  configFile?: string | undefined;
  csr?: boolean | undefined;
  keyFile?: string | undefined;
  signers?: string | undefined;
  refuseOlder?: boolean | undefined;
}

/**
 * @param installed where an installed agent has its files
 * @throws ConfigError when a setting is wrong, missing, unknown or given twice
 */
export function readSettings(
  env: Environment,
  given: Given = {},
  installed: typeof INSTALLED = INSTALLED,
): Readonly<AgentSettings> {
  const file = findFile(env, given, installed.settings);
  const { values, names } = collect(env, file);
  if (given.csr) values['csr'] = true;
  if (given.refuseOlder) values['refuseOlder'] = true;
  if (given.signers !== undefined) {
    values['signers'] = given.signers;
    names.set('signers', '--signers');
  }
  if (given.keyFile !== undefined) {
    values['registrationKeyFile'] = given.keyFile;
    delete values['registrationKey'];
    names.set('registrationKeyFile', '--key-file');
  }
  const parsed = Settings.safeParse(values, { error: describeIssue });
  if (!parsed.success) throw faultOf(parsed.error, names);
  const settings = parsed.data;
  const { registrationKey, registrationKeyFile, caFile } = settings;
  if (registrationKey !== null && registrationKeyFile !== null) {
    throw new ConfigError(nameOf(names, 'registrationKey'), 'given twice, also as a file', 'one of the two');
  }
  const defaultState = existsSync(installed.state) ? installed.state : './agent-state';
  const stateDir = resolve(settings.stateDir ?? defaultState);
  // A registered node needs no key any more, so whoever cares has removed the file.
  const keyFile = isRegisteredIn(stateDir) ? null : registrationKeyFile;
  return Object.freeze({
    ...settings,
    file: file === null ? null : resolve(file),
    stateDir,
    // The working folder becomes another one.
    signers: settings.signers && resolve(settings.signers),
    ca: caFile && readText(nameOf(names, 'caFile'), caFile),
    registrationKey:
      keyFile === null ? registrationKey : readKey(nameOf(names, 'registrationKeyFile'), keyFile),
    environment: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(PREFIX))),
  });
}

/**
 * What an installation must know of a settings file. The files that it names are not read, because they may be on
 * another machine.
 * @throws ConfigError as `readSettings`
 */
export function readForInstallation(file: string): Pick<z.output<typeof Settings>, 'stateDir'> {
  const { values, names } = collect({}, file);
  const parsed = Settings.safeParse(values, { error: describeIssue });
  if (!parsed.success) throw faultOf(parsed.error, names);
  return parsed.data;
}

/**
 * What the environment says, as the content of a settings file. The registration key is left out, because it is needed
 * once and the file stays. Null when the environment does not name a server.
 */
export function settingsOf(env: Environment): Record<string, unknown> | null {
  const { values } = collect(env, null);
  const { registrationKey: _, ...kept } = values;
  if (kept['server'] === undefined) return null;
  for (const member of PATHS) {
    if (typeof kept[member] === 'string') kept[member] = resolve(kept[member]);
  }
  return kept;
}

/** The settings of an installed agent are read only where nothing else names a server. */
function findFile(env: Environment, { configFile }: Given, installed: string): string | null {
  const named = configFile ?? env[`${PREFIX}CONFIG`] ?? '';
  if (named !== '') return named;
  const isNamed = (env[`${PREFIX}SERVER`] ?? '') !== '';
  return !isNamed && existsSync(installed) ? installed : null;
}

interface Collected {
  values: Record<string, unknown>;
  /** The places where the members were given, for messages. */
  names: Map<string, string>;
}

function collect(env: Environment, file: string | null): Collected {
  const values: Record<string, unknown> = {};
  const names = new Map<string, string>();
  for (const [member, value] of Object.entries(file === null ? {} : readObject(file))) {
    values[member] = besideFile(file ?? '', member, value);
    names.set(member, `${file}, ${member}`);
  }
  const known = new Map(MEMBERS.map((member) => [toVariable(member), member]));
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || name === `${PREFIX}CONFIG`) continue;
    const member = known.get(name);
    if (member === undefined) throw new ConfigError(name, 'no such setting', [...known.keys()].join(', '));
    if (value === undefined || value === '') continue;
    values[member] = STRUCTURED.has(member) ? readJson(value) : value;
    names.set(member, name);
  }
  return { values, names };
}

/** Paths in the file are relative to the file, so that they do not depend on where the agent is started. */
function besideFile(file: string, member: string, value: unknown): unknown {
  if (PATHS.has(member) && typeof value === 'string' && value !== '') return resolve(dirname(file), value);
  if (member !== 'command' || !Array.isArray(value)) return value;
  const [program, ...args] = value;
  // A program without a slash is looked for in PATH.
  const isPath = typeof program === 'string' && /[/\\]/.test(program);
  return isPath ? [resolve(dirname(file), program), ...args] : value;
}

const STDIN = 0;
const PATHS = new Set(['caFile', 'registrationKeyFile', 'signers', 'stateDir']);
/** Settings whose variables are JSON. */
const STRUCTURED = new Set(['command', 'csr', 'refuseOlder']);

/** The name of the variable, such as `HAWSER_AGENT_STATE_DIR` for `stateDir`. */
function toVariable(member: string): string {
  return PREFIX + member.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function nameOf(names: Collected['names'], member: string): string {
  return names.get(member) ?? toVariable(member);
}

function faultOf(error: z.ZodError, names: Collected['names']): ConfigError {
  const issue = error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const member = issue.keys[0] ?? '';
    return new ConfigError(nameOf(names, member), 'no such setting', MEMBERS.join(', '));
  }
  const name = nameOf(names, String(issue?.path[0] ?? ''));
  if (name === `${PREFIX}SERVER` && !names.has('server')) {
    return new ConfigError(name, 'missing', 'a URL such as https://hawser.example.org:8443');
  }
  const [fault = '', allowed = 'text'] = (issue?.message ?? '').split('; allowed: ');
  return new ConfigError(name, fault, allowed);
}

/** @param path a number is a file that is open already */
function readText(name: string, path: string | number): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(name, 'the file cannot be read', 'the path of a readable file');
  }
}

/** Reads the first line alone, because editors end a file with a newline. A hyphen on the command line is stdin. */
function readKey(name: string, path: string): string {
  const key = readText(name, path === '-' ? STDIN : path).split(/\r?\n/, 1)[0] ?? '';
  if (key === '') throw new ConfigError(name, 'the file is empty', 'a file with the key in its first line');
  return key;
}

function readObject(file: string): Record<string, unknown> {
  const value = readJson(readText('the settings file', file));
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new ConfigError(file, 'not a JSON object', 'one object whose members are settings');
}

/** Text that is not JSON stays as it is, and fails the validation later. */
function readJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
