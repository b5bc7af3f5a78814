/** What `npm test` demands of a machine, as a function of what was read of it. */

const GIB = 1024 ** 3;
const NEEDED_GIT = '2.36';

/** Free bytes. The tests themselves use less; a machine without them ends tests at random. */
const ROOM = { memory: 2 * GIB, project: 2 * GIB, temporary: GIB };

/** Debian's package for each program. */
const PROGRAMS = { curl: 'curl', openssl: 'openssl', unzip: 'unzip' };
const COMPILERS = { 'g++': 'g++', make: 'make', python3: 'python3' };
export const DEMANDED_PROGRAMS: readonly string[] = Object.keys({ ...PROGRAMS, ...COMPILERS });

export interface Machine {
  /** Versions such as `20.19.1`. */
  node: string;
  neededNode: string;
  /** Null where it is missing. */
  git: string | null;
  /** Which of `DEMANDED_PROGRAMS` it has. */
  programs: readonly string[];
  hasBetterSqlite: boolean;
  /** What is wrong with PostgreSQL and Chromium, with the remedy; null where nothing is. */
  postgres: string | null;
  chromium: string | null;
  /** Free bytes. */
  room: Record<keyof typeof ROOM, number>;
  /** Programs without which some tests are left out. */
  missingOptional: readonly string[];
}

/** @returns one line with its remedy for each thing that is missing */
export function faultsOf(machine: Machine): string[] {
  return [
    ...nodeFaults(machine),
    ...gitFaults(machine),
    ...missing(PROGRAMS, machine),
    ...compilerFaults(machine),
    ...[machine.postgres, machine.chromium].filter((fault) => fault !== null),
    ...roomFaults(machine),
  ];
}

/** @returns the line about tests that are left out; null where none is */
export function leftOut({ missingOptional }: Machine): string | null {
  if (missingOptional.length === 0) return null;
  const names = missingOptional.join(', ');
  return `Left out, and counted as pending, are tests that need one of these, which are not installed: ${names}`;
}

function nodeFaults({ node, neededNode }: Machine): string[] {
  if (isAtLeast(node, neededNode)) return [];
  return [`Node.js ${node} is too old: install Node.js ${neededNode} or later`];
}

function gitFaults({ git }: Machine): string[] {
  if (git === null) return ['git is missing: apt-get install git'];
  if (isAtLeast(git, NEEDED_GIT)) return [];
  return [`git ${git} is too old: install git ${NEEDED_GIT} or later`];
}

/** npm has compiled it where it could not download it, so that the compilers are needed only where it is not there. */
function compilerFaults(machine: Machine): string[] {
  if (machine.hasBetterSqlite) return [];
  return [...missing(COMPILERS, machine), 'better-sqlite3 is not built: npm ci'];
}

function missing(packages: Record<string, string>, { programs }: Machine): string[] {
  return Object.entries(packages)
    .filter(([program]) => !programs.includes(program))
    .map(([program, name]) => `${program} is missing: apt-get install ${name}`);
}

function roomFaults({ room }: Machine): string[] {
  const remedies = {
    memory: 'of memory are available: end other programs, or take a machine with more memory',
    project: 'are free on the disk of this folder: delete files there',
    temporary: 'are free in the temporary folder: delete files there, or set TMPDIR to another folder',
  };
  return (['memory', 'project', 'temporary'] as const)
    .filter((kind) => room[kind] < ROOM[kind])
    .map((kind) => {
      // Rounded down, so that what is too little never looks like enough.
      const found = (Math.floor((room[kind] / GIB) * 10) / 10).toFixed(1);
      return `only ${found} GiB ${remedies[kind]} (${ROOM[kind] / GIB} GiB are needed)`;
    });
}

/** Compares the first two numbers of versions. */
function isAtLeast(version: string, needed: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [neededMajor = 0, neededMinor = 0] = needed.split('.').map(Number);
  return major > neededMajor || (major === neededMajor && minor >= neededMinor);
}
