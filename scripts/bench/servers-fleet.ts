/** Makes the fleets of the part on several servers. */

import { join } from 'node:path';
import { type Fleet, makeFleet, makeTemplate, NEWEST_VERSION, VERSIONS } from './fleet.ts';
import { expect, signIn } from './probe.ts';
import { contentOf } from './publishing.ts';
import type { Stage } from './servers.ts';

const CONFIGURATIONS = '/api/v1/configurations';
/** So many configurations get their newest version at the same time. */
const LANES = 8;

/**
 * Makes a fleet in folders and one in PostgreSQL. The newest version of each configuration has content of its own, so that
 * no object in a cache serves the polls of two configurations.
 * @param url an empty database of PostgreSQL
 */
export async function makeTwoFleets(
  stage: Stage,
  identities: Parameters<typeof makeFleet>[3],
  url: string,
): Promise<{ sqlite: Fleet; postgres: Fleet }> {
  const { configurations } = stage.effort.servers;
  const size = { configurations, nodes: configurations };
  const template = await makeTemplate(join(stage.folder, 'shorter-template'), VERSIONS - 1);
  const sqlite = await makeFleet(join(stage.folder, 'sqlite'), template, size, identities);
  await publishNewest(stage, sqlite, {});
  const postgres = await makeFleet(join(stage.folder, 'first'), template, size, identities, url);
  await publishNewest(stage, postgres, { HAWSER_DATABASE_URL: url });
  return { sqlite, postgres };
}

/** Publishes through the API, as the copies of the template would all have the same objects. */
async function publishNewest(
  { processes }: Stage,
  { folder, connecting }: Fleet,
  settings: Record<string, string>,
): Promise<void> {
  const server = await processes.startHawser(folder, { settings });
  const client = await signIn(server.endpoint);
  const waiting = connecting.map((node) => node.configurationName).values();
  const work = async () => {
    for (const name of waiting) {
      const path = `${CONFIGURATIONS}/${name}/versions`;
      const own = { ...contentOf(VERSIONS - 1), 'own.txt': Buffer.from(name) };
      const draft = await client.upload(path, { fields: { version: NEWEST_VERSION }, files: own });
      expect(draft.status === 201, 'a new draft', draft);
      const published = await client.put(`${path}/${NEWEST_VERSION}/publish`);
      expect(published.status === 200, 'a publishing', published);
    }
  };
  await Promise.all(Array.from({ length: LANES }, work));
  client.close();
  await processes.end(server);
}
