/** The agent's settings: from a JSON file and HAWSER_AGENT_* variables, which win; read once, validated, frozen. */

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { parseDuration } from '../domain/duration.ts';
import { normalizeHostName } from '../domain/names.ts';
import { LOG_LEVELS } from '../lib/log.ts';

const PREFIX = 'HAWSER_AGENT_';
const KIB = 1024;
const BYTE_UNITS: Record<string, number> = { b: 1, kib: KIB, mib: KIB ** 2, gib: KIB ** 3 };

/** A setting that cannot be used: one line that names it, its fault, and what is allowed. */
export class SettingsError extends Error {
  constructor(name: string, fault: string, allowed: string) {
    super(`${name}: ${fault}; allowed: ${allowed}`);
    this.name = 'SettingsError';
  }
}

/** Text that a reader turns into a value, or null where it is none. */
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

const SETTINGS = {
  server: text('a URL such as https://hawser.example.org:8443', readServer),
  caFile: Path.optional(),
  fingerprint: text('the SHA-256 of a certificate, 64 hex digits', readFingerprint).optional(),
  registrationKey: z.string().min(1).optional(),
  registrationKeyFile: Path.optional(),
  stateDir: Path.default('./agent-state'),
  name: text('a host name', normalizeHostName).prefault(hostname()),
  interval: Duration.prefault('00:15:00'),
  mode: choice('Monitor', 'Remediate').default('Monitor'),
  command: Command.optional(),
  commandTimeout: Duration.prefault('01:00:00'),
  outputLimit: Bytes.prefault('4MiB'),
  bundleLimit: Bytes.prefault('256MiB'),
  csr: Flag.default(false),
  logLevel: choice(...LOG_LEVELS).default('info'),
};
const Settings = z.strictObject(SETTINGS);
const MEMBERS = Object.keys(SETTINGS);

type Environment = Record<string, string | undefined>;
type Given = z.output<typeof Settings>;

/** Paths are absolute, sizes bytes. What is null was not given. */
export interface AgentSettings
  extends Pick<
    Given,
    | 'server'
    | 'stateDir'
    | 'name'
    | 'interval'
    | 'mode'
    | 'commandTimeout'
    | 'outputLimit'
    | 'bundleLimit'
    | 'logLevel'
  > {
  /** PEM of the authorities to trust in place of the system's. */
  ca: string | null;
  /** SHA-256 of the server's own certificate, 64 lower-case hex digits. */
  fingerprint: string | null;
  registrationKey: string | null;
  /** Program and arguments with `{operation}`, `{entryPoint}` and `{parametersFile}` in them. */
  command: readonly string[] | null;
  /** Whether the server's authority issues the certificates. */
  csr: boolean;
  /** What the command gets to see: no setting of the agent's own. */
  environment: Environment;
}

/**
 * @param given what the command line says: it wins over everything
 * @throws SettingsError on a bad, doubled, missing or unknown setting
 */
export function readSettings(
  env: Environment,
  given: { configFile?: string; csr?: boolean } = {},
): Readonly<AgentSettings> {
  const { values, names } = collect(env, given.configFile ?? env[`${PREFIX}CONFIG`]);
  if (given.csr) values['csr'] = true;
  const parsed = Settings.safeParse(values);
  if (!parsed.success) throw faultOf(parsed.error, names);
  const settings = parsed.data;
  if (settings.registrationKey !== undefined && settings.registrationKeyFile !== undefined) {
    throw new SettingsError(
      nameOf(names, 'registrationKey'),
      'given twice, also as a file',
      'one of the two',
    );
  }
  const fileName = (member: string) => nameOf(names, member);
  return Object.freeze({
    ...settings,
    stateDir: resolve(settings.stateDir),
    ca: settings.caFile === undefined ? null : readText(fileName('caFile'), settings.caFile),
    fingerprint: settings.fingerprint ?? null,
    registrationKey:
      settings.registrationKey ?? readKey(fileName('registrationKeyFile'), settings.registrationKeyFile),
    command: settings.command ?? null,
    environment: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith(PREFIX))),
  });
}

interface Collected {
  values: Record<string, unknown>;
  /** Where each member was given, for messages. */
  names: Map<string, string>;
}

function collect(env: Environment, file: string | undefined): Collected {
  const values: Record<string, unknown> = {};
  const names = new Map<string, string>();
  if (file !== undefined && file !== '') {
    for (const [member, value] of Object.entries(readObject(file))) {
      // Paths in the file mean the same wherever the agent is started.
      const isPath = PATHS.has(member) && typeof value === 'string' && value !== '';
      values[member] = isPath ? resolve(dirname(file), value) : value;
      names.set(member, `${file}, ${member}`);
    }
  }
  const known = new Map(MEMBERS.map((member) => [toVariable(member), member]));
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith(PREFIX) || name === `${PREFIX}CONFIG`) continue;
    const member = known.get(name);
    if (member === undefined) throw new SettingsError(name, 'no such setting', [...known.keys()].join(', '));
    if (value === undefined || value === '') continue;
    values[member] = STRUCTURED.has(member) ? readJson(value) : value;
    names.set(member, name);
  }
  return { values, names };
}

const PATHS = new Set(['caFile', 'registrationKeyFile', 'stateDir']);
/** Settings that are JSON in the environment too. */
const STRUCTURED = new Set(['command', 'csr']);

/** `stateDir` is `HAWSER_AGENT_STATE_DIR` in the environment. */
function toVariable(member: string): string {
  return PREFIX + member.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

function nameOf(names: Collected['names'], member: string): string {
  return names.get(member) ?? toVariable(member);
}

function faultOf(error: z.ZodError, names: Collected['names']): SettingsError {
  const issue = error.issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const member = issue.keys[0] ?? '';
    return new SettingsError(nameOf(names, member), 'no such setting', MEMBERS.join(', '));
  }
  const name = nameOf(names, String(issue?.path[0] ?? ''));
  if (name === `${PREFIX}SERVER` && !names.has('server')) {
    return new SettingsError(name, 'missing', 'a URL such as https://hawser.example.org:8443');
  }
  const [fault = '', allowed = 'text'] = (issue?.message ?? '').split('; allowed: ');
  return new SettingsError(name, fault, allowed);
}

function readText(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new SettingsError(name, 'the file cannot be read', 'the path of a readable file');
  }
}

/** The first line, so that an editor's newline does no harm. */
function readKey(name: string, path: string | undefined): string | null {
  if (path === undefined) return null;
  const key = readText(name, path).split(/\r?\n/, 1)[0] ?? '';
  if (key === '') throw new SettingsError(name, 'the file is empty', 'a file with the key in its first line');
  return key;
}

function readObject(file: string): Record<string, unknown> {
  const value = readJson(readText('the settings file', file));
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new SettingsError(file, 'not a JSON object', 'one object whose members are settings');
}

/** Text that is no JSON stays text, for the check to refuse. */
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
