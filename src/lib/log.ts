/**
 * The log consists of JSON lines on stdout. `error` means that someone must act, `warn` that someone should look, `info`
 * tells what the service did for a caller, and `debug` why. No secret is ever passed to it.
 */

import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import { LogOutput } from './log-output.ts';

export type Log = Logger;

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const STDOUT = 1;

/** @param destination is stdout by default. pino's own destination is not used, because a full disk ends the process */
export function createLog(level: LogLevel, destination: DestinationStream = new LogOutput(STDOUT)): Log {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination);
}
