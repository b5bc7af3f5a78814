/** Writes values as the drivers of .NET write them, SQLite and PostgreSQL each in its own form. */

import { pbkdf2Sync, randomBytes, X509Certificate } from 'node:crypto';
import type { Engine } from './create-table.ts';

/** What stands for "never" in a column that cannot be null. */
export const NEVER = Symbol('never');

export type Value = string | number | boolean | null | typeof NEVER;

/**
 * Times are epoch milliseconds and durations milliseconds. A text is written as it is, so that a test can have more digits,
 * another offset or a form that nobody knows. GUIDs are in upper case in SQLite.
 * @param type that of the column, such as `time`
 */
export function valueFor(engine: Engine, type: string, value: Value): string | number | boolean | null {
  if (value === NEVER) return engine === 'sqlite' ? '0001-01-01 00:00:00+00:00' : '-infinity';
  if (type === 'guid' && typeof value === 'string' && engine === 'sqlite') return value.toUpperCase();
  if (type === 'time' && typeof value === 'number') return timeText(value);
  if (type === 'time' && typeof value === 'string' && engine === 'postgres') return toMicroseconds(value);
  if (type === 'duration' && typeof value === 'number')
    return engine === 'sqlite' ? timeSpanText(value) : `${value} milliseconds`;
  if (type === 'bool' && typeof value === 'boolean' && engine === 'sqlite') return Number(value);
  return value;
}

/** No zeros stand at the end of a fraction. */
function timeText(time: number): string {
  const [day, clock = ''] = new Date(time).toISOString().split('T');
  return `${day} ${clock.replace(/\.?0*Z$/, '')}+00:00`;
}

/** PostgreSQL keeps microseconds. Its driver cuts the seventh digit off, where PostgreSQL itself would round. */
function toMicroseconds(text: string): string {
  return text.replace(/(\.\d{6})\d+/, '$1');
}

function timeSpanText(milliseconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const seconds = milliseconds / 1_000;
  const days = Math.floor(seconds / 86_400);
  const clock = [(seconds % 86_400) / 3_600, (seconds % 3_600) / 60, seconds % 60].map(two).join(':');
  const fraction = milliseconds % 1_000;
  return `${days > 0 ? `${days}.` : ''}${clock}${fraction > 0 ? `.${String(fraction).padStart(3, '0')}0000` : ''}`;
}

/** The hash of a password and its salt, both in base64. */
export function hashPassword(password: string): { PasswordHash: string; PasswordSalt: string } {
  const salt = randomBytes(16);
  return {
    PasswordHash: pbkdf2Sync(password, salt, 100_000, 32, 'sha256').toString('base64'),
    PasswordSalt: salt.toString('base64'),
  };
}

export interface StoredCertificate {
  /** SHA-1, hexadecimal in upper case. */
  thumbprint: string;
  subject: string;
  /** Epoch milliseconds. */
  notAfter: number;
}

/** What is stored of a certificate. The values of its subject must be such that .NET writes them without quotation marks. */
export function storedCertificate(pem: string): StoredCertificate {
  const { fingerprint, subject, validTo } = new X509Certificate(pem);
  return {
    thumbprint: fingerprint.replaceAll(':', ''),
    subject: subject.split('\n').reverse().join(', '),
    notAfter: Date.parse(validTo),
  };
}

export function randomCertificate(fqdn: string): StoredCertificate {
  return {
    thumbprint: randomBytes(20).toString('hex').toUpperCase(),
    subject: `CN=${fqdn}`,
    notAfter: Date.UTC(2027, 0, 5),
  };
}
