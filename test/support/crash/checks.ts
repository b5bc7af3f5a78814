/** Looks whether all that was acknowledged is there, whole, and nothing is there by halves. */

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import type { Client, Target } from '../client.ts';
import { partsOf } from './acts/act.ts';
import type { Model, State } from './model.ts';
import { Reader } from './reader.ts';

const run = promisify(execFile);

/** Of the kinds that are listed by name: where, by which member, and which rows are not of our making. */
const LISTS = [
  { kind: 'configurations', path: '/api/v1/configurations', member: 'name' },
  { kind: 'composites', path: '/api/v1/composite-configurations', member: 'name' },
  { kind: 'nodes', path: '/api/v1/nodes', member: 'fqdn' },
  { kind: 'users', path: '/api/v1/users', member: 'username', except: ['admin'] },
  { kind: 'scope-types', path: '/api/v1/scope-types', member: 'name', except: ['Default', 'Node'] },
] as const;

export interface Site {
  client: Client;
  target: Target;
  model: Model;
  dataDir: string;
  reposDir: string;
}

/**
 * After every start: what was asked for since the last look, over the interface; what the disk holds.
 * @returns how many things were looked at
 */
export async function checkTouched(site: Site): Promise<number> {
  const keys = site.model.takeTouched();
  await checkKeys(site, keys);
  await checkFolders(site);
  checkDatabase(site);
  return keys.length;
}

/** Everything there is, whether it was looked at before or not, also by stock git. */
export async function checkAll(site: Site): Promise<number> {
  const { client, target, model } = site;
  // Read again: a report may have been changed since.
  model.markers.clear();
  const keys = model.keys('');
  await checkKeys(site, keys);
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
  const repositories = await checkRepositories(site);
  return keys.length + repositories;
}

async function checkKeys({ client, target, model }: Site, keys: readonly string[]): Promise<void> {
  const reader = new Reader(client, target, model);
  const found = new Map<string, State>();
  await Promise.all(keys.map(async (key) => found.set(key, await reader.read(key))));
  model.compare(found);
}

/** Each repository belongs to a row and each row has its repository; nothing half-made lies about. */
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

/** The database says of itself that it is whole. */
function checkDatabase({ dataDir }: Site): void {
  const database = new SqliteDatabase(join(dataDir, 'hawser.db'), { readonly: true });
  try {
    expect(database.pragma('integrity_check')).to.deep.equal([{ integrity_check: 'ok' }]);
    expect(database.pragma('foreign_key_check')).to.deep.equal([]);
  } finally {
    database.close();
  }
}

/** Stock git on each repository: clean, and its refs are those of the versions that there are. */
async function checkRepositories({ model, reposDir }: Site): Promise<number> {
  const folders = ['configurations', 'composites', 'parameters'].flatMap((kind) =>
    readdirSync(join(reposDir, kind)).map((name) => ({ kind, name: name.replace(/\.git$/, '') })),
  );
  for (const { kind, name } of folders) {
    const folder = join(reposDir, kind, `${name}.git`);
    // Rejects with git's words when it is not clean.
    await git(folder, 'fsck', '--strict', '--no-dangling', '--no-progress');
    const refs = (await git(folder, 'for-each-ref', '--format=%(refname) %(objecttype)')).trim().split('\n');
    const found = refs.filter((ref) => /^refs\/(?:tags|heads\/draft)\//.test(ref)).sort();
    expect(found, folder).to.deep.equal(refsOf(model, kind, name).sort());
    const stable = found.some((ref) => /^refs\/tags\/v[^-]+$/.test(ref));
    if (kind !== 'parameters') expect(refs.includes('refs/heads/main commit'), folder).to.equal(stable);
  }
  return folders.length;
}

/** The refs that the acknowledged versions must have. */
function refsOf(model: Model, kind: string, name: string): string[] {
  const start = { configurations: 'versions', composites: 'composite-versions' }[kind] ?? kind;
  return model.keys(`${start}/${name}/`).map((key) => {
    const [, ...rest] = partsOf(key);
    const version = rest.pop();
    const scope = rest.filter((part) => part !== '-').map((part) => `${part}/`);
    return model.state(key).status === 'Draft'
      ? `refs/heads/draft/${scope.join('')}${version} commit`
      : `refs/tags/${scope.join('')}v${version} tag`;
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
