/** Reads the file that names the identity providers, and the files with their secrets. A fault names the member. */

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isPrintable } from '../../domain/names.ts';
import { isSafeUrl } from '../../lib/safe-url.ts';
import { ConfigError } from '../../lib/settings-reader.ts';
import { splitCertificates } from '../certificates.ts';

/** An identity provider, as the file has it, with the content of the files that it names. */
export interface ProviderSettings extends Entry {
  clientSecret: string;
  /** The authorities that its certificate may be under, as PEM; null for those of Node.js. */
  ca: string | null;
}

type Entry = z.output<ReturnType<typeof entrySchema>>;

const SETTING = 'HAWSER_OIDC_FILE';
/** Public keys only: with a secret as the key, whoever knows the secret could sign in as anybody. */
export const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

const Pointer = z
  .string()
  .regex(/^(?:\/(?:[^~/]|~[01])*)+$/, 'not a JSON Pointer, such as /preferred_username');
const Text = z.string().min(1).max(1_024);

const entrySchema = (isDevelopment: boolean) =>
  z.strictObject({
    name: z
      .string()
      .regex(
        /^[a-z0-9][a-z0-9-]{0,31}$/,
        '1 to 32 small letters, digits and hyphens, as it stands in addresses',
      )
      .refine((name) => name !== 'local', 'local is the name of passwords'),
    label: z.string().refine((label) => isPrintable(label, 64), '1 to 64 printable characters'),
    issuer: Text.refine((issuer) => isSafeUrl(issuer, isDevelopment), 'not an https address'),
    clientId: Text,
    clientSecretFile: Text,
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'not a scope'))
      .default(['openid', 'profile', 'email'])
      .refine((scopes) => scopes.includes('openid'), 'openid is missing'),
    usernameClaim: Pointer.default('/preferred_username'),
    emailClaim: Pointer.default('/email'),
    groupsClaim: Pointer.nullable().default(null),
    allowedGroups: z.array(Text).min(1, 'name the groups, or ["*"] for anyone'),
    createUsers: z.boolean().default(true),
    idTokenAlg: z.enum(ALGORITHMS).default('RS256'),
    caFile: Text.nullable().default(null),
    tokenMaxAgeDays: z.int().min(1).max(3_650).default(30),
  });

/**
 * @param isDevelopment whether issuers on this machine may be reached without TLS
 * @throws ConfigError for the first fault. It never holds a secret
 */
export function readProviders(file: string, isDevelopment: boolean): ProviderSettings[] {
  const parsed = z.array(entrySchema(isDevelopment)).safeParse(parse(readText(file, 'the file')));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw fault(placeOf(issue?.path ?? []), issue?.message ?? 'not a list of providers');
  }
  const names = new Set<string>();
  return parsed.data.map((entry, at) => {
    const { clientSecretFile, caFile } = entry;
    if (names.has(entry.name)) throw fault(placeOf([at, 'name']), 'another provider has this name');
    names.add(entry.name);
    if (entry.groupsClaim === null && !entry.allowedGroups.includes('*'))
      throw fault(
        placeOf([at, 'allowedGroups']),
        'without groupsClaim nobody is in a group: this must be ["*"]',
      );
    const clientSecret = readText(clientSecretFile, placeOf([at, 'clientSecretFile'])).trim();
    if (clientSecret === '') throw fault(placeOf([at, 'clientSecretFile']), 'the file is empty');
    const ca = caFile === null ? null : readText(caFile, placeOf([at, 'caFile']));
    if (ca !== null && !hasCertificates(ca))
      throw fault(placeOf([at, 'caFile']), 'the file has no certificate in PEM, or one that is none');
    return { ...entry, clientSecret, ca };
  });
}

function readText(path: string, place: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw fault(place, 'cannot be read');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw fault('the file', 'not JSON');
  }
}

function hasCertificates(pem: string): boolean {
  try {
    return splitCertificates(pem).map((block) => new X509Certificate(block)).length > 0;
  } catch {
    return false;
  }
}

const placeOf = (path: readonly PropertyKey[]) => `/${path.map(String).join('/')}`;

const fault = (place: string, what: string) =>
  new ConfigError(SETTING, `${place}: ${what}`, 'a list of providers as docs/sign-in.md describes it');
