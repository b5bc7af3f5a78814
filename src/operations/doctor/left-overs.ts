/** What should be gone by now: the first password, and files of writes that were cut off. */

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Db } from '../../db/open.ts';
import { HOUR } from '../../lib/clock.ts';
import { ADMIN, PASSWORD_FILE } from '../../security/built-ins.ts';
import { type Check, type Finding, faultOf, noteOf } from './findings.ts';

/** What is younger may be at work still. */
const SETTLED = HOUR;

/** @param db null where the database cannot be read */
export async function checkLeftOvers(config: Config, db: Db | null, now: number): Promise<Check> {
  const { dataDir, reposDir } = config;
  const unfinished = [
    ...(await listOld(dataDir, (name) => name.endsWith('.tmp'), now)),
    ...(await listOld(join(dataDir, 'tls'), (name) => name.endsWith('.tmp'), now)),
    ...(await listOld(join(reposDir, '.tmp'), () => true, now)),
  ].map((path) => noteOf(path, 'left by something that was cut off', 'it may be removed'));
  const findings = [...(await checkFirstPassword(dataDir, db)), ...unfinished];
  return { name: 'left-overs', summary: 'the first password, unfinished files', findings };
}

async function checkFirstPassword(dataDir: string, db: Db | null): Promise<Finding[]> {
  const path = join(dataDir, PASSWORD_FILE);
  if (db === null || (await modifiedAt(path)) === null) return [];
  const admin = await db
    .selectFrom('users')
    .select('require_password_change as mustChange')
    .where('username_key', '=', ADMIN)
    .executeTakeFirst();
  if (admin?.mustChange === 1) {
    const remedy = `sign in as "${ADMIN}" and change it; the file goes with that`;
    return [noteOf(path, 'the first password has not been changed yet', remedy)];
  }
  return [faultOf(path, 'the first password still lies there after it was changed', 'remove the file')];
}

async function listOld(folder: string, isMeant: (name: string) => boolean, now: number): Promise<string[]> {
  const found: string[] = [];
  for (const name of (await readdir(folder).catch(() => [])).filter(isMeant)) {
    const path = join(folder, name);
    const at = await modifiedAt(path);
    if (at !== null && at < now - SETTLED) found.push(path);
  }
  return found;
}

/** Epoch milliseconds; null where it is not there, or cannot be looked at. */
function modifiedAt(path: string): Promise<number | null> {
  return stat(path).then(
    (stats) => stats.mtimeMs,
    () => null,
  );
}
