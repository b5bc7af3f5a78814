/** Checks that everything that was acknowledged is there and complete, and that nothing is there in part. */

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { DatabasePlace } from '../../../src/db/database.ts';
import type { Client, Target } from '../client.ts';
import { type EngineHandle, type OpenPlace, openPlace } from '../engines/both.ts';
import { countFaults } from '../engines/counts.ts';
import { eventually } from '../eventually.ts';
import { partsOf } from './acts/act.ts';
import type { Model, State } from './model.ts';
import { Reader } from './reader.ts';

const run = promisify(execFile);

/**
 * For each kind that is listed by name: the path of the list, the member with the name, and the rows that the test
 * did not make.
 */
const LISTS = [
  { kind: 'configurations', path: '/api/v1/configurations', member: 'name' },
  { kind: 'composites', path: '/api/v1/composite-configurations', member: 'name' },
  { kind: 'nodes', path: '/api/v1/nodes', member: 'fqdn' },
  { kind: 'users', path: '/api/v1/users', member: 'username', except: ['admin'] },
  { kind: 'scope-types', path: '/api/v1/scope-types', member: 'name', except: ['Default', 'Node'] },
] as const;

/** Milliseconds within which a running server has ended what was left open. */
const SETTLED = 10_000;

export interface Site extends DatabasePlace {
  client: Client;
  target: Target;
  model: Model;
  reposDir: string;
  /** Whether a death since the last check was a power cut, which may take what was not flushed. */
  wasCut: boolean;
  /** The keys that were touched before a power cut. */
  unaudited: Set<string>;
}

/** The last parts of the audit actions that lead to each state of a version. */
const LEADING_TO = {
  gone: ['version_deleted'],
  withdrawn: ['version_withdrawn'],
  Published: ['version_published', 'version_offered_again'],
  Draft: [
    ...['created', 'version_created', 'version_replaced', 'version_saved', 'file_saved', 'file_deleted'],
    ...['child_added', 'child_changed', 'child_removed'],
  ],
};

/**
 * Runs after every start. Reads through the API what requests may have changed since the last check, and checks the
 * folders on the disk.
 * @returns how many states were compared
 */
export async function checkTouched(site: Site): Promise<number> {
  const keys = site.model.takeTouched();
  await checkKeys(site, keys);
  // What a power cut has taken from the audit trail stays away.
  if (site.wasCut) for (const key of keys) site.unaudited.add(key);
  const audited = keys.filter((key) => !site.unaudited.has(key));
  const database = await openPlace(site);
  try {
    // What a lost answer has left open is ended as soon as the database is back. Calls of nodes are counted within a second.
    await eventually(() => checkAudit(site, database, audited), SETTLED);
    await eventually(() => checkFolders(site), SETTLED);
    await eventually(() => checkDatabase(database), SETTLED);
  } finally {
    await database.close();
  }
  return keys.length;
}

/** Checks everything, whether it was checked before or not, also with stock git. */
export async function checkAll(site: Site): Promise<number> {
  const checked = await checkAnswers(site);
  return checked + (await checkRepositories(site));
}

/** What clients of one server can see, wherever the server has it from. */
export type Sight = Pick<Site, 'client' | 'target' | 'model'>;

/**
 * Checks that the server knows all that was acknowledged and nothing else.
 * @returns how many states were compared
 */
export async function checkAnswers({ client, target, model }: Sight): Promise<number> {
  // The markers are read again, because a report may have been changed since.
  model.markers.clear();
  const keys = model.keys('');
  await checkKeys({ client, target, model }, keys);
  const reader = new Reader(client, target, model);
  for (const { kind, path, member, ...more } of LISTS) {
    const except: readonly string[] = 'except' in more ? more.except : [];
    const listed = (await reader.list(path)).map((row) => String(row[member]));
    const known = model.keys(`${kind}/`).map((key) => partsOf(key)[0] ?? '');
    expect(listed.filter((name) => !except.includes(name)).sort(), kind).to.deep.equal(known.sort());
  }
  for (const key of model.keys('nodes/')) expect(await reader.isLetIn(key), key).to.equal(true);
  const [registrationKey] = (await client.get('/api/v1/admin/registration-keys')).json;
  expect(registrationKey.currentUses, 'uses of the key').to.equal(model.registrations);
  return keys.length;
}

export async function checkKeys({ client, target, model }: Sight, keys: readonly string[]): Promise<void> {
  const reader = new Reader(client, target, model);
  const found = new Map<string, State>();
  await Promise.all(keys.map(async (key) => found.set(key, await reader.read(key))));
  model.compare(found);
}

/** Checks that the last entry of each version in the audit trail tells of the version as it is. */
export async function checkAudit(
  { model }: Pick<Site, 'model'>,
  database: EngineHandle,
  keys: readonly string[],
): Promise<void> {
  const entries = await database.all<{ action: string; details: string }>(
    `select action, details from audit_entries where details like '%"name"%' order by seq`,
  );
  for (const key of keys) {
    const [, kind] = /^(versions|composite-versions|parameters)\//.exec(key) ?? [];
    const [name, ...rest] = partsOf(key);
    const owner = kind === 'composite-versions' ? 'composites' : 'configurations';
    // What goes with its resource has no entry of its own, and an adopted repository has none for its versions.
    if (kind === undefined || model.state(`${owner}/${name}`) === null) continue;
    const version = rest.pop();
    const [scopeType, value] = rest;
    const isAbout = ({ action, details: text }: { action: string; details: string }) => {
      const details = JSON.parse(text);
      const isOwner = details.name === name && action.startsWith('composite.') === (owner === 'composites');
      if (isOwner && action.endsWith('.adopted')) return true;
      const scope = value === '-' || value === undefined ? null : value;
      return (
        isOwner &&
        details.version === version &&
        details.scopeType === scopeType &&
        (details.scopeValue ?? null) === scope
      );
    };
    const [, last = 'adopted'] = entries.filter(isAbout).at(-1)?.action.split('.') ?? ['', 'nothing'];
    const state = model.state(key);
    const expected = LEADING_TO[stateOf(state)];
    if (last === 'adopted' || (state === null && last === 'nothing')) continue;
    expect(expected, `${key}: the last audit entry`).to.include(last);
  }
}

function stateOf(state: State): keyof typeof LEADING_TO {
  if (state === null) return 'gone';
  if (state.withdrawn) return 'withdrawn';
  return state.status === 'Published' ? 'Published' : 'Draft';
}

/** Checks that each repository has a row and each row has a repository, and that there are no unfinished files. */
async function checkFolders({ client, target, model, dataDir, reposDir }: Site): Promise<void> {
  const reader = new Reader(client, target, model);
  const namesIn = (kind: string) =>
    readdirSync(join(reposDir, kind)).map((name) => name.replace(/\.git$/, ''));
  const configurations = (await reader.list('/api/v1/configurations')).map(({ name }) => String(name));
  const composites = (await reader.list('/api/v1/composite-configurations')).map(({ name }) => String(name));
  expect(namesIn('configurations').sort()).to.deep.equal(configurations.sort());
  expect(namesIn('composites').sort()).to.deep.equal(composites.sort());
  expect(configurations).to.include.members(namesIn('parameters'));
  expect(readdirSync(join(reposDir, '.tmp')), 'left over in repos/.tmp').to.deep.equal([]);
  const names = [dataDir, join(dataDir, 'tls')].flatMap((folder) => readdirSync(folder));
  expect(names.filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
}

/** Lets the database check itself, and counts anew what its triggers count. */
export async function checkDatabase(database: OpenPlace): Promise<void> {
  expect(await database.ownFaults()).to.deep.equal([]);
  expect(await countFaults(database)).to.deep.equal({});
}

/** Checks each repository with stock git: it must be intact, and its refs must be those of the existing versions. */
async function checkRepositories({ model, reposDir }: Site): Promise<number> {
  const folders = ['configurations', 'composites', 'parameters'].flatMap((kind) =>
    readdirSync(join(reposDir, kind)).map((name) => ({ kind, name: name.replace(/\.git$/, '') })),
  );
  for (const { kind, name } of folders)
    await checkRepository(model, { kind, name, folder: join(reposDir, kind, `${name}.git`) });
  return folders.length;
}

/** Checks one repository, or a mirror of it, with stock git. */
export async function checkRepository(
  model: Model,
  { kind, name, folder }: { kind: string; name: string; folder: string },
): Promise<void> {
  // Rejects with git's output if the repository is damaged.
  await git(folder, 'fsck', '--strict', '--no-dangling', '--no-progress');
  const refs = (await git(folder, 'for-each-ref', '--format=%(refname) %(objecttype)')).trim().split('\n');
  const found = refs.filter((ref) => /^refs\/(?:tags|heads\/draft)\//.test(ref)).sort();
  expect(found, folder).to.deep.equal(refsOf(model, kind, name).sort());
  const stable = found.some(
    (ref) => /^refs\/tags\/v[^-]+$/.test(ref) && !found.includes(ref.replace('/tags/', '/tags/withdrawn/')),
  );
  if (kind !== 'parameters') expect(refs.includes('refs/heads/main commit'), folder).to.equal(stable);
}

/** The refs that the acknowledged versions must have. */
function refsOf(model: Model, kind: string, name: string): string[] {
  const start = { configurations: 'versions', composites: 'composite-versions' }[kind] ?? kind;
  return model.keys(`${start}/${name}/`).flatMap((key) => {
    const [, ...rest] = partsOf(key);
    const version = rest.pop();
    const scope = rest.filter((part) => part !== '-').map((part) => `${part}/`);
    const { status, withdrawn = null } = model.state(key);
    if (status === 'Draft') return `refs/heads/draft/${scope.join('')}${version} commit`;
    const tag = `refs/tags/${scope.join('')}v${version} tag`;
    return withdrawn === null ? tag : [tag, `refs/tags/withdrawn/v${version} tag`];
  });
}

async function git(folder: string, ...args: string[]): Promise<string> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    HOME: '/nonexistent',
  };
  return (await run('git', ['-C', folder, ...args], { env })).stdout;
}
