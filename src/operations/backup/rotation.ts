/** Archives in one folder: their names, by the second, and which of them go when there is a new one. */

import { readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { DAY, toTimestamp } from '../../lib/clock.ts';
import { UsageError } from '../../lib/command-words.ts';
import { parseBytes } from '../../lib/settings-reader.ts';
import { ArchiveReader } from './archive.ts';

/** What a folder may keep. Null means that there is no limit. */
export interface Keep {
  days: number | null;
  bytes: number | null;
}

/** The names that `archivePath` gives, and those that this project's own unit gave before, by the day. */
const NAME = /^hawser-\d{4}-\d{2}-\d{2}(?:T\d{6}Z)?\.zip$/;
const MOST_DAYS = 36_500;

/** The path of a new archive in the folder: `hawser-2026-11-21T023000Z.zip`, in UTC. */
export function archivePath(folder: string, now: number): string {
  const [date, time = ''] = toTimestamp(now).split('T');
  return join(folder, `hawser-${date}T${time.slice(0, 8).replaceAll(':', '')}Z.zip`);
}

/** @throws UsageError for what is no number of days or no size */
export function readKeep(days: string | undefined, bytes: string | undefined): Keep {
  const keepDays = days === undefined ? null : Number(/^\d{1,5}$/.test(days) ? days : Number.NaN);
  if (keepDays !== null && !(keepDays >= 1 && keepDays <= MOST_DAYS))
    throw new UsageError(`backup: --keep-days "${days}" is no number from 1 to ${MOST_DAYS}`);
  const keepBytes = bytes === undefined ? null : parseBytes(bytes);
  if (keepBytes === undefined)
    throw new UsageError(`backup: --keep-bytes "${bytes}" is no size such as 500MiB or 50GiB`);
  return { days: keepDays, bytes: keepBytes };
}

interface Whole {
  path: string;
  createdAt: number;
  size: number;
}

/**
 * Removes archives that are older than the days, and then the oldest until the rest fits into the bytes. The newest whole
 * one stays in any case. What is no whole archive is not counted and not touched.
 * @param now in epoch milliseconds
 * @returns the paths of those that were removed, and of those that cannot be read as an archive
 */
export async function rotate(
  folder: string,
  { days, bytes }: Keep,
  now: number,
): Promise<{ removed: string[]; unreadable: string[] }> {
  if (days === null && bytes === null) return { removed: [], unreadable: [] };
  const { whole, unreadable } = await listArchives(folder);
  const oldest = days === null ? Number.NEGATIVE_INFINITY : now - days * DAY;
  const removed: string[] = [];
  let [room, isFull] = [bytes ?? Number.POSITIVE_INFINITY, false];
  for (const [index, { path, createdAt, size }] of whole.entries()) {
    room -= size;
    isFull ||= room < 0;
    if (index === 0 || (createdAt >= oldest && !isFull)) continue;
    await unlink(path);
    removed.push(path);
  }
  return { removed, unreadable };
}

/** The newest come first. */
async function listArchives(folder: string): Promise<{ whole: Whole[]; unreadable: string[] }> {
  const whole: Whole[] = [];
  const unreadable: string[] = [];
  for (const name of await readdir(folder)) {
    if (!NAME.test(name)) continue;
    const path = join(folder, name);
    const archive = await readWhole(path).catch(() => null);
    if (archive === null) unreadable.push(path);
    else whole.push(archive);
  }
  return { whole: whole.sort((one, other) => other.createdAt - one.createdAt), unreadable };
}

async function readWhole(path: string): Promise<Whole> {
  const archive = await ArchiveReader.open(path);
  archive.close();
  return { path, createdAt: Date.parse(archive.manifest.createdAt), size: (await stat(path)).size };
}
