/** Finds PostgreSQL's programs, and the user under whom they run. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isProgram } from '../optional-tools.ts';
import { embeddedPrograms } from './embedded.ts';

/** Debian has a folder here for each version, and does not put it on the search path. */
const DEBIAN = '/usr/lib/postgresql';

/** Looking for them takes some 20 ms. */
let found: string | undefined;

/**
 * The folder with `initdb` and `postgres`: those of Debian, or those that came by `npm ci`.
 * @throws an error that says how to install them
 */
export function findPrograms(): string {
  found ??= systemPrograms() ?? embeddedPrograms(unprivilegedUser()) ?? undefined;
  if (found === undefined)
    throw new Error(
      'PostgreSQL is missing, and the one that npm ci installs does not run on this machine: apt-get install postgresql',
    );
  return found;
}

/** The newest of Debian, or one on the search path. */
function systemPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((name) => /^\d+$/.test(name)) : [];
  const newest = versions.map(Number).sort((one, other) => other - one);
  const folders = [
    ...newest.map((version) => join(DEBIAN, String(version), 'bin')),
    ...(process.env['PATH'] ?? '').split(delimiter),
  ];
  return folders.find((folder) => ['initdb', 'postgres'].every((name) => isProgram(join(folder, name))));
}

/** Whether the server can count statements. Both packages have the library, in different folders. */
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
