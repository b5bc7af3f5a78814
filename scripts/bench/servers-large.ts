/** Compares uploads of large versions on PostgreSQL and in folders: their time, and the memory of the server. */

import { randomBytes } from 'node:crypto';
import type { Client } from '../../test/support/client.ts';
import type { Fleet } from './fleet.ts';
import { median } from './measure.ts';
import { forgetPeak, memoryOf } from './memory.ts';
import { expect, signIn } from './probe.ts';
import { formatScale, inTurn, type ScaleRow, type Side, scaleRow } from './scale.ts';
import type { Stage } from './servers.ts';
import { timed } from './versions.ts';

const FILES = 10;
const CONFIGURATIONS = '/api/v1/configurations';
const NAME = 'large';

export interface LargeResult {
  row: ScaleRow;
  /** Megabytes by which resident memory grew at most during an upload; medians of the rounds. */
  grown: Record<Side, number>;
}

interface Site {
  client: Client;
  pid: number;
}

export async function measureLarge(
  { processes, effort }: Stage,
  sqlite: Fleet,
  postgres: Fleet,
  url: string,
): Promise<LargeResult> {
  const { uploads, uploadBytes } = effort.servers;
  const servers = {
    few: await processes.startHawser(sqlite.folder),
    many: await processes.startHawser(postgres.folder, { settings: { HAWSER_DATABASE_URL: url } }),
  };
  const sites = {
    few: { client: await signIn(servers.few.endpoint), pid: servers.few.pid },
    many: { client: await signIn(servers.many.endpoint), pid: servers.many.pid },
  };
  for (const { client } of Object.values(sites)) await upload(client, 0, FILES);
  const times = { few: [] as number[], many: [] as number[] };
  const grown = { few: [] as number[], many: [] as number[] };
  let minor = 0;
  await inTurn({ rounds: uploads, warmUpRounds: 1 }, async (side, counts) => {
    minor += 1;
    const taken = await takeUpload(sites[side], minor, uploadBytes);
    if (!counts) return;
    times[side].push(taken.ms);
    grown[side].push(taken.megabytes);
  });
  for (const { client } of Object.values(sites)) client.close();
  for (const server of Object.values(servers)) await processes.end(server);
  const what = `upload of ${(uploadBytes / 1024 ** 2).toFixed(0)} MiB`;
  return {
    row: scaleRow(what, 'SQLite : PostgreSQL', times, null),
    grown: { few: median(grown.few), many: median(grown.many) },
  };
}

async function takeUpload({ client, pid }: Site, minor: number, bytes: number) {
  forgetPeak(pid);
  const before = memoryOf(pid).now;
  const ms = await upload(client, minor, bytes);
  return { ms, megabytes: (memoryOf(pid).peak - before) / 1e6 };
}

/** @returns milliseconds of an upload of new bytes that cannot be compressed */
async function upload(client: Client, minor: number, bytes: number): Promise<number> {
  const files = Object.fromEntries(
    Array.from({ length: FILES }, (_, at) => [
      `blobs/part-${at}.bin`,
      randomBytes(Math.floor(bytes / FILES)),
    ]),
  );
  Object.assign(files, { 'main.dsc.yaml': Buffer.from('$schema: x\nresources: []\n') });
  const [path, fields] =
    minor === 0
      ? [CONFIGURATIONS, { name: NAME, version: '1.0.0' }]
      : [`${CONFIGURATIONS}/${NAME}/versions`, { version: `1.${minor}.0` }];
  const { ms, reply } = await timed(() => client.upload(path, { fields, files }));
  expect(reply.status === 201, 'a large upload', reply);
  return ms;
}

export function formatLarge({ row, grown }: LargeResult): string {
  const megabytes = `memory grew by ${grown.few.toFixed(0)} MB with SQLite and ${grown.many.toFixed(0)} MB with PostgreSQL`;
  return `${formatScale('large versions', [row], ['SQLite', 'PostgreSQL'])}\n${megabytes}`;
}
