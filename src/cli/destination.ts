/** Which server a command talks to, and as whom: the environment goes before what `login` has kept. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Api } from '../client/api.ts';
import { Connection } from '../client/connection.ts';
import { isCertificates, type Trust } from '../client/trust.ts';
import { readVersion } from '../lib/version.ts';
import { Failure, UsageError } from './errors.ts';
import type { HostStore } from './hosts.ts';

export interface Destination {
  url: URL;
  trust: Trust;
  token: string;
}

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  hosts: HostStore;
}

/**
 * @throws Failure where no server or no token is known, UsageError where a variable is wrong
 */
export function findDestination({ env, cwd, hosts }: Surroundings): Destination {
  const given = env['HAWSER_URL'] || null;
  const { current } = hosts.read();
  const origin = given === null ? current : readUrl(given, 'HAWSER_URL').origin;
  if (origin === null)
    throw new Failure(
      'No server is known. Sign in with "hawserctl login <url>", or set HAWSER_URL and HAWSER_TOKEN.',
    );
  const kept = hosts.find(origin);
  const token = env['HAWSER_TOKEN'] || kept?.token;
  if (token === undefined)
    throw new Failure(
      `There is no token for ${origin}. Sign in with "hawserctl login ${origin}", or set HAWSER_TOKEN.`,
    );
  const file = env['HAWSER_CA_FILE'] || null;
  const trust = file === null ? (kept?.trust ?? { kind: 'system' as const }) : trustFile(resolve(cwd, file));
  return { url: new URL(origin), trust, token: readToken(token, 'HAWSER_TOKEN') };
}

/** Makes the client. @param onWait is told when the server asks to come again later */
export function openApi(
  { url, trust, token }: { url: URL; trust: Trust; token: string | null },
  onWait?: (seconds: number) => void,
): { api: Api; connection: Connection } {
  const connection = new Connection(url, trust);
  const headers = {
    ...ownHeaders(),
    ...(token !== null && { Authorization: `Bearer ${token}` }),
  };
  return { api: new Api(connection, headers, { onWait }), connection };
}

/** What every request of this program says. */
export function ownHeaders(): Record<string, string> {
  return { 'User-Agent': `hawserctl/${readVersion()}` };
}

/**
 * Reads the address of a server. A bare name counts as https.
 * @param name of the argument or variable, for the error
 * @throws UsageError, which does not repeat the text, because it may hold a password
 */
export function readUrl(text: string, name: string): URL {
  const full = /^[a-z]+:\/\//i.test(text) ? text : `https://${text}`;
  const url = URL.canParse(full) ? new URL(full) : null;
  if (url === null || url.hostname === '')
    throw new UsageError(`${name} is no address such as https://hawser.example:8443.`);
  if (url.protocol !== 'https:')
    throw new UsageError(`${name} must begin with https://, so that no secret is sent in the clear.`);
  if (`${url.username}${url.password}` !== '')
    throw new UsageError(`${name} must not hold a user or a password.`);
  if (`${url.pathname}${url.search}${url.hash}` !== '/')
    throw new UsageError(`${name} must end after the host and the port.`);
  return url;
}

/** @throws UsageError, which does not repeat the token */
export function readToken(text: string, name: string): string {
  const token = text.trim();
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError(`${name} holds no token, which is one word of letters and digits.`);
}

/** @throws Failure, UsageError */
export function trustFile(file: string): Trust {
  const pem = readGiven(file);
  if (!isCertificates(pem)) throw new UsageError(`${file} holds no certificate in PEM.`);
  return { kind: 'authority', pem };
}

/** @throws Failure */
function readGiven(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Failure(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`);
  }
}
