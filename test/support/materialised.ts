/** The folders of repositories as a server has brought them to the state of PostgreSQL, for tests that use stock git there. */

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The temporary folder may be another one later, in a test of its own. */
const TEMPORARY = tmpdir();
const PROGRAM = join(import.meta.dirname, 'materialising.js');

let socket: string | undefined;

/**
 * Brings the folder of a repository to the state of PostgreSQL, before it returns. With SQLite it is in that state anyway.
 * @param repository such as `configurations/web.git`
 * @returns the path of the folder
 */
export function materialisedFolder(root: string, databaseUrl: string | null, repository: string): string {
  const folder = join(root, repository);
  if (databaseUrl === null) return folder;
  const [kind = '', file = ''] = repository.split('/');
  const query = new URLSearchParams({ database: databaseUrl, root, kind, name: file.replace(/\.git$/, '') });
  execFileSync(
    'curl',
    ['-sS', '--fail-with-body', '--unix-socket', startedProgram(), `http://localhost/?${query}`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  return folder;
}

/** Whether there is a repository, given as for `materialisedFolder`. */
export function isThere(root: string, databaseUrl: string | null, repository: string): boolean {
  try {
    return existsSync(materialisedFolder(root, databaseUrl, repository));
  } catch (error) {
    const { stdout } = error as { stdout?: Buffer };
    if (stdout?.includes('The repository is not on the disk')) return false;
    throw error;
  }
}

/** Tests call stock git without a promise, so a process of its own does what needs some. */
function startedProgram(): string {
  if (socket !== undefined) return socket;
  socket = join(mkdtempSync(join(TEMPORARY, 'hawser-folders-')), 'socket');
  const program = spawn(process.execPath, [PROGRAM, socket], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  program.unref();
  (program.stdin as unknown as { unref(): void }).unref();
  while (!existsSync(socket)) execFileSync('sleep', ['0.05']);
  return socket;
}
