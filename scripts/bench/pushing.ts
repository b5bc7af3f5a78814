/**
 * Measures what it takes to push a version of ten files with stock git: compared with a push to a bare `git receive-pack`
 * behind a server that does nothing else, and a publish through the API.
 */

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import type { Client } from '../../test/support/client.ts';
import { manyRounds } from './list-timing.ts';
import { expect, signIn } from './probe.ts';
import type { Processes } from './processes.ts';
import { ACTS, begin, contentOf } from './publishing.ts';
import { formatScale, type ScaleRow, scaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';
import { FLUSHED, StockGit } from './stock-git.ts';
import { timed } from './versions.ts';

const run = promisify(execFile);

/** The most time allowed for a push, as a multiple of a bare push and a publish through the API. */
const PUSH_TARGET = 1.5;
/** The configuration that is pushed to, and the one whose versions are published through the API. */
const PUSHED = 'pushed';
const UPLOADED = 'uploaded';
const BARE = 'bare.git';

export interface PushResults {
  rows: ScaleRow[];
}

/** @param progress is called with what begins */
export async function measurePushing(
  folder: string,
  _template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<PushResults> {
  const site = join(folder, 'pushed-to');
  mkdirSync(site);
  const { endpoint } = await processes.startHawser(site);
  const client = await signIn(endpoint);
  for (const name of [PUSHED, UPLOADED]) await begin({ client, name });
  const bare = await serveBare(site);
  const git = new StockGit(join(folder, 'pushing'), { GIT_SSL_CAINFO: join(site, 'data/tls/ca.crt') });
  const { port } = bare.address() as AddressInfo;
  const token = await tokenOf(client);
  const remotes = {
    bare: `https://localhost:${port}/${BARE}`,
    hawser: `https://bench:${token}@localhost:${endpoint.port}/git/configurations/${PUSHED}.git`,
  };
  progress('measuring: pushing');
  await git.begin(contentOf(0));
  const few: number[] = [];
  const many: number[] = [];
  const { rounds, warmUpRounds } = manyRounds(effort);
  for (let round = 1 - warmUpRounds; round <= rounds; round += 1) {
    const minor = round + warmUpRounds;
    await git.publish(`1.${minor}.0`, contentOf(minor));
    const push = (remote: string) => timedPush(git, remote, `v1.${minor}.0`);
    const hawserFirst = minor % 2 === 0 ? await push(remotes.hawser) : 0;
    const baseline = (await push(remotes.bare)) + (await publish(client, minor));
    const measured = hawserFirst || (await push(remotes.hawser));
    if (round < 1) continue;
    few.push(baseline);
    many.push(measured);
  }
  const reply = await client.get(`/api/v1/configurations/${PUSHED}/versions?take=1`);
  const isThere = reply.json[0]?.version === `1.${rounds + warmUpRounds}.0`;
  expect(isThere && reply.json[0].status === 'Published', 'the version that was pushed last', reply);
  client.close();
  bare.close();
  git.remove();
  return { rows: [scaleRow('push of a tag', 'bare push and publish : push', { few, many }, PUSH_TARGET)] };
}

/** @returns milliseconds of `git push` */
async function timedPush(git: StockGit, remote: string, tag: string): Promise<number> {
  const start = performance.now();
  await git.push(remote, tag);
  return performance.now() - start;
}

/** @returns milliseconds of the publish alone; the draft was there before */
async function publish(client: Client, minor: number): Promise<number> {
  const [draft, act] = ACTS;
  const author = { client, name: UPLOADED };
  await draft?.act(author, minor);
  const { ms } = await timed(async () => {
    if (act === undefined) throw new Error('there is no act of publishing');
    return act.act(author, minor);
  });
  return ms;
}

export async function tokenOf(client: Client, scopes = ['configurations.grants']): Promise<string> {
  const reply = await client.post('/api/v1/auth/tokens', { name: 'bench', scopes });
  expect(reply.status === 201, 'a token', reply);
  return reply.json.token;
}

/** A server with the certificate of the Hawser that runs on `folder`, which runs `git receive-pack` and nothing else. */
export async function serveBare(folder: string): Promise<Server> {
  const gitdir = join(folder, BARE);
  await run('git', ['init', '--quiet', '--bare', gitdir]);
  const read = (name: string) => readFileSync(join(folder, 'data/tls', name));
  const git = (...args: string[]) =>
    spawn('git', [...FLUSHED, '-c', 'receive.fsckObjects=true', 'receive-pack', ...args, gitdir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
  const server = createServer({ cert: read('server.crt'), key: read('server.key') }, (request, response) => {
    const isAdvertisement = request.method === 'GET';
    const type = isAdvertisement ? 'advertisement' : 'result';
    response.writeHead(200, { 'Content-Type': `application/x-git-receive-pack-${type}` });
    if (isAdvertisement) response.write('001f# service=git-receive-pack\n0000');
    const child = git('--stateless-rpc', ...(isAdvertisement ? ['--advertise-refs'] : []));
    void pipeline(request, child.stdin).catch(() => undefined);
    void pipeline(child.stdout, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return server;
}

export function formatPushing({ rows }: PushResults): string {
  return formatScale('pushing', rows, ['bare', 'Hawser']);
}
