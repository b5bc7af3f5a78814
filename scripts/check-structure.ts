/**
 * Checks the rules of the layout (docs/code.md): import ranks, cycles, importers of the store libraries, file length, limits
 * without a caller, and readers of process.env. Biome checks the length of functions (noExcessiveLinesPerFunction). Prints
 * one line per fault and then exits with 1.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { PROJECT } from './support/project.ts';

const SOURCE = resolve(PROJECT, 'src');
const MAX_LINES = 500;

const RANKS: Record<string, number> = {
  lib: 0,
  'config.ts': 0,
  domain: 1,
  // What programs that talk to a server need: the types of its API, and the calls.
  client: 1.5,
  db: 2,
  // Refs and objects are in the database or in folders.
  git: 2.5,
  agent: 2,
  cli: 2,
  security: 3,
  events: 3.5,
  versions: 4,
  resolve: 5,
  // What the leader decides about rollouts, from what resolve counts.
  rollouts: 5.5,
  // The use cases, one a file, without a request: what routes, git, imports and rollouts call.
  deeds: 5.8,
  http: 6,
  'api/shared': 6.5,
  bundles: 6.5,
  pull: 7,
  api: 7,
  'api/sign-in': 7.5,
  operations: 7,
  // It opens the stores as a server does, and writes by deeds.
  'operations/import-opendsc': 8,
  'commands.ts': 8,
  'app.ts': 8,
  'server.ts': 8,
  'timers.ts': 8,
  'leadership.ts': 8,
  'presence.ts': 8,
  'stores.ts': 8,
  'serve-command.ts': 8,
  'main.ts': 8,
  threads: 8,
  // The console runs in the browser. It takes types from the server, and nothing else (docs/decisions/0053).
  ui: 9,
};

/** A file that a script writes, however long it gets. */
const GENERATED = 'client/api-types.ts';

/** Only a few places may import these libraries, so that the risks of each library are handled there. */
const IMPORTERS: Record<string, readonly string[]> = {
  'better-sqlite3': ['db'],
  pg: ['db'],
  'isomorphic-git': ['git'],
  'prom-client': ['lib'],
  // What bounds its time stands beside it (docs/decisions/0039). In the console it compares two texts of one person.
  diff: ['domain', 'ui'],
  // The agent is a separate program and makes its own certificate (docs/decisions/0013).
  '@peculiar/x509': ['security', 'agent'],
  // They are loaded only where somebody signs in by a provider (docs/decisions/0057).
  'openid-client': ['security'],
  jose: ['security'],
  undici: ['security', 'events'],
  // The command line of the client; the agent and the server take Node's own parseArgs.
  commander: ['cli'],
  // What gitignore's patterns name.
  ignore: ['cli'],
  koa: ['http', 'app.ts'],
  // Where something from outside is read. Deeds, and what they stand on, take typed input (docs/decisions/0071).
  zod: [
    ...[
      'lib',
      'domain',
      'security',
      'http',
      'pull',
      'operations',
      'operations/import-opendsc',
      'agent',
      'ui',
    ],
    ...['api', 'api/shared', 'api/sign-in'],
  ],
};

const ENVIRONMENT_READERS = ['config.ts', 'main.ts', 'agent/main.ts', 'cli/main.ts'];

/**
 * The limits that are no caller's own, and why nobody waits there for what one caller does. All others belong to a
 * `FairQueue`, which knows callers, or are made for one piece of work.
 */
const SHARED_LIMITS: Record<string, string> = {
  'bundles/bundle-cache.ts': 'a bundle is made once for all who ask, and of nothing that a caller sends',
  'db/postgres/keeper.ts': 'one connection, on which no lock is waited for',
  'git/object-caches.ts':
    'no caller has more than a few reads waiting, since each goes through its blobs itself',
  'git/objects.ts': 'no caller has more than a few writes waiting',
  'operations/import-opendsc/look-at-files.ts': 'a command has one caller',
  'resolve/comparer.ts': 'of one comparison',
  'versions/repository-pool.ts': 'what the server does by itself, for no caller',
};
/** A limit that is a constant of its module, or a member of a class. */
const SHARED_LIMIT =
  /^(?:(?:export )?const | {2}(?:private |protected )?(?:static )?readonly )\w+ = (?:pLimit|limitLoads)\(/m;

/**
 * The files that may ask a secret for its text (lib/plaintext.ts), and what each does with it. Nowhere else is a secret in the
 * clear (docs/decisions/0076-keys-of-secrets.md, 0077-content-of-secrets.md).
 */
const REVEALERS: Record<string, string> = {
  'lib/sealed-text.ts': 'encrypts it',
  'domain/value.ts': 'gives the value of a document that a node gets, and a key to compare values by',
  'domain/same-value.ts': 'tells whether two values are the same',
  'domain/parameter-checks.ts': 'checks it by the definition of its parameter',
  'resolve/secret-leaves.ts':
    'encrypts what comes in, opens what is stored, and gives one value to who may see it',
  'resolve/document-tasks.ts': 'prints the file that a node gets',
};
const REVEAL = /\.reveal\(|\binTheClear\(/;

/** What only the file with the cryptography of secrets takes from node:crypto. */
const SECRET_CRYPTOGRAPHY = 'lib/sealed-text.ts';
const CIPHER = /\bcreate(?:Cipher|Decipher)iv\b/;

/**
 * What changes what nodes get, or may get. Whoever calls one of these asks the protections (`requireDoneAlone` in
 * deeds/protection.ts), so that nothing that is protected is changed past its approvals (docs/decisions/0087).
 */
const CHANGING =
  /\bauthor\.(?:publish|offerAgain|takePushes)\(|\b(?:writeStart|tagNode|untagNode|setTags|assignChecked|reorderScopeTypes)\(|\bSCOPE_TYPES\.update\([^)]*is_enabled|\buse_server_managed_parameters: Number\(/;
const ASKING = /\brequireDoneAlone\(/;

/** Those who do not ask, and why they need not. */
const UNASKED: Record<string, string> = {
  'deeds/carry-out-changes.ts': 'carries out change sets, which are judged by the protections',
  'deeds/given-nodes.ts': 'joining is free: it gives a node what a key, a rule or an expectation says',
  'deeds/propose-changes.ts': 'tries changes, and writes nothing',
  'operations/import-opendsc/deeds.ts': 'a command of root on the machine of the server',
  'operations/import-opendsc/write-versions.ts': 'the same',
  'versions/resources.ts': 'makes a configuration, which nobody protects yet',
  'versions/rollouts.ts': 'is called by who starts a rollout, who asks',
};

/**
 * What makes a version come to be offered. Whoever calls one of these asks whether it must be signed (deeds/required-signatures.ts),
 * by itself or by judging the draft (docs/decisions/0090).
 */
const OFFERING = /\bauthor\.(?:publish|offerAgain|takePushes)\(|\bwriteStart\(/;
const ASKING_SIGNATURES = /\b(?:requireSigned|signatureBlocker)\(|\bjudgeDraft as judgeConfiguration\b/;

/** Those who do not ask, and why they need not. */
const UNSIGNED: Record<string, string> = {
  'deeds/publish-composite.ts': 'tags of composites are not looked at',
  'deeds/put-parameters.ts': 'tags of parameter files are not looked at',
  'deeds/receive-push.ts': 'pushed-configuration.ts asks, as the tag is not in the repository yet',
  'operations/import-opendsc/write-versions.ts':
    'a command of root, which makes configurations that require nothing yet',
  'versions/rollouts.ts': 'is called by who starts a rollout, who asks',
};

interface SourceFile {
  path: string;
  text: string;
  imports: string[];
  /** Those of the imports that leave nothing in the program. */
  typeImports: string[];
}

const TYPE_IMPORT = /(?:^|\n)\s*import\stype\s[^'";]*?\sfrom\s'([^']+)'/g;
const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/g;

function readSources(): SourceFile[] {
  return readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|tsx|css)$/.test(name))
    .map((path) => {
      const text = readFileSync(join(SOURCE, path), 'utf8');
      if (path.endsWith('.css')) return { path, text, imports: [], typeImports: [] };
      return {
        path,
        text,
        imports: [...text.matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? ''),
        typeImports: [...text.matchAll(TYPE_IMPORT)].map((match) => match[1] ?? ''),
      };
    });
}

/**
 * The folders inside of others that are rooms of their own: what all segments of `api` share, what opens sessions as `api/auth`
 * does, and what works as a whole server does.
 */
const INNER_ROOMS = ['api/shared', 'api/sign-in', 'operations/import-opendsc'];

/** First part of the path: the room a file belongs to. */
function roomOf(path: string): string {
  return INNER_ROOMS.find((room) => path.startsWith(`${room}/`)) ?? path.split('/')[0] ?? path;
}

/** The folder inside which imports of the same rank are allowed. Each URL segment of `api` is a folder of its own. */
function folderOf(path: string): string {
  // The settings belong to the lowest rank, although the file is directly in `src`.
  if (path === 'config.ts') return 'lib';
  const parts = path.split('/');
  return parts[0] === 'api' ? parts.slice(0, 2).join('/') : (parts[0] ?? path);
}

function targetOf(file: SourceFile, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  return relative(SOURCE, resolve(SOURCE, dirname(file.path), specifier));
}

function* importFaults(file: SourceFile): Generator<string> {
  const rank = RANKS[roomOf(file.path)];
  if (rank === undefined) {
    yield `${file.path}: no rank is set for ${roomOf(file.path)}`;
    return;
  }
  for (const specifier of file.imports) {
    const owners = IMPORTERS[specifier];
    if (owners !== undefined && !owners.includes(roomOf(file.path)))
      yield `${file.path}: only ${owners.join('/ and ')}/ imports ${specifier}`;
    const target = targetOf(file, specifier);
    if (target === null) continue;
    if (roomOf(file.path) === 'ui' && roomOf(target) !== 'ui' && !file.typeImports.includes(specifier))
      yield `${file.path}: takes only types from ${target} (import type)`;
    if (roomOf(target) === 'client' && !['client', 'cli', 'agent'].includes(roomOf(file.path)))
      yield `${file.path}: the server does not call itself by ${target}`;
    if (file.path.startsWith('operations/') && roomOf(target) === 'api' && !target.endsWith('schemas.ts'))
      yield `${file.path}: takes only schemas from the routes of others, and calls deeds, not ${target}`;
    const targetRank = RANKS[roomOf(target)] ?? Number.POSITIVE_INFINITY;
    const sameFolder = folderOf(file.path) === folderOf(target) || rank === 8;
    const allowed = targetRank < rank || (targetRank === rank && sameFolder);
    if (!allowed) yield `${file.path}: must not import ${target} (rank ${rank} from ${targetRank})`;
  }
}

function* cycleFaults(files: readonly SourceFile[]): Generator<string> {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const done = new Set<string>();
  function* visit(path: string, trail: readonly string[]): Generator<string> {
    if (trail.includes(path)) {
      yield `cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' -> ')}`;
      return;
    }
    const file = byPath.get(path);
    if (!file || done.has(path)) return;
    for (const specifier of file.imports) {
      const target = targetOf(file, specifier);
      if (target !== null) yield* visit(target, [...trail, path]);
    }
    done.add(path);
  }
  for (const { path } of files) yield* visit(path, []);
}

function* textFaults(file: SourceFile): Generator<string> {
  const lines = file.text.trimEnd().split('\n').length;
  if (lines > MAX_LINES && file.path !== GENERATED)
    yield `${file.path}: ${lines} lines, the limit is ${MAX_LINES}`;
  if (SHARED_LIMIT.test(file.text) !== file.path in SHARED_LIMITS)
    yield `${file.path}: a limit that callers share is a FairQueue, or has its reason in SHARED_LIMITS`;
  if (REVEAL.test(file.text) !== file.path in REVEALERS)
    yield `${file.path}: who asks a secret for its text is listed in REVEALERS, with the reason`;
  const isUnasked = CHANGING.test(file.text) && !ASKING.test(file.text);
  if (isUnasked !== file.path in UNASKED)
    yield `${file.path}: who changes what nodes get asks requireDoneAlone, or is listed in UNASKED, with the reason`;
  if ((OFFERING.test(file.text) && !ASKING_SIGNATURES.test(file.text)) !== file.path in UNSIGNED)
    yield `${file.path}: who makes a version come to be offered asks required-signatures.ts, or is listed in UNSIGNED, with the reason`;
  if (CIPHER.test(file.text) && file.path !== SECRET_CRYPTOGRAPHY)
    yield `${file.path}: only ${SECRET_CRYPTOGRAPHY} encrypts and decrypts`;
  if (roomOf(file.path).startsWith('api') && /\brecordAudit\b/.test(file.text))
    yield `${file.path}: what is recorded in the audit trail is done by a file of deeds`;
  const readsEnvironment = /process\.env\b/.test(file.text);
  if (readsEnvironment && !ENVIRONMENT_READERS.includes(file.path)) {
    yield `${file.path}: only ${ENVIRONMENT_READERS.join(' and ')} read process.env`;
  }
  const opening = file.path.endsWith('.css') ? /^\/\*/ : /^(#!.*\n)?\/\*\*/;
  if (!opening.test(file.text)) yield `${file.path}: does not open with a line on its job`;
}

const sources = readSources();
const faults = [
  ...sources.flatMap((file) => [...importFaults(file), ...textFaults(file)]),
  ...cycleFaults(sources),
];
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
console.log(`structure: ${sources.length} files in order`);
