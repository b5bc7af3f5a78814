/**
 * A server with one configuration, whose parameters have few or many scope values. Its nodes are tagged in three
 * scopes.
 */

import { join } from 'node:path';
import type { Database } from '../../src/db/database.ts';
import { openSqlite } from '../../src/db/sqlite/open.ts';
import type { Client } from '../../test/support/client.ts';
import type { ClientCertificate } from '../../test/support/client-certificates.ts';
import { type ConnectingNode, makeFleet } from './fleet.ts';
import type { CrowdNode } from './messages.ts';
import { makeParameterRepository, type ScopeContent } from './parameter-repository.ts';
import { requestText, signIn, visitAll } from './probe.ts';
import type { Crowd, Processes, ServerProcess } from './processes.ts';
import { insertScopeTypes } from './scope-rows.ts';

/** The scope types in which nodes are tagged, in the order of merging. */
const TYPES = ['Region', 'Role', 'Environment'] as const;
/** The number of values of Region and of Role; Environment has few or many. */
const VALUES = 5;
/** A value of Environment. It has a file like any other, and no node is tagged with it. */
export const UNUSED_VALUE = valueAt(0);

export interface ParameterSite {
  server: ServerProcess;
  crowd: Crowd;
  client: Client;
  configurationId: string;
  scopeTypeIds: ReadonlyMap<string, string>;
  connecting: readonly ConnectingNode[];
  /** The minor number of the next version that is published. */
  nextMinor: number;
}

export interface SiteSize {
  nodes: number;
  /** The number of values of Environment. */
  values: number;
}

export async function makeParameterSite(
  folder: string,
  template: string,
  processes: Processes,
  { nodes, values }: SiteSize,
  identities: readonly ClientCertificate[],
): Promise<ParameterSite> {
  const fleet = await makeFleet(folder, template, { configurations: 1, nodes }, identities);
  const name = fleet.connecting[0]?.configurationName ?? '';
  makeParameterRepository(join(folder, `repos/parameters/${name}.git`), scopesOf(values));
  const { configurationId, scopeTypeIds } = await withDatabase(folder, async (database) => ({
    configurationId: (await database.read.selectFrom('configurations').select('id').executeTakeFirstOrThrow())
      .id,
    scopeTypeIds: await insertScopes(database, values, fleet.connecting),
  }));
  const server = await processes.startHawser(folder);
  // This makes the server check every tag of the parameters, which happens once for each repository.
  await visitAll(server.endpoint, fleet);
  const client = await signIn(server.endpoint);
  const crowd = processes.startCrowd();
  return { server, crowd, client, configurationId, scopeTypeIds, connecting: fleet.connecting, nextMinor: 1 };
}

/** What the crowd needs to know about the nodes. */
export function toCrowd(nodes: readonly ConnectingNode[]): CrowdNode[] {
  return nodes.map(({ nodeId, identity }) => ({
    identity,
    request: requestText(`/api/v1/nodes/${nodeId}/configuration/checksum`, {}),
  }));
}

/**
 * Makes a parameter file as people write them, of some 300 bytes to 1 KB. The content depends on the scope and on the
 * revision.
 * @param revision two revisions are enough, because a version may have the content of an earlier one
 */
export function contentOf(scopeType: string, value: string | null, revision: string): string {
  const own = `${scopeType.toLowerCase()}Revision: ${value ?? 'all'}-${revision}`;
  const count = scopeType === 'Default' ? 16 : 4;
  const settings = Array.from({ length: count }, (_, at) => [
    `  setting${at}:`,
    `    enabled: ${at % 2 === 0}`,
    `    name: ${scopeType} ${value ?? ''} ${at}`,
    `    limits: [${at}, ${at * 10}, ${at * 100}]`,
  ]);
  return ['parameters:', `  ${own}`, ...settings.flat(), ''].join('\n');
}

export function valueAt(at: number): string {
  return `value-${String(at).padStart(5, '0')}`;
}

function scopesOf(environments: number): ScopeContent[] {
  const scope = (scopeType: string, value: string | null) => ({
    ...{ scopeType, value },
    text: contentOf(scopeType, value, 'a'),
  });
  const valued = TYPES.flatMap((type) => valuesOf(type, environments).map((value) => scope(type, value)));
  return [scope('Default', null), ...valued];
}

function valuesOf(scopeType: string, environments: number): string[] {
  return Array.from({ length: scopeType === 'Environment' ? environments : VALUES }, (_, at) => valueAt(at));
}

/** Nodes get the values of each type in turn, except the unused one of Environment. */
function valueIndex(scopeType: string, nodeAt: number, values: readonly string[]): number {
  if (scopeType === 'Environment') return 1 + (nodeAt % (values.length - 1));
  return (scopeType === 'Role' ? Math.floor(nodeAt / VALUES) : nodeAt) % values.length;
}

async function insertScopes(
  database: Database,
  environments: number,
  connecting: readonly ConnectingNode[],
): Promise<Map<string, string>> {
  const first = new Set(connecting.map(({ nodeId }) => nodeId));
  const rows = await database.read.selectFrom('nodes').select('id').execute();
  // The nodes that connect come first, so that they have as many different values as there are.
  const nodeIds = [...first, ...rows.map(({ id }) => id).filter((id) => !first.has(id))];
  const types = TYPES.map((name) => {
    const values = valuesOf(name, environments);
    return { name, values, placeOf: (nodeAt: number) => valueIndex(name, nodeAt, values) };
  });
  return insertScopeTypes(database, types, nodeIds);
}

/** Opens the database of a site on which no server runs yet. */
export async function withDatabase<T>(folder: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openSqlite(join(folder, 'data'));
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}
