/**
 * A server with one configuration and many nodes, each tagged with a region, an environment and a role. All of these
 * values have a small parameter file, so the number of values decides how many nodes get the same.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SCOPE_TYPE_ID } from '../../src/domain/scopes.ts';
import type { Client } from '../../test/support/client.ts';
import { type ConnectingNode, filesOf, makeFleet, makeIdentities, VERSIONS } from './fleet.ts';
import { makeParameterRepository } from './parameter-repository.ts';
import { contentOf, valueAt, withDatabase } from './parameter-site.ts';
import { expect, signIn, visitAll } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { insertScopeTypes } from './scope-rows.ts';

const TYPES = ['Region', 'Environment', 'Role'] as const;
/** Neither is published yet. */
export const NEXT_VERSION = `1.${VERSIONS}.0`;
export const NEXT_FILE = '1.1.0';

export interface PreviewSite {
  folder: string;
  server: ServerProcess;
  client: Client;
  configurationName: string;
  /** A node that can connect. */
  polling: ConnectingNode;
  nodes: number;
  /** How many combinations of values the nodes have. */
  combinations: number;
}

export interface PreviewSiteSize {
  nodes: number;
  /** The number of values of each of the three scope types. */
  values: number;
  /** Settings of the server in addition to those that it needs. */
  settings?: Record<string, string>;
}

/** The site has a draft of the configuration that changes every node, and a draft of the Default file that does too. */
export async function makePreviewSite(
  folder: string,
  template: string,
  processes: Processes,
  { nodes, values, settings = {} }: PreviewSiteSize,
): Promise<PreviewSite> {
  mkdirSync(folder);
  const fleet = await makeFleet(folder, template, { configurations: 1, nodes }, await makeIdentities(1));
  const [polling] = fleet.connecting;
  if (polling === undefined) throw new Error('no node of the site can connect');
  const { configurationName } = polling;
  const names = Array.from({ length: values }, (_, at) => valueAt(at));
  const scope = (scopeType: string, value: string | null) => ({
    ...{ scopeType, value, text: contentOf(scopeType, value, 'a') },
  });
  makeParameterRepository(join(folder, `repos/parameters/${configurationName}.git`), [
    scope('Default', null),
    ...TYPES.flatMap((type) => names.map((value) => scope(type, value))),
  ]);
  const configurationId = await withDatabase(folder, async (database) => {
    const rows = await database.read.selectFrom('nodes').select('id').execute();
    const types = TYPES.map((name, at) => ({
      ...{ name, values: names, valueMode: 'Restricted' as const },
      ...{ placeOf: (nodeAt: number) => Math.floor(nodeAt / values ** at) % values },
    }));
    await insertScopeTypes(
      database,
      types,
      rows.map(({ id }) => id),
    );
    return (await database.read.selectFrom('configurations').select('id').executeTakeFirstOrThrow()).id;
  });
  const server = await processes.startHawser(folder, { settings });
  await visitAll(server.endpoint, fleet);
  const client = await signIn(server.endpoint);
  await makeDrafts(client, configurationName, configurationId);
  const combinations = Math.min(nodes, values ** TYPES.length);
  return { folder, server, client, configurationName, polling, nodes, combinations };
}

async function makeDrafts(client: Client, name: string, configurationId: string): Promise<void> {
  const files = Object.fromEntries(filesOf(VERSIONS).map(({ path, content }) => [path, content]));
  const path = `/api/v1/configurations/${name}/versions`;
  const draft = await client.upload(path, { fields: { version: NEXT_VERSION }, files });
  expect(draft.status === 201, 'a draft', draft);
  const content = contentOf('Default', null, 'b');
  const file = await client.put(`/api/v1/parameters/${DEFAULT_SCOPE_TYPE_ID}/${configurationId}`, {
    ...{ version: NEXT_FILE, content },
  });
  expect(file.status === 201, 'a draft of a parameter file', file);
}
