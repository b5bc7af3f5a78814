/** Finds PostgreSQL's programs, and the user under whom they run. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian has a folder here for each version, and does not put it on the search path. */
const DEBIAN = '/usr/lib/postgresql';

/**
 * The folder with `initdb` and `postgres`.
 * @throws an error that says how to install them
 */
export function findPrograms(): string {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((name) => /^\d+$/.test(name)) : [];
  const newest = versions.map(Number).sort((one, other) => other - one);
  const folders = [
    ...newest.map((version) => join(DEBIAN, String(version), 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  const found = folders.find((folder) =>
    ['initdb', 'postgres'].every((name) => existsSync(join(folder, name))),
  );
  if (found === undefined)
    throw new Error(`PostgreSQL is not installed, and these tests need it: apt-get install postgresql`);
  return found;
}

/** Whether the server can count statements. Debian's package has the library. */
export function hasStatementStatistics(programs: string): boolean {
  return ['../lib', '../lib/postgresql'].some((folder) =>
    existsSync(join(programs, folder, 'pg_stat_statements.so')),
  );
}

export interface User {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root, so root's tests run it as another user. */
export function unprivilegedUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const found = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (found === undefined) throw new Error('PostgreSQL cannot run as root, and there is no user "nobody"');
  return { uid: Number(found[2]), gid: Number(found[3]) };
}
