/**
 * The settings. They are read from the environment once, validated and frozen.
 * A bad value stops the start with one line that names the variable, the fault and what is allowed.
 */

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { isLoopback } from './lib/address-set.ts';
import { DatabaseUrlFault, parseDatabaseUrl } from './lib/database-url.ts';
import { LOG_LEVELS, type LogLevel } from './lib/log.ts';
import { isSafeUrl } from './lib/safe-url.ts';
import { ConfigError, type Environment, SettingsReader } from './lib/settings-reader.ts';

export { ConfigError } from './lib/settings-reader.ts';

/** Sizes are in bytes. If the name of a file is null, its feature is off. */
export interface Config {
  host: string;
  port: number;
  /** The console, and the port of a second listener that asks for no client certificate. */
  ui: { isOn: boolean; port: number | null };
  environment: 'production' | 'development';
  dataDir: string;
  reposDir: string;
  /** The URL of PostgreSQL, which may hold a password; null for SQLite in the data folder. */
  databaseUrl: string | null;
  tls: { isOn: boolean; certFile: string | null; keyFile: string | null; names: readonly string[] };
  /** The proxies that are trusted about a client's address and certificate, and the header of the certificate. */
  proxies: { trusted: readonly string[]; certificateHeader: string };
  nodeCaFile: string | null;
  nodeCrlFile: string | null;
  adminPassword: string | null;
  /** The file of the keys of secrets; null for `secrets.key` in the data folder. */
  secretsKeyFile: string | null;
  /** The token that opens `/metrics`; null means that nothing does. */
  metricsToken: string | null;
  logLevel: LogLevel;
  limits: { uploadBytes: number; uploadFiles: number; reportBytes: number };
  /** Whether `git push` is taken, and the bytes of the pack of one push. */
  push: { isOn: boolean; packBytes: number };
  /** Where people and programs reach the server, without a slash at its end; null where nobody has said it. */
  publicUrl: string | null;
  /** The file that names the identity providers. */
  oidcFile: string | null;
  /** The issuers whose tokens service accounts may exchange. */
  federationIssuers: readonly string[];
  /** The addresses and ranges to which webhooks are sent though they are not public. */
  webhookAllowed: readonly string[];
  cacheBytes: number;
  /** The number of days after which an entry of the audit trail is deleted; null means never. */
  auditKeepDays: number | null;
  /** The bytes that all reports may take; null means that only their number and age matter. */
  maxReportBytes: number | null;
  /** The folders in which the git binary is looked for, like `PATH`. */
  searchPath: string;
  /** The socket on which systemd is told that the server listens; null outside of a unit with `Type=notify`. */
  notifySocket: string | null;
  /** The device and inode of what the journal of systemd reads, as `device:inode`; null where it reads nothing. */
  journalStream: string | null;
  /** Settings of earlier releases that are set still, and what holds in their place. */
  retired: readonly { setting: string; now: string }[];
  /** Milliseconds after which systemd ends a service that says nothing (`WATCHDOG_USEC`); null if it does not. */
  watchdogInterval: number | null;
}

/** The exit code for a fault in the settings (EX_CONFIG of BSD sysexits). */
export const EXIT_CONFIG = 78;

/** Settings of earlier releases that have no effect any more, and what holds in their place. */
export const RETIRED: Readonly<Record<string, string>> = {
  HAWSER_JSON_LIMIT: 'a JSON body may have 1 MiB',
  HAWSER_NODE_CALLS: 'the server carries out 4,000 calls of nodes at once',
  HAWSER_SCRYPT_COST:
    'a password that is set gets a hash of cost 15; hashes that cost more stay as they are, and fit their passwords',
  HAWSER_SLOW_MS: 'a request that takes the server longer than 1,000 ms is logged as slow',
  HAWSER_TESTING: 'hashes of passwords always have their full cost',
  HAWSER_WEBHOOK_CA:
    'receivers of webhooks are under the authorities of Node.js and those of the file that NODE_EXTRA_CA_CERTS names',
  HAWSER_WORKERS: 'a server has one process',
};

const MIB = 1024 * 1024;
/** The header in which a proxy sends the client's certificate (RFC 9440). */
export const CLIENT_CERT = 'Client-Cert';

/**
 * Reads the settings of the environment.
 * @throws ConfigError for a bad value, an unknown HAWSER_* name, or one half of a pair
 */
export function readConfig(env: Environment): Readonly<Config> {
  const read = new SettingsReader(env);
  const isTlsOn = read.choice('HAWSER_TLS', ['on', 'off'], 'on') === 'on';
  const environment = read.choice('HAWSER_ENV', ['production', 'development'], 'production');
  const isDevelopment = environment === 'development';
  const config: Config = {
    host: read.text('HAWSER_HOST') ?? (isTlsOn ? '0.0.0.0' : '127.0.0.1'),
    port: read.integer('HAWSER_PORT', 0, 65_535, 8443),
    ui: {
      isOn: read.choice('HAWSER_UI', ['on', 'off'], 'on') === 'on',
      port: read.integer('HAWSER_UI_PORT', 0, 65_535, null),
    },
    environment,
    dataDir: resolve(read.text('HAWSER_DATA_DIR') ?? './data'),
    reposDir: resolve(read.text('HAWSER_REPOS_DIR') ?? './repos'),
    databaseUrl: readDatabaseUrl(read),
    tls: {
      isOn: isTlsOn,
      certFile: read.text('HAWSER_TLS_CERT'),
      keyFile: read.text('HAWSER_TLS_KEY'),
      names: read.names('HAWSER_TLS_NAMES', ['localhost', '127.0.0.1', '::1', hostname().toLowerCase()]),
    },
    proxies: {
      trusted: read.ranges('HAWSER_TRUSTED_PROXIES'),
      certificateHeader: read.headerName('HAWSER_CLIENT_CERT_HEADER', CLIENT_CERT),
    },
    nodeCaFile: read.text('HAWSER_NODE_CA'),
    nodeCrlFile: read.text('HAWSER_NODE_CRL'),
    adminPassword: read.secret('HAWSER_ADMIN_PASSWORD'),
    secretsKeyFile: read.text('HAWSER_SECRETS_KEY_FILE'),
    metricsToken: readMetricsToken(read),
    logLevel: read.choice<LogLevel>('HAWSER_LOG_LEVEL', LOG_LEVELS, 'info'),
    limits: {
      uploadBytes: read.bytes('HAWSER_UPLOAD_LIMIT', 50 * MIB),
      uploadFiles: read.integer('HAWSER_UPLOAD_FILES', 1, 1_000_000, 2_000),
      reportBytes: read.bytes('HAWSER_REPORT_LIMIT', 5 * MIB),
    },
    push: {
      isOn: read.choice('HAWSER_PUSH', ['on', 'off'], 'on') === 'on',
      packBytes: read.bytes('HAWSER_PUSH_LIMIT', 100 * MIB),
    },
    publicUrl: readPublicUrl(read, isDevelopment),
    oidcFile: read.text('HAWSER_OIDC_FILE'),
    federationIssuers: readIssuers(read, isDevelopment),
    webhookAllowed: read.ranges('HAWSER_WEBHOOK_ALLOW'),
    cacheBytes: read.bytes('HAWSER_CACHE_BYTES', 256 * MIB),
    auditKeepDays: read.integer('HAWSER_AUDIT_KEEP_DAYS', 1, 36_500, null),
    maxReportBytes: readReportBytes(read),
    searchPath: env['PATH'] || '/usr/local/bin:/usr/bin:/bin',
    notifySocket: env['NOTIFY_SOCKET'] || null,
    journalStream: env['JOURNAL_STREAM'] || null,
    retired: readRetired(read),
    watchdogInterval: Number(env['WATCHDOG_USEC'] ?? 0) / 1_000 || null,
  };
  read.refuseUnknown();
  refuseHalves(config);
  refuseContradictions(config);
  return Object.freeze(config);
}

/** A number whose unit was forgotten would delete nearly all reports. */
function readReportBytes(read: SettingsReader): number | null {
  const name = 'HAWSER_REPORT_BYTES';
  const bytes = read.bytes(name, null);
  if (bytes !== null && bytes < MIB)
    throw new ConfigError(name, 'too small', '1MiB or more, such as 20GiB; without it there is no limit');
  return bytes;
}

/** Whoever has asked for several processes, which a server could have up to release 0.2, must hear what takes their place. */
function readRetired(read: SettingsReader): Config['retired'] {
  const workers = read.retiredText('HAWSER_WORKERS');
  if (workers !== null && workers !== '1') {
    const fault =
      'workers are gone: n servers on one PostgreSQL do the same and more (docs/operating.md, "Several servers")';
    throw new ConfigError('HAWSER_WORKERS', fault, 'nothing, or 1');
  }
  const all = Object.entries(RETIRED).map(([setting, now]) => ({ setting, now }));
  return all.filter(({ setting }) => read.retiredText(setting) !== null);
}

function readPublicUrl(read: SettingsReader, isDevelopment: boolean): string | null {
  const name = 'HAWSER_PUBLIC_URL';
  const text = read.text(name);
  if (text === null) return null;
  const origin = URL.canParse(text) ? new URL(text).origin : '';
  if ((text === origin || text === `${origin}/`) && isSafeUrl(text, isDevelopment)) return origin;
  throw new ConfigError(name, 'not the address of a server', 'https://, a name and perhaps a port');
}

/** Issuers are compared as text, so they are kept as they are written. */
function readIssuers(read: SettingsReader, isDevelopment: boolean): readonly string[] {
  const name = 'HAWSER_FEDERATION_ISSUERS';
  const issuers = (read.text(name) ?? '').split(',').map((issuer) => issuer.trim());
  if (issuers.length === 1 && issuers[0] === '') return [];
  if (issuers.every((issuer) => isSafeUrl(issuer, isDevelopment))) return [...new Set(issuers)];
  throw new ConfigError(name, 'not a list of issuers', 'https:// addresses, separated by commas');
}

/** The text is never repeated in a message, because it may hold a password. */
function readDatabaseUrl(read: SettingsReader): string | null {
  const name = 'HAWSER_DATABASE_URL';
  const text = read.secret(name);
  if (text === null) return null;
  try {
    parseDatabaseUrl(text);
    return text;
  } catch (error) {
    if (!(error instanceof DatabaseUrlFault)) throw error;
    const allowed =
      'the URL of PostgreSQL 15 or later, such as postgres://hawser@db.example.org/hawser?sslmode=verify-full, in which ' +
      'a password has escapes (%2F) for its special characters';
    throw new ConfigError(name, error.message, allowed);
  }
}

/** The token must be too long to be guessed, and of characters that a Bearer header may hold. */
function readMetricsToken(read: SettingsReader): string | null {
  const name = 'HAWSER_METRICS_TOKEN';
  const token = read.secret(name);
  if (token !== null && !/^[\x21-\x7e]{16,512}$/.test(token))
    throw new ConfigError(name, 'not fit for a token', '16 to 512 printable ASCII characters without blanks');
  return token;
}

function refuseHalves(config: Config): void {
  if ((config.tls.certFile === null) !== (config.tls.keyFile === null)) {
    const missing = config.tls.certFile === null ? 'HAWSER_TLS_CERT' : 'HAWSER_TLS_KEY';
    throw new ConfigError(missing, 'missing while its other half is set', 'both or neither');
  }
  if (config.nodeCrlFile !== null && config.nodeCaFile === null) {
    throw new ConfigError('HAWSER_NODE_CA', 'missing while HAWSER_NODE_CRL is set', 'a PEM file');
  }
}

function refuseContradictions({ host, port, ui, tls, proxies, ...config }: Config): void {
  const wantsUrl = config.oidcFile === null ? 'HAWSER_FEDERATION_ISSUERS' : 'HAWSER_OIDC_FILE';
  if (config.publicUrl === null && (config.oidcFile !== null || config.federationIssuers.length > 0))
    throw new ConfigError(
      'HAWSER_PUBLIC_URL',
      `missing while ${wantsUrl} is set`,
      'the address of this server',
    );
  if (ui.port !== null && !ui.isOn)
    throw new ConfigError('HAWSER_UI_PORT', 'has no meaning with HAWSER_UI=off', 'one of the two');
  if (ui.port !== null && ui.port !== 0 && ui.port === port)
    throw new ConfigError('HAWSER_UI_PORT', 'is that of HAWSER_PORT', 'another port');
  if (!tls.isOn) {
    const given = tls.certFile === null ? tls.keyFile && 'HAWSER_TLS_KEY' : 'HAWSER_TLS_CERT';
    if (given) throw new ConfigError(given, 'has no meaning with HAWSER_TLS=off', 'one of the two');
    if (!isLoopback(host)) {
      const fault = 'with HAWSER_TLS=off credentials would cross the network in the clear';
      throw new ConfigError('HAWSER_HOST', fault, 'a loopback address, such as 127.0.0.1');
    }
  }
  const isOther = proxies.certificateHeader.toLowerCase() !== CLIENT_CERT.toLowerCase();
  if (isOther && proxies.trusted.length === 0) {
    const fault = 'nobody is trusted to send it';
    throw new ConfigError('HAWSER_CLIENT_CERT_HEADER', fault, 'this together with HAWSER_TRUSTED_PROXIES');
  }
}
