/** What the last run of a command has left for the metrics of the server: a small file in the data folder. */

import { join } from 'node:path';
import { z } from 'zod';
import { toTimestamp } from './clock.ts';
import { readIfPresent, writeSecretFile } from './secret-file.ts';

const Backup = z.object({
  /** The moment that the archive shows, at the least. */
  at: z.iso.datetime(),
  bytes: z.int().nonnegative(),
});

const Doctor = z.object({
  at: z.iso.datetime(),
  findings: z.object({
    error: z.int().nonnegative(),
    warning: z.int().nonnegative(),
    information: z.int().nonnegative(),
  }),
});

const RECORDS = { backup: Backup, doctor: Doctor };

export type RunRecords = { [Name in keyof typeof RECORDS]: z.output<(typeof RECORDS)[Name]> };

/**
 * Writes down the last run, in place of the one before.
 * @param now is when the run began, in epoch milliseconds
 * @throws the system's error
 */
export async function writeRunRecord<Name extends keyof RunRecords>(
  { dataDir, name, now }: { dataDir: string; name: Name; now: number },
  record: Omit<RunRecords[Name], 'at'>,
): Promise<void> {
  await writeSecretFile(fileOf(dataDir, name), `${JSON.stringify({ at: toTimestamp(now), ...record })}\n`);
}

/** @returns null where there was no run yet, or its file cannot be read */
export async function readRunRecord<Name extends keyof RunRecords>(
  dataDir: string,
  name: Name,
): Promise<RunRecords[Name] | null> {
  try {
    const text = await readIfPresent(fileOf(dataDir, name));
    return text === null ? null : (RECORDS[name].parse(JSON.parse(text)) as RunRecords[Name]);
  } catch {
    return null;
  }
}

const nameOf = (name: string) => `last-${name}.json`;

function fileOf(dataDir: string, name: keyof RunRecords): string {
  return join(dataDir, nameOf(name));
}

/** The names of these files. */
export const RUN_RECORD_FILES: readonly string[] = Object.keys(RECORDS).map(nameOf);
