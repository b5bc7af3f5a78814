/**
 * The log: JSON lines on stdout. error = someone must act, warn = someone should look,
 * info = what the service did for a caller, debug = why. No secret is ever passed to it.
 */

import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { LogOutput } from './log-output.ts';

export type Log = Logger;

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const STDOUT = 1;

/** @param destination stdout by default; not pino's own, which a full disk behind it would end, and the process too */
export function createLog(level: LogLevel, destination: DestinationStream = new LogOutput(STDOUT)): Log {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination);
}
