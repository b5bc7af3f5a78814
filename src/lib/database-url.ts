/**
 * The URL of a PostgreSQL database: what it may hold, what it means, and what may be told of it. It may hold a password, so
 * no text of this file repeats it.
 */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import { SECOND } from './clock.ts';

/** What `sslmode` may be. They mean what they mean to PostgreSQL's own programs. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof SSL_MODES)[number];

const PARAMETERS = ['sslmode', 'sslrootcert', 'connect_timeout', 'application_name'];
const DEFAULT_PORT = 5432;
/** Milliseconds that a new connection may take. */
const CONNECT_TIMEOUT = 2 * SECOND;

export interface DatabaseUrl {
  /** A name, an address, or the absolute path of the folder of a socket. */
  host: string;
  port: number;
  database: string;
  user: string;
  /** Null where there is none, as with a socket and the name of the system's user. */
  password: string | null;
  sslMode: SslMode;
  /** The absolute path of a PEM file. Without it the authorities that Node knows are trusted. */
  sslRootCert: string | null;
  /** The name under which PostgreSQL lists the connections. */
  applicationName: string;
  /** Milliseconds. */
  connectTimeout: number;
}

/** The URL cannot be used. The message names the fault and repeats nothing of the URL but the names of parameters. */
export class DatabaseUrlFault extends Error {}

/** @throws DatabaseUrlFault */
export function parseDatabaseUrl(text: string): DatabaseUrl {
  const url = parseUrl(text);
  const found = {
    host: decode(url.hostname).replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    database: decode(url.pathname.slice(1)),
    user: decode(url.username),
    password: url.password === '' ? null : decode(url.password),
  };
  for (const part of ['host', 'user', 'database'] as const)
    if (found[part] === '') throw new DatabaseUrlFault(`names no ${part}`);
  if (found.host.includes(',')) throw new DatabaseUrlFault('names more than one host');
  if (url.hash !== '') throw new DatabaseUrlFault('has a # in it');
  return { ...found, ...readParameters(url.searchParams) };
}

function parseUrl(text: string): URL {
  if (!URL.canParse(text)) throw new DatabaseUrlFault('not a URL');
  const url = new URL(text);
  if (/^postgres(?:ql)?:$/.test(url.protocol)) return url;
  throw new DatabaseUrlFault('not the URL of a PostgreSQL database');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlFault('has a % that begins no escape');
  }
}

function readParameters(parameters: URLSearchParams): Omit<DatabaseUrl, keyof Place | 'password'> {
  for (const name of parameters.keys()) {
    if (PARAMETERS.includes(name)) continue;
    // The rest of a password that holds a question mark would be taken for a parameter as well.
    throw new DatabaseUrlFault(
      `has a parameter ${/^\w{1,40}$/.test(name) ? `"${name}" that` : 'that'} is not known`,
    );
  }
  const sslMode = SSL_MODES.find((mode) => mode === (parameters.get('sslmode') ?? 'disable'));
  if (sslMode === undefined)
    throw new DatabaseUrlFault(`has an sslmode that is none of ${SSL_MODES.join(', ')}`);
  const sslRootCert = parameters.get('sslrootcert');
  if (sslRootCert !== null) requireFile(sslRootCert);
  if (sslMode === 'verify-ca' && sslRootCert === null)
    throw new DatabaseUrlFault(
      'has sslmode=verify-ca without sslrootcert, which would trust all authorities',
    );
  if (sslMode === 'disable' && sslRootCert !== null)
    throw new DatabaseUrlFault('has an sslrootcert, but no sslmode that uses it');
  return {
    sslMode,
    sslRootCert,
    applicationName: parameters.get('application_name') || 'hawser',
    connectTimeout: readTimeout(parameters.get('connect_timeout')),
  };
}

function requireFile(path: string): void {
  if (!isAbsolute(path)) throw new DatabaseUrlFault('has an sslrootcert that is no absolute path');
  try {
    readFileSync(path);
  } catch {
    throw new DatabaseUrlFault('has an sslrootcert that cannot be read');
  }
}

function readTimeout(text: string | null): number {
  if (text === null) return CONNECT_TIMEOUT;
  if (/^(?:[1-9]|[12]\d|30)$/.test(text)) return Number(text) * SECOND;
  throw new DatabaseUrlFault('has a connect_timeout that is no whole number of seconds from 1 to 30');
}

type Place = Pick<DatabaseUrl, 'host' | 'port' | 'database' | 'user'>;

/** What may be shown to anybody: host, port, database and user. */
export function describeDatabaseUrl({ host, port, database, user }: Place): string {
  const address = isAbsolute(host) || isIP(host) !== 6 ? host : `[${host}]`;
  return `database ${database} of PostgreSQL at ${address}:${port} as user ${user}`;
}

/** Whether the connection leaves this machine. */
export function isRemote({ host }: Place): boolean {
  return !isAbsolute(host) && host !== 'localhost' && host !== '::1' && !/^127\./.test(host);
}
