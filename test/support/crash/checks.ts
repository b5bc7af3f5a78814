/** Looks whether all that was acknowledged is there, whole, and nothing is there by halves. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { expect } from 'chai';
import type { Client, Reply } from '../client.ts';
import { git } from '../hawser.ts';
import type { ConfigurationFacts, Model, NodeFacts, VersionFacts } from './model.ts';
import type { ServerProcess } from './server-process.ts';

/** After every restart: what was written to since the last look, over the API; no left-overs on the disk. */
export async function checkTouched(client: Client, model: Model, round: number): Promise<void> {
  const names = [...model.touched];
  await Promise.all(names.map((name) => checkConfiguration(client, model, name)));
  await checkNodes(client, model, round);
}

/** Each repository is a configuration and each configuration a repository. */
export async function checkRegistry(client: Client, { reposDir }: ServerProcess): Promise<void> {
  const listed = await listAll(client, '/api/v1/configurations');
  const onDisk = readdirSync(join(reposDir, 'configurations'));
  expect(onDisk.sort()).to.deep.equal(listed.map((view) => `${view.name}.git`).sort());
}

/** Everything there is, whether it was looked at before or not. */
export async function checkAll(client: Client, model: Model): Promise<void> {
  for (const { versions } of model.configurations.values()) {
    for (const facts of versions.values()) facts.isRead = false;
  }
  const listed = await listAll(client, '/api/v1/configurations');
  const names = listed.map((view) => view.name).sort();
  expect(names).to.deep.equal([...model.configurations.keys()].sort());
  for (const name of names) await checkConfiguration(client, model, name);
  const nodes = await listAll(client, '/api/v1/nodes');
  expect(nodes.map((node) => node.fqdn)).to.deep.equal([...model.nodes.keys()].sort());
  const [key] = (await client.get('/api/v1/admin/registration-keys')).json;
  expect(key.currentUses).to.equal(nodes.length);
}

async function checkConfiguration(client: Client, model: Model, name: string): Promise<void> {
  const facts = model.configurations.get(name);
  if (!facts) return;
  const path = `/api/v1/configurations/${name}`;
  const reply = await client.get(path);
  if (reply.status === 404 && facts.created === 'sent') {
    model.configurations.delete(name);
    return;
  }
  expect(reply.status, `${name}: ${reply.text}`).to.equal(200);
  facts.created = 'acknowledged';
  const versions = await listAll(client, `${path}/versions`);
  expect(reply.json.versionCount, name).to.equal(versions.length);
  expect(versions.length, `${name} has a version twice`).to.equal(
    new Set(versions.map((v) => v.version)).size,
  );
  for (const view of versions) await checkVersion(client, facts, path, view);
  settleAbsent(name, facts, new Set(versions.map((view) => view.version)));
}

async function checkVersion(
  client: Client,
  { versions }: ConfigurationFacts,
  path: string,
  view: Reply['json'],
): Promise<void> {
  const label = `${path} ${view.version}`;
  const facts = versions.get(view.version);
  if (!facts) throw new Error(`${label} was never asked for`);
  const allowed = { no: ['Draft'], sent: ['Draft', 'Published'], acknowledged: ['Published'] };
  expect(view.status, label).to.be.oneOf(allowed[facts.published]);
  expect(view.fileCount, label).to.equal(Object.keys(facts.files).length);
  expect(view.entryPoint, label).to.equal('main.dsc.yaml');
  expect(view.createdBy, label).to.equal('admin');
  expect(view.publishedBy, label).to.equal(view.status === 'Published' ? 'admin' : null);
  for (const [file, content] of facts.isRead ? [] : Object.entries(facts.files)) {
    const reply = await client.get(`${path}/versions/${view.version}/files/${file}`);
    expect(reply.status, `${label} ${file}`).to.equal(200);
    expect(reply.text, `${label} ${file}`).to.equal(content);
  }
  facts.isRead = true;
  facts.drafted = 'acknowledged';
  facts.published = view.status === 'Published' ? 'acknowledged' : 'no';
}

function settleAbsent(name: string, { versions }: ConfigurationFacts, present: ReadonlySet<string>): void {
  for (const [version, facts] of versions) {
    if (present.has(version)) continue;
    expect(isCertain(facts), `${name} ${version} was acknowledged and is gone`).to.equal(false);
    versions.delete(version);
  }
}

const isCertain = (facts: VersionFacts): boolean => facts.drafted === 'acknowledged';

async function checkNodes(client: Client, model: Model, round: number): Promise<void> {
  const listed = await listAll(client, `/api/v1/nodes?fqdn=r${round}-`);
  const byName = new Map(listed.map((node) => [String(node.fqdn), node]));
  for (const fqdn of model.arrived) {
    const facts = model.nodes.get(fqdn);
    if (!facts) continue;
    const found = byName.get(fqdn);
    byName.delete(fqdn);
    if (found) await checkNode(client, found, facts);
    else {
      expect(facts.registered, `${fqdn} was acknowledged and is gone`).to.equal('sent');
      model.nodes.delete(fqdn);
    }
  }
  expect([...byName.keys()], 'nodes that never were registered').to.deep.equal([]);
  model.arrived.clear();
}

async function checkNode(client: Client, found: Reply['json'], facts: NodeFacts): Promise<void> {
  const { certificate } = (await client.get(`/api/v1/nodes/${found.id}`)).json;
  expect(certificate.thumbprint).to.match(/^[0-9A-F]{64}$/);
  expect(found.id).to.equal(facts.nodeId ?? found.id);
  expect(certificate.thumbprint).to.equal(facts.thumbprint ?? certificate.thumbprint);
  facts.registered = 'acknowledged';
}

async function listAll(client: Client, path: string): Promise<Reply['json'][]> {
  const found: Reply['json'][] = [];
  for (;;) {
    const query = `${path.includes('?') ? '&' : '?'}take=1000&skip=${found.length}`;
    const reply = await client.get(path + query);
    expect(reply.status, `${path}: ${reply.text}`).to.equal(200);
    found.push(...reply.json);
    if (found.length >= Number(reply.headers['x-total-count'])) return found;
  }
}

/** Nothing half-made lies about, and the database says of itself that it is whole. */
export function checkDisk({ dataDir, reposDir }: ServerProcess): void {
  expect(readdirSync(join(reposDir, '.tmp')), 'left over in repos/.tmp').to.deep.equal([]);
  const leftOver = [reposDir, dataDir].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.tmp')),
  );
  expect(leftOver.filter((path) => path !== '.tmp')).to.deep.equal([]);
  const database = new SqliteDatabase(join(dataDir, 'hawser.db'), { readonly: true });
  try {
    expect(database.pragma('integrity_check')).to.deep.equal([{ integrity_check: 'ok' }]);
    expect(database.pragma('foreign_key_check')).to.deep.equal([]);
  } finally {
    database.close();
  }
}

/** Stock git on each repository, after the server has looked at it: clean, and its refs in order. */
export function checkRepositories({ reposDir }: ServerProcess, names: Iterable<string>): void {
  for (const name of names) {
    const folder = join(reposDir, 'configurations', `${name}.git`);
    // Throws with git's words when it is not clean.
    git(folder, 'fsck', '--strict', '--no-dangling', '--no-progress');
    const refs = git(folder, 'for-each-ref', '--format=%(refname) %(objecttype)').trim().split('\n');
    const named = (pattern: RegExp) => refs.flatMap((ref) => pattern.exec(ref)?.[1] ?? []);
    const published = named(/^refs\/tags\/v(\S+) tag$/);
    const drafts = named(/^refs\/heads\/draft\/(\S+) commit$/);
    expect(
      published.filter((version) => drafts.includes(version)),
      name,
    ).to.deep.equal([]);
    const hasMain = refs.includes('refs/heads/main commit');
    expect(refs.length, refs.join()).to.equal(published.length + drafts.length + (hasMain ? 1 : 0));
    expect(hasMain, name).to.equal(published.some((version) => !version.includes('-')));
  }
}
