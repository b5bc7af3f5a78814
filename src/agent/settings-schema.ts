/** The settings of the agent: what each may be, and what it is where it is not given. */

import { hostname } from 'node:os';
import { z } from 'zod';
import { readFingerprint } from '../client/trust.ts';
import { parseDuration } from '../domain/duration.ts';
import { normalizeHostName } from '../domain/names.ts';
import { LOG_LEVELS } from '../lib/log.ts';
import { DSC_COMMAND } from './programs.ts';

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
  .refine(([program]) => program !== '', `no program; allowed: ${COMMAND_FORM}`)
  .default([...DSC_COMMAND]);

/** Null stands for a setting that is not given. */
const optional = <T extends z.ZodType>(schema: T) => schema.optional().transform((value) => value ?? null);

/** All settings. Null stands for one that was not given. */
export const Settings = z.strictObject({
  server: text('a URL such as https://hawser.example.org:8443', readServer),
  caFile: optional(Path),
  /** SHA-256 of the server's own certificate or of its authority's, 64 lower-case hex digits. */
  fingerprint: optional(text('the SHA-256 of a certificate, 64 hex digits', readFingerprint)),
  registrationKey: optional(z.string().min(1)),
  registrationKeyFile: optional(Path),
  stateDir: optional(Path),
  name: text('a host name', normalizeHostName).prefault(hostname()),
  interval: Duration.prefault('00:15:00'),
  mode: choice('Monitor', 'Remediate').default('Monitor'),
  /**
   * A program and its arguments, which may contain `{operation}`, `{entryPoint}` and `{parametersFile}`. If the list is
   * empty, bundles are only unpacked.
   */
  command: Command,
  commandTimeout: Duration.prefault('01:00:00'),
  outputLimit: Bytes.prefault('4MiB'),
  bundleLimit: Bytes.prefault('256MiB'),
  /** True if the server's authority issues the certificates. */
  csr: Flag.default(false),
  /** A file of those who may sign what this node runs, as the allowed_signers of OpenSSH. */
  signers: optional(Path),
  /** True if no version is run that is below the highest one that was. */
  refuseOlder: Flag.default(false),
  logLevel: choice(...LOG_LEVELS).default('info'),
});
/** The names of all settings. */
export const MEMBERS = Object.keys(Settings.shape);

function readServer(value: string): URL | null {
  if (!URL.canParse(value)) return null;
  const url = new URL(value);
  const isBare = url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '';
  return url.protocol === 'https:' && isBare && url.password === '' ? url : null;
}

function readBytes(value: string): number | null {
  const match = /^(\d{1,12})(B|KiB|MiB|GiB)?$/i.exec(value);
  const bytes = match ? Number(match[1]) * (BYTE_UNITS[(match[2] ?? 'b').toLowerCase()] ?? 1) : 0;
  return bytes >= 1 && Number.isSafeInteger(bytes) ? bytes : null;
}
