/** What a command has said, as the result of a DSC v3 operation. */

import type { CommandOutcome } from './command.ts';

export interface RunResult {
  /** The result as JSON. */
  json: string;
  hadErrors: boolean;
}

/**
 * The command's own output where it is a result; else a minimal one that says how the command ended. A failure is
 * never hidden: a command that ends with another code than 0 had errors, whatever it wrote.
 */
export function toResult(outcome: CommandOutcome, program: string): RunResult {
  const failed = outcome.fault !== null || outcome.exitCode !== 0;
  const text = outcome.stdout.replace(/^\ufeff/, '').trim();
  const own = parseResult(text);
  if (own === null) return minimalResult(outcome, program, failed);
  // Its own text where nothing is to be changed: numbers that JavaScript would round stay as they are.
  if (own['hadErrors'] === true || !failed) return { json: text, hadErrors: own['hadErrors'] === true };
  return { json: JSON.stringify({ ...own, hadErrors: true }), hadErrors: true };
}

function parseResult(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isResult(value) ? value : null;
  } catch {
    return null;
  }
}

function isResult(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || typeof value['hadErrors'] !== 'boolean') return false;
  const results = value['results'] ?? [];
  return Array.isArray(results) && results.every(isObject);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function minimalResult(outcome: CommandOutcome, program: string, hadErrors: boolean): RunResult {
  const { fault, exitCode, stderr } = outcome;
  const how = fault ?? (exitCode === null ? 'it was ended by a signal' : `it ended with ${exitCode}`);
  const message = stderr.trim() === '' ? `${program}: ${how}` : `${program}: ${how}\n${stderr.trim()}`;
  const messages = hadErrors ? [{ name: program, type: 'hawser-agent', message, level: 'error' }] : [];
  return { json: JSON.stringify({ messages, results: [], hadErrors }), hadErrors };
}
