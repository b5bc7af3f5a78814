/** The agent's settings, from a JSON file and from HAWSER_AGENT_* variables, which win. They are read once and frozen. */

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ConfigError } from '../config.ts';
import { parseDuration } from '../domain/duration.ts';
import { normalizeHostName } from '../domain/names.ts';
import { describeIssue } from '../lib/issue-text.ts';
import { LOG_LEVELS } from '../lib/log.ts';

const PREFIX = 'HAWSER_AGENT_';
const KIB = 1024;
const BYTE_UNITS: Record<string, number> = { b: 1, kib: KIB, mib: KIB ** 2, gib: KIB ** 3 };

/** Text that a reader turns into a value. The reader returns null for text that it cannot use. */
function text<T>(allowed: string, read: (value: string) => T | null) {
  return z.string({ error: `not text; allowed: ${allowed}` }).transform((value, context) => {
    const found = read(value);
    if (found !== null) return found;
    context.addIssue({ code: 'custom', message: `not usable; allowed: ${allowed}` });
    return z.NEVER;
  });
}

const Path = text('a path', (value) => (value === '' ? null : value));
const Duration = text('a duration such as 00:15:00 or PT15M', parseDuration);
const Bytes = z.preprocess(
  (value) => (typeof value === 'number' ? String(value) : value),
  text('a size such as 4MiB', readBytes),
);
const choice = <T extends string>(...choices: T[]) =>
  text(
    choices.join(', '),
    (value) => choices.find((each) => each.toLowerCase() === value.toLowerCase()) ?? null,
  );
const Flag = z.boolean({ error: 'neither true nor false; allowed: true, false' });
const COMMAND_FORM =
  'a list of texts as JSON, such as ["dsc", "config", "{operation}", "--file", "{entryPoint}"]';
const Command = z
  .array(z.string({ error: `not a list; allowed: ${COMMAND_FORM}` }), {
    error: `not a list; allowed: ${COMMAND_FORM}`,
  })
  .refine(([program]) => program !== undefined && program !== '', `empty; allowed: ${COMMAND_FORM}`);

/** Null stands for a setting that is not given. */
const optional = <T extends z.ZodType>(schema: T) => schema.optional().transform((value) => value ?? null);

const Settings = z.strictObject({
  server: text('a URL such as https://hawser.example.org:8443', readServer),
  caFile: optional(Path),
  /** SHA-256 of the server's own certificate, 64 lower-case hex digits. */
  fingerprint: optional(text('the SHA-256 of a certificate, 64 hex digits', readFingerprint)),
  registrationKey: optional(z.string().min(1)),
  registrationKeyFile: optional(Path),
  stateDir: Path.default('./agent-state'),
  name: text('a host name', normalizeHostName).prefault(hostname()),
  interval: Duration.prefault('00:15:00'),
  mode: choice('Monitor', 'Remediate').default('Monitor'),
  /** A program and its arguments, which may contain `{operation}`, `{entryPoint}` and `{parametersFile}`. */
  command: optional(Command),
  commandTimeout: Duration.prefault('01:00:00'),
  outputLimit: Bytes.prefault('4MiB'),
  bundleLimit: Bytes.prefault('256MiB'),
  /** True if the server's authority issues the certificates. */
  csr: Flag.default(false),
  logLevel: choice(...LOG_LEVELS).default('info'),
});
const MEMBERS = Object.keys(Settings.shape);

type Environment = Record<string, string | undefined>;

/** Paths are absolute, sizes are in bytes, and null stands for a setting that was not given. */
export interface AgentSettings extends z.output<typeof Settings> {
  /** PEM of the authorities that are trusted in place of those of the system. */
  ca: string | null;
  /** The environment of the command, without the settings of the agent. */
  environment: Environment;
}

/**
 * @param given the settings of the command line, which win over all others
 * @throws ConfigError when a setting is wrong, missing, unknown or given twice
 */
export function readSettings(
  env: Environment,
  given: { configFile?: string; csr?: boolean } = {},
): Readonly<AgentSettings> {
  const { values, names } = collect(env, given.configFile ?? env[`${PREFIX}CONFIG`]);
  if (given.csr) values['csr'] = true;
  const parsed = Settings.safeParse(values, { error: describeIssue });
  if (!parsed.success) throw faultOf(parsed.error, names);
  const settings = parsed.data;
  const { registrationKey, registrationKeyFile, caFile } = settings;
  if (registrationKey !== null && registrationKeyFile !== null) {
    throw new ConfigError(nameOf(names, 'registrationKey'), 'given twice, also as a file', 'one of the two');
  }
  return Object.freeze({
    ...settings,
    stateDir: resolve(settings.stateDir),
    ca: caFile && readText(nameOf(names, 'caFile'), caFile),
    registrationKey:
      registrationKeyFile === null
        ? registrationKey
        : readKey(nameOf(names, 'registrationKeyFile'), registrationKeyFile),
    environment: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(PREFIX))),
  });
}

interface Collected {
  values: Record<string, unknown>;
  /** The places where the members were given, for messages. */
  names: Map<string, string>;
}

function collect(env: Environment, file: string | undefined): Collected {
  const values: Record<string, unknown> = {};
  const names = new Map<string, string>();
  if (file !== undefined && file !== '') {
    for (const [member, value] of Object.entries(readObject(file))) {
      // Paths in the file are relative to the file, so that they do not depend on where the agent is started.
      const isPath = PATHS.has(member) && typeof value === 'string' && value !== '';
      values[member] = isPath ? resolve(dirname(file), value) : value;
      names.set(member, `${file}, ${member}`);
    }
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

const PATHS = new Set(['caFile', 'registrationKeyFile', 'stateDir']);
/** Settings whose variables are JSON. */
const STRUCTURED = new Set(['command', 'csr']);

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

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError(name, 'the file cannot be read', 'the path of a readable file');
  }
}

/** Reads the first line alone, because editors end a file with a newline. */
function readKey(name: string, path: string): string {
  const key = readText(name, path).split(/\r?\n/, 1)[0] ?? '';
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

function readServer(value: string): URL | null {
  if (!URL.canParse(value)) return null;
  const url = new URL(value);
  const isBare = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  return url.protocol === 'https:' && isBare && url.password === '' ? url : null;
}

function readFingerprint(value: string): string | null {
  const digits = value.replaceAll(':', '').toLowerCase();
  return /^[0-9a-f]{64}$/.test(digits) ? digits : null;
}

function readBytes(value: string): number | null {
  const match = /^(\d{1,12})(B|KiB|MiB|GiB)?$/i.exec(value);
  const bytes = match ? Number(match[1]) * (BYTE_UNITS[(match[2] ?? 'b').toLowerCase()] ?? 1) : 0;
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : null;
}
