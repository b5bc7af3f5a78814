/**
 * The data of a bench: repositories with published versions, and a fleet of nodes that get them. They are made with
 * the project's own stores and not through the API, which would take minutes for 20,000 nodes.
 */

import { randomBytes } from 'node:crypto';
import { copyFileSync, linkSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { DAY, HOUR } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { createLog } from '../../src/lib/log.ts';
import { GitStore } from '../../src/versions/store.ts';
// Test and bench need the same thing: certificates like those that agents make for themselves.
import { type ClientCertificate, makeClientCertificate } from '../../test/support/client-certificates.ts';
import { fillTables, type Named } from './table-repositories.ts';

export const VERSIONS = 20;
/** The version that every node gets: the highest of those made here. */
export const NEWEST_VERSION = `1.${VERSIONS - 1}.0`;

const FILES = 10;
/** Ten files of this size make a bundle of about 20 KB. */
const FILE_BYTES = 1_900;
const ROWS_PER_INSERT = 1_000;

export interface FleetSize {
  configurations: number;
  nodes: number;
}

/** A node that really connects. All other nodes exist only as rows. */
export interface ConnectingNode {
  nodeId: string;
  configurationName: string;
  identity: ClientCertificate;
}

export interface Fleet {
  /** The folder with `data` and `repos`. */
  folder: string;
  size: FleetSize;
  connecting: ConnectingNode[];
  /** The id of one node per configuration. */
  oneNodeEach: string[];
}

/**
 * Makes the repository that all others are copies of.
 * @param versions how many published versions it has
 * @returns its folder
 */
export async function makeTemplate(folder: string, versions = VERSIONS): Promise<string> {
  const store = new GitStore({
    root: folder,
    log: createLog('silent'),
    cacheBytes: 64 * 1024 * 1024,
    onRefsMoved: async () => undefined,
  });
  await store.prepare();
  const person = { name: 'bench', email: 'bench@localhost' };
  const repository = { kind: 'configurations', name: 'template' } as const;
  const draft = (minor: number) => ({
    version: `1.${minor}.0`,
    entryPoint: 'main.dsc.yaml',
    files: filesOf(minor),
    author: person,
    at: Date.now(),
  });
  const settings = { id: newId(), description: null, createdBy: '', createdAt: Date.now() };
  await store.create(
    repository,
    { ...settings, useServerManagedParameters: true, entryPoint: null },
    draft(0),
  );
  await store.exclusive(repository, async (locked) => {
    for (let minor = 0; minor < versions; minor += 1) {
      if (minor > 0) await locked.writeDraft('', draft(minor));
      await locked.publish('', `1.${minor}.0`, { tagger: person, at: Date.now() });
    }
  });
  await store.close();
  return join(folder, 'configurations', 'template.git');
}

/** Each version changes the entry point and one module, as real versions do. */
export function filesOf(minor: number): { path: string; content: Buffer }[] {
  return Array.from({ length: FILES }, (_, at) => {
    const revision = at === 0 ? minor : Math.floor((minor + at) / FILES);
    const path = at === 0 ? 'main.dsc.yaml' : `modules/part-${at}.yaml`;
    const line = `# ${path}, revision ${revision}\n`;
    const document = `$schema: x\nresources: []\n${line.repeat(Math.ceil(FILE_BYTES / line.length))}`;
    return { path, content: Buffer.from(document) };
  });
}

/**
 * Fills `folder` with a fleet. As many of its nodes can connect as there are identities.
 * @param databaseUrl an empty database of PostgreSQL for the rows and the repositories; null for SQLite and folders
 */
export async function makeFleet(
  folder: string,
  template: string,
  size: FleetSize,
  identities: readonly ClientCertificate[],
  databaseUrl: string | null = null,
): Promise<Fleet> {
  const configurations = Array.from({ length: size.configurations }, (_, at) => ({
    id: newId(),
    // All names have the same length, so that all answers have it too.
    name: `configuration-${String(at).padStart(4, '0')}`,
  }));
  if (databaseUrl === null) copyRepositories(template, join(folder, 'repos/configurations'), configurations);
  else mkdirSync(join(folder, 'repos'), { recursive: true });
  const nodes = planNodes(size.nodes, configurations, identities);
  const database = await openDatabase({ dataDir: join(folder, 'data'), databaseUrl });
  try {
    await insertRows(database, configurations, nodes);
    if (databaseUrl !== null) await fillTables(database, template, configurations);
  } finally {
    await database.close();
  }
  return {
    folder,
    size,
    connecting: nodes.flatMap(({ id, configuration, identity }) =>
      identity ? [{ nodeId: id, configurationName: configuration.name, identity }] : [],
    ),
    oneNodeEach: nodes.slice(0, size.configurations).map((node) => node.id),
  };
}

/** Git objects never change, so the copies are hard links to them. All other files are real copies. */
function copyRepositories(template: string, target: string, configurations: readonly Named[]): void {
  const entries = readdirSync(template, { recursive: true, withFileTypes: true }).map((entry) => ({
    path: join(entry.parentPath, entry.name).slice(template.length),
    isFolder: entry.isDirectory(),
  }));
  const settings = readFileSync(join(template, 'config'), 'utf8');
  for (const { id, name } of configurations) {
    const gitdir = join(target, `${name}.git`);
    mkdirSync(gitdir, { recursive: true });
    for (const { path, isFolder } of entries) {
      if (isFolder) mkdirSync(gitdir + path, { recursive: true });
      else if (path.startsWith('/objects/')) linkSync(template + path, gitdir + path);
      else copyFileSync(template + path, gitdir + path);
    }
    writeFileSync(join(gitdir, 'config'), settings.replace(/(\tid = )".*"/, `$1"${id}"`));
  }
}

interface PlannedNode {
  id: string;
  configuration: Named;
  thumbprint: string;
  identity: ClientCertificate | undefined;
}

/** Assigns the configurations to the nodes in turn. The nodes that connect are spread evenly among the others. */
function planNodes(
  count: number,
  configurations: readonly Named[],
  identities: readonly ClientCertificate[],
): PlannedNode[] {
  const stride = Math.floor(count / identities.length);
  return Array.from({ length: count }, (_, at) => {
    const configuration = configurations[at % configurations.length] as Named;
    const identity = at % stride === 0 ? identities[at / stride] : undefined;
    const thumbprint = identity?.thumbprint ?? randomBytes(32).toString('hex').toUpperCase();
    return { id: newId(), configuration, thumbprint, identity };
  });
}

async function insertRows(
  database: Database,
  configurations: readonly Named[],
  nodes: readonly PlannedNode[],
): Promise<void> {
  const now = Date.now();
  await database.write.transaction().execute(async (trx) => {
    for (const rows of inBatches(configurations)) {
      const values = rows.map(({ id, name }) => ({
        ...{ id, name, name_key: name, description: null, use_server_managed_parameters: 1 },
        ...{ created_at: now, updated_at: now },
      }));
      await trx.insertInto('configurations').values(values).execute();
    }
    for (const batch of inBatches(nodes)) {
      await trx
        .insertInto('nodes')
        .values(batch.map((node) => nodeRow(node, now)))
        .execute();
      await trx
        .insertInto('node_certificates')
        .values(batch.map((node) => certificateRow(node, now)))
        .execute();
      await trx
        .insertInto('assignments')
        .values(batch.map((node) => assignmentRow(node, now)))
        .execute();
      const checkIns = batch.map(({ id }) => ({ node_id: id, last_check_in: now }));
      await trx.insertInto('node_check_ins').values(checkIns).execute();
    }
  });
}

function nodeRow({ id }: PlannedNode, now: number) {
  return {
    id,
    fqdn: `node-${id}.example.org`,
    status: 'Unknown',
    lcm_status: 'Unknown',
    configuration_source: 'Pull',
    configuration_mode: 'Monitor',
    configuration_mode_interval: '00:15:00',
    configuration_mode_interval_ms: 900_000,
    report_compliance: 1,
    desired_configuration_mode: null,
    desired_configuration_mode_interval: null,
    desired_report_compliance: null,
    created_at: now,
  };
}

function certificateRow({ id, thumbprint }: PlannedNode, now: number) {
  return {
    thumbprint,
    node_id: id,
    state: 'current' as const,
    subject: `CN=node-${id}.example.org`,
    not_before: now - HOUR,
    not_after: now + 90 * DAY,
    created_at: now,
  };
}

function assignmentRow({ id, configuration }: PlannedNode, now: number) {
  return {
    node_id: id,
    configuration_id: configuration.id,
    composite_id: null,
    major_version: null,
    prerelease_channel: null,
    assigned_at: now,
  };
}

export function* inBatches<T>(rows: readonly T[]): Generator<T[]> {
  for (let at = 0; at < rows.length; at += ROWS_PER_INSERT) yield rows.slice(at, at + ROWS_PER_INSERT);
}

export function makeIdentities(count: number): Promise<ClientCertificate[]> {
  return Promise.all(
    Array.from({ length: count }, (_, at) => makeClientCertificate({ commonName: `bench-${at}` })),
  );
}
