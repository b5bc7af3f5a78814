/** Checks that everything that was acknowledged is there and complete, and that nothing is there in part. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DatabasePlace } from '../../../src/db/database.ts';
import type { Client, Target } from '../client.ts';
import { type EngineHandle, type OpenPlace, openPlace } from '../engines/both.ts';
import { countFaults } from '../engines/counts.ts';
import { eventually } from '../eventually.ts';
import { partsOf } from './acts/act.ts';
import { checkMirrors, repositoriesOf } from './mirrors.ts';
import type { Model, State } from './model.ts';
import { Reader } from './reader.ts';
import { checkFoldersWithGit } from './repository-checks.ts';

/**
 * For each kind that is listed by name: the path of the list, the member with the name, and the rows that the test
 * did not make.
 */
const LISTS = [
  { kind: 'configurations', path: '/api/v1/configurations', member: 'name' },
  { kind: 'composites', path: '/api/v1/composite-configurations', member: 'name' },
  { kind: 'nodes', path: '/api/v1/nodes', member: 'fqdn' },
  { kind: 'users', path: '/api/v1/users', member: 'username', except: ['admin'] },
  { kind: 'change-sets', path: '/api/v1/change-sets', member: 'title' },
  { kind: 'scope-types', path: '/api/v1/scope-types', member: 'name', except: ['Default', 'Node'] },
] as const;

/** Milliseconds within which a running server has ended what was left open. */
const SETTLED = 10_000;

export interface Site extends DatabasePlace {
  client: Client;
  target: Target;
  /** A token of somebody who may read everything. */
  token: string;
  model: Model;
  reposDir: string;
  /** Whether a death since the last check was a power cut, which may take what was not flushed. */
  wasCut: boolean;
  /** The keys that were touched before a power cut. */
  unaudited: Set<string>;
}

const ROLLOUT_ENTRY = /\.rollout_(?:started|moved)$/;

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
 * Runs after every start. Reads through the API what requests may have changed since the last check, and checks
 * which repositories there are.
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
    await eventually(() => checkRepositoryNames(site, database), SETTLED);
    await eventually(async () => checkLeftovers(site), SETTLED);
    await eventually(() => checkDatabase(database), SETTLED);
  } finally {
    await database.close();
  }
  return keys.length;
}

/** Checks everything, whether it was checked before or not, also with stock git. */
export async function checkAll(site: Site): Promise<number> {
  const checked = await checkAnswers(site);
  const { dataDir, databaseUrl, model, reposDir, target, token } = site;
  if (databaseUrl === null) return checked + (await checkFoldersWithGit(model, reposDir));
  // The folder is a cache there, and what counts is what a clone gets.
  const repositories = repositoriesOf(model, model.keys(''));
  return checked + (await checkMirrors({ dataDir, port: target.port }, { model, token, repositories }));
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

/**
 * Checks that the last entry of each version in the audit trail tells of the version as it is, and that each transition of
 * a rollout that a person has made has its entry, and one alone.
 */
export async function checkAudit(
  { model }: Pick<Site, 'model'>,
  database: EngineHandle,
  keys: readonly string[],
): Promise<void> {
  const entries = await database.all<{ action: string; details: string; actor_type: string }>(
    `select action, details, actor_type from audit_entries where details like '%"name"%' order by seq`,
  );
  for (const key of keys) {
    const [, kind] = /^(versions|composite-versions|parameters|rollouts)\//.exec(key) ?? [];
    const [name, ...rest] = partsOf(key);
    const owner = kind === 'composite-versions' ? 'composites' : 'configurations';
    // What goes with its resource has no entry of its own, and an adopted repository has none for its versions.
    if (kind === undefined || model.state(`${owner}/${name}`) === null) continue;
    const version = rest.pop();
    const [scopeType, value] = rest;
    const isAbout = ({ action, details: text }: (typeof entries)[number]) => {
      // A version has entries of its own and of its rollout.
      if (kind !== 'parameters' && ROLLOUT_ENTRY.test(action) !== (kind === 'rollouts')) return false;
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
    const state = model.state(key);
    if (kind === 'rollouts') {
      const byPeople = entries.filter((entry) => isAbout(entry) && entry.actor_type !== 'System');
      const moves = byPeople.map(({ details }) => JSON.parse(details).to ?? 'Running');
      if (state !== null) expect(moves, `${key}: the audit entries`).to.deep.equal(state.moves);
      continue;
    }
    const [, last = 'adopted'] = entries.filter(isAbout).at(-1)?.action.split('.') ?? ['', 'nothing'];
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

/** Checks that each repository has a row and each row has a repository. */
async function checkRepositoryNames(site: Site, database: EngineHandle): Promise<void> {
  const { client, target, model } = site;
  const names = await repositoryNames(site, database);
  const reader = new Reader(client, target, model);
  const configurations = (await reader.list('/api/v1/configurations')).map(({ name }) => String(name));
  const composites = (await reader.list('/api/v1/composite-configurations')).map(({ name }) => String(name));
  expect(names('configurations')).to.have.members(configurations);
  expect(names('composites')).to.have.members(composites);
  expect(configurations).to.include.members(names('parameters'));
}

/** @returns the names of the repositories of a kind, which are in folders or in PostgreSQL */
async function repositoryNames({ databaseUrl, reposDir }: Site, database: EngineHandle) {
  if (databaseUrl === null)
    return (kind: string) => readdirSync(join(reposDir, kind)).map((name) => name.replace(/\.git$/, ''));
  const rows = await database.all<{ kind: string; name: string }>(
    'select kind, name from git_repositories where removed_at is null',
  );
  return (kind: string) => rows.filter((row) => row.kind === kind).map(({ name }) => name);
}

/** Checks that there are no unfinished files. With PostgreSQL the repositories are a cache, which may hold some. */
function checkLeftovers({ dataDir, databaseUrl, reposDir }: Site): void {
  if (databaseUrl === null)
    expect(readdirSync(join(reposDir, '.tmp')), 'left over in repos/.tmp').to.deep.equal([]);
  const names = [dataDir, join(dataDir, 'tls')].flatMap((folder) => readdirSync(folder));
  expect(names.filter((name) => name.endsWith('.tmp'))).to.deep.equal([]);
}

/** Lets the database check itself, and counts anew what its triggers count. */
export async function checkDatabase(database: OpenPlace): Promise<void> {
  expect(await database.ownFaults()).to.deep.equal([]);
  expect(await countFaults(database)).to.deep.equal({});
}
