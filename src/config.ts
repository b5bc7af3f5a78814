/**
 * The settings: read from the environment once, validated, frozen. The only reader of `process.env`.
 * A bad value stops the start with one line that names the variable, the fault and what is allowed.
 */

import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { isAddressRange, isLoopback } from './lib/address-set.ts';
import { LOG_LEVELS, type LogLevel } from './lib/log.ts';

/** Sizes are bytes. A file name that is null means the feature is off. */
export interface Config {
  host: string;
  port: number;
  environment: 'production' | 'development';
  dataDir: string;
  reposDir: string;
  tls: { isOn: boolean; certFile: string | null; keyFile: string | null; names: readonly string[] };
  /** Whom to believe about a client's address and certificate, and in which header the certificate comes. */
  proxies: { trusted: readonly string[]; certificateHeader: string };
  nodeCaFile: string | null;
  nodeCrlFile: string | null;
  adminPassword: string | null;
  /** What opens `/metrics`; null: nothing does. */
  metricsToken: string | null;
  logLevel: LogLevel;
  limits: { uploadBytes: number; uploadFiles: number; jsonBytes: number; reportBytes: number };
  cacheBytes: number;
  /** Processes that serve together behind one port. */
  workers: number;
  /** Calls of nodes that are carried out at once, by all workers together. */
  nodeCallsAtOnce: number;
  /** After how many days an entry of the audit trail is deleted; null keeps it for ever. */
  auditKeepDays: number | null;
  /** Where the git binary is looked for. */
  searchPath: string;
  /** systemd's, where it is told that the server listens; null outside of a unit with `Type=notify`. */
  notifySocket: string | null;
}

/** Exit code for a configuration fault (EX_CONFIG of BSD sysexits). */
export const EXIT_CONFIG = 78;

export class ConfigError extends Error {
  constructor(name: string, fault: string, allowed: string) {
    super(`${name}: ${fault}; allowed: ${allowed}`);
    this.name = 'ConfigError';
  }
}

type Environment = Record<string, string | undefined>;

/** Gives each variable to its reader and remembers the name, so that unknown ones can be refused. */
class Reader {
  private readonly env: Environment;
  private readonly known = new Set<string>();

  constructor(env: Environment) {
    this.env = env;
  }

  text(name: string): string | null {
    this.known.add(name);
    const value = this.env[name];
    return value === undefined || value === '' ? null : value;
  }

  /** A secret: given directly, or as the first line of the file that `<name>_FILE` names. */
  secret(name: string): string | null {
    const value = this.text(name);
    const file = this.text(`${name}_FILE`);
    if (file === null) return value;
    if (value !== null) throw new ConfigError(name, `given twice, also as ${name}_FILE`, 'one of the two');
    try {
      return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0] ?? '';
    } catch {
      throw new ConfigError(`${name}_FILE`, 'the file cannot be read', 'the path of a readable file');
    }
  }

  choice<T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.text(name);
    if (value === null) return fallback;
    const found = choices.find((choice) => choice === value.toLowerCase());
    if (found === undefined) throw new ConfigError(name, 'not one of the choices', choices.join(', '));
    return found;
  }

  integer<T extends number | null>(name: string, min: number, max: number, fallback: T): number | T {
    const value = this.text(name);
    if (value === null) return fallback;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) {
      throw new ConfigError(name, 'not a whole number in range', `${min} to ${max}`);
    }
    return number;
  }

  bytes(name: string, fallback: number): number {
    const value = this.text(name);
    if (value === null) return fallback;
    const match = /^(\d{1,12})(B|KiB|MiB|GiB)?$/i.exec(value);
    const unit = BYTE_UNITS[(match?.[2] ?? 'b').toLowerCase()] ?? 1;
    const bytes = match ? Number(match[1]) * unit : Number.NaN;
    if (!(bytes >= 1 && bytes <= Number.MAX_SAFE_INTEGER)) {
      throw new ConfigError(name, 'not a size', 'a number with B, KiB, MiB or GiB, such as 50MiB');
    }
    return bytes;
  }

  names(name: string, fallback: readonly string[]): readonly string[] {
    const value = this.text(name);
    if (value === null) return fallback;
    const names = value.split(',').map((entry) => entry.trim());
    if (names.some((entry) => !/^[A-Za-z0-9.:*-]{1,253}$/.test(entry))) {
      throw new ConfigError(name, 'not a list of names', 'host names and addresses, separated by commas');
    }
    return names;
  }

  ranges(name: string): readonly string[] {
    const value = this.text(name);
    const ranges = value === null ? [] : value.split(',').map((entry) => entry.trim());
    if (!ranges.every(isAddressRange)) {
      const allowed = 'IP addresses and CIDR ranges, separated by commas, such as 127.0.0.1,10.0.0.0/8';
      throw new ConfigError(name, 'not a list of addresses', allowed);
    }
    return ranges;
  }

  headerName(name: string, fallback: string): string {
    const value = this.text(name) ?? fallback;
    // No underscores: where they are taken for hyphens, two spellings are one header.
    if (!/^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$/.test(value) || value.length > 64) {
      throw new ConfigError(name, 'not the name of a header', 'letters, digits and hyphens');
    }
    return value;
  }

  refuseUnknown(): void {
    for (const name of Object.keys(this.env)) {
      if (name.startsWith('HAWSER_') && !this.known.has(name)) {
        throw new ConfigError(name, 'no such setting', [...this.known].sort().join(', '));
      }
    }
  }
}

const KIB = 1024;
const MIB = 1024 * KIB;
/** RFC 9440. */
export const CLIENT_CERT = 'Client-Cert';
const BYTE_UNITS: Record<string, number> = { b: 1, kib: KIB, mib: MIB, gib: 1024 * MIB };

/**
 * Reads the settings of design.md section 4.
 * @throws ConfigError on a bad value, an unknown HAWSER_* name, or one half of a pair.
 */
export function readConfig(env: Environment): Readonly<Config> {
  const read = new Reader(env);
  const isTlsOn = read.choice('HAWSER_TLS', ['on', 'off'], 'on') === 'on';
  const config: Config = {
    host: read.text('HAWSER_HOST') ?? (isTlsOn ? '0.0.0.0' : '127.0.0.1'),
    port: read.integer('HAWSER_PORT', 0, 65_535, 8443),
    environment: read.choice('HAWSER_ENV', ['production', 'development'], 'production'),
    dataDir: resolve(read.text('HAWSER_DATA_DIR') ?? './data'),
    reposDir: resolve(read.text('HAWSER_REPOS_DIR') ?? './repos'),
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
    metricsToken: readMetricsToken(read),
    logLevel: read.choice<LogLevel>('HAWSER_LOG_LEVEL', LOG_LEVELS, 'info'),
    limits: {
      uploadBytes: read.bytes('HAWSER_UPLOAD_LIMIT', 50 * MIB),
      uploadFiles: read.integer('HAWSER_UPLOAD_FILES', 1, 1_000_000, 2_000),
      jsonBytes: read.bytes('HAWSER_JSON_LIMIT', MIB),
      reportBytes: read.bytes('HAWSER_REPORT_LIMIT', 5 * MIB),
    },
    workers: read.integer('HAWSER_WORKERS', 1, 64, 1),
    nodeCallsAtOnce: read.integer('HAWSER_NODE_CALLS', 1, 1_000_000, 4_000),
    cacheBytes: read.bytes('HAWSER_CACHE_BYTES', 256 * MIB),
    auditKeepDays: read.integer('HAWSER_AUDIT_KEEP_DAYS', 1, 36_500, null),
    searchPath: env['PATH'] || '/usr/local/bin:/usr/bin:/bin',
    notifySocket: env['NOTIFY_SOCKET'] || null,
  };
  read.refuseUnknown();
  refuseHalves(config);
  refuseContradictions(config);
  return Object.freeze(config);
}

/** As long as no guessing gets at it, and of characters that a Bearer header may hold. */
function readMetricsToken(read: Reader): string | null {
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

function refuseContradictions({ host, tls, proxies }: Config): void {
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
