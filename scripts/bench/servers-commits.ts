/** Compares drafts and publishes on PostgreSQL with the time of as many commits that insert one small row each. */

import type { Client } from '../../test/support/client.ts';
import { bareCommits } from './bare-commits.ts';
import { manyRounds } from './list-timing.ts';
import { expect, signIn } from './probe.ts';
import { ACTS, begin } from './publishing.ts';
import { type ScaleRow, scaleRow } from './scale.ts';
import { METRICS_TOKEN, type SharedSite, type Stage } from './servers.ts';
import { timed } from './versions.ts';

const NAME = 'beside-bare-commits';
/** V8 compiles code that runs often, so the first publishes do not count. */
const WARM_UP = 30;
/** The commits of so many publishes are counted. The server's other writes may come between, so the lowest number counts. */
const COUNTED = 5;

export async function measureBareCommits(
  { cluster, effort }: Stage,
  { servers: [server] }: SharedSite,
): Promise<ScaleRow[]> {
  // The server has ended connections that nobody used while others were measured.
  const client = await signIn(server.endpoint);
  const author = { client, name: NAME };
  await begin(author);
  let minor = 0;
  const commits = ACTS.map(() => Number.POSITIVE_INFINITY);
  for (; minor < WARM_UP; minor += 1) {
    for (const [at, { act }] of ACTS.entries()) {
      const before = await commitsOf(client);
      await act(author, minor + 1);
      if (minor >= WARM_UP - COUNTED)
        commits[at] = Math.min(commits[at] as number, (await commitsOf(client)) - before);
    }
  }
  const bare = await bareCommits(await cluster.newUrl());
  const times = ACTS.map(() => ({ few: [] as number[], many: [] as number[] }));
  try {
    for (let round = 0; round < manyRounds(effort).rounds; round += 1) {
      minor += 1;
      for (const [at, { act }] of ACTS.entries()) {
        times[at]?.many.push((await timed(() => act(author, minor))).ms);
        times[at]?.few.push(await bare.commit(commits[at] as number));
      }
    }
  } finally {
    await bare.close();
    client.close();
  }
  return ACTS.map(({ what }, at) =>
    scaleRow(what, `${commits[at]} bare commits : ${what}`, times[at] ?? { few: [], many: [] }, null),
  );
}

/** How often the server has committed. */
async function commitsOf(client: Client): Promise<number> {
  const reply = await client.get('/metrics', { Authorization: `Bearer ${METRICS_TOKEN}`, Cookie: '' });
  expect(reply.status === 200, 'the metrics', reply);
  return Number(/^hawser_database_write_duration_seconds_count (\d+)/m.exec(reply.text)?.[1]);
}
