/**
 * Measures many parameter files at once: a push and a folder of them, beside the same refs pushed to a bare `git receive-pack`
 * and single files saved one after the other. Meanwhile a node of another configuration polls.
 */

import { mkdirSync } from 'node:fs';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SECOND } from '../../src/lib/clock.ts';
import { type Client, makeClient } from '../../test/support/client.ts';
import { makeClientCertificate } from '../../test/support/client-certificates.ts';
import { machineTime, type Poll, PollProbe, summarize } from '../../test/support/poll-probe.ts';
import { cpuSecondsOf } from './cpu.ts';
import { median } from './measure.ts';
import { contentOf, valueAt } from './parameter-site.ts';
import { expect, signIn } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { serveBare, tokenOf } from './pushing.ts';
import { table, verdict } from './report.ts';
import type { Effort } from './scenarios.ts';
import { StockGit } from './stock-git.ts';
import { timed } from './versions.ts';

/** Seconds for all files, and milliseconds that polls of others may wait (issue 53). */
const TARGETS = { seconds: 10, p99: 50 };
const NAME = 'many-files';
const OTHER = 'polled';
/** So many files are saved one by one, and count for all. */
const SINGLE = 25;
const FOLDER = '/api/v1/configurations/parameter-folder';

type What = 'drafts' | 'published' | 'folder' | 'folderPublished' | 'folderAgain' | 'bare' | 'single';

export interface ManyFilesRow {
  what: string;
  files: number;
  /** Medians of the rounds. */
  seconds: number;
  /** CPU time of the server. */
  cpu: number;
  /** The time as a multiple of the baseline's, whose name stands before it. */
  baseline: string;
  ratio: number;
  /** Waits of the polls during all rounds. */
  p99: number;
  longest: number;
  met: boolean;
}

export interface ManyFilesResults {
  rows: ManyFilesRow[];
  /** Waits of the polls before the rounds. */
  idle: { p99: number; longest: number };
}

interface Site {
  server: ServerProcess;
  admin: Client;
  /** The path of the parameters of Environment. */
  series: string;
  git: StockGit;
  bare: Server;
  remotes: { bare: string; hawser: string };
  values: readonly string[];
}

/** @param progress is called with what begins */
export async function measureManyFiles(
  folder: string,
  _template: string,
  processes: Processes,
  { rounds, manyFiles: { files, idleMs } }: Effort,
  progress: (message: string) => void,
): Promise<ManyFilesResults> {
  const home = join(folder, NAME);
  mkdirSync(home);
  const values = Array.from({ length: files }, (_, at) => valueAt(at));
  const site = await makeSite(home, processes, values);
  const probe = await PollProbe.start(site.server.endpoint, await addNode(site));
  try {
    const begin = machineTime();
    await sleep(idleMs);
    const idle = summarize((await probe.look()).filter(({ start }) => start >= begin));
    const spans = new Map<What, Span[]>();
    for (let round = 0; round <= rounds; round += 1) {
      progress(`measuring: ${files} parameter files at once, round ${round} of ${rounds}`);
      for (const [what, work] of stepsOf(site, round)) {
        const span = await spanOf(site, work);
        if (round > 0) spans.set(what, [...(spans.get(what) ?? []), span]);
      }
    }
    return { rows: rowsOf(files, spans, await probe.look()), idle };
  } finally {
    probe.kill();
    site.admin.close();
    site.bare.close();
    site.git.remove();
  }
}

interface Span {
  start: number;
  end: number;
  cpu: number;
}

async function spanOf({ server }: Site, work: () => Promise<void>): Promise<Span> {
  const before = cpuSecondsOf(server.pid);
  const start = machineTime();
  await work();
  return { start, end: machineTime(), cpu: cpuSecondsOf(server.pid) - before };
}

function stepsOf(site: Site, round: number): [What, () => Promise<void>][] {
  const { git, remotes, values } = site;
  const commit = (revision: string) =>
    git.commit(
      Object.fromEntries(values.map((value) => [`${value}/parameters.yaml`, textOf(value, revision)])),
    );
  const refs = (version: string) =>
    values.map((value) => `HEAD:refs/heads/draft/Environment/${value}/${version}`);
  const drafts = refs(`1.${4 * round}.0`);
  const published = refs(`1.${4 * round + 1}.0`);
  const folder = (revision: string) =>
    Object.fromEntries(
      values.map((value) => [`parameters/${NAME}/Environment/${value}.yaml`, textOf(value, revision)]),
    );
  const upload = async (revision: string, status: number, query = '') => {
    const reply = await site.admin.upload(`${FOLDER}${query}`, { fields: {}, files: folder(revision) });
    expect(reply.status === status, 'a folder', reply);
  };
  let isCommitted = false;
  const prepared = async (revision: string, push: () => Promise<void>) => {
    if (!isCommitted) await commit(revision);
    isCommitted = true;
    await push();
  };
  return [
    ['bare', () => prepared(`a${round}`, () => git.push(remotes.bare, ...drafts))],
    ['drafts', () => git.push(remotes.hawser, ...drafts)],
    ['published', () => git.push(remotes.hawser, '-o', 'publish', ...published)],
    ['folder', () => upload(`b${round}`, 200)],
    ['folderPublished', () => upload(`b${round}`, 200, '?publish=true')],
    ['folderAgain', () => upload(`b${round}`, 204)],
    ['single', () => saveSingle(site, `1.${4 * round + 2}.0`)],
  ];
}

async function saveSingle({ admin, series, values }: Site, version: string): Promise<void> {
  for (const scopeValue of values.slice(0, SINGLE)) {
    const { reply } = await timed(() =>
      admin.put(series, { version, scopeValue, content: textOf(scopeValue, version) }),
    );
    expect(reply.status === 201, 'a new parameter file', reply);
  }
}

function textOf(value: string, revision: string): string {
  return contentOf('Environment', value, revision);
}

async function makeSite(home: string, processes: Processes, values: readonly string[]): Promise<Site> {
  const server = await processes.startHawser(home);
  const admin = await signIn(server.endpoint);
  const type = await admin.post('/api/v1/scope-types', { name: 'Environment' });
  expect(type.status === 201, 'a scope type', type);
  const settings = Array.from({ length: 4 }, (_, at) => `  setting${at}: {type: object}\n`).join('');
  const declared = `parameters:\n  environmentRevision: {type: string}\n${settings}`;
  for (const [name, parameters] of [
    [NAME, declared],
    [OTHER, ''],
  ] as const) {
    const files = { 'main.dsc.yaml': `$schema: x\n${parameters}resources: []\n` };
    const made = await admin.upload('/api/v1/configurations', { fields: { name, version: '1.0.0' }, files });
    expect(made.status === 201, 'a new configuration', made);
    const published = await admin.put(`/api/v1/configurations/${name}/versions/1.0.0/publish`);
    expect(published.status === 200, 'a publishing', published);
  }
  const configuration = await admin.get(`/api/v1/configurations/${NAME}`);
  const series = `/api/v1/parameters/${type.json.id}/${configuration.json.id}`;
  const bare = await serveBare(home);
  const git = new StockGit(join(home, 'author'), { GIT_SSL_CAINFO: join(home, 'data/tls/ca.crt') });
  await git.begin({ 'README.md': Buffer.from('Values of all environments\n') });
  const { port } = bare.address() as AddressInfo;
  const token = await tokenOf(admin, ['configurations.grants', 'parameters.grants']);
  const remotes = {
    bare: `https://localhost:${port}/bare.git`,
    hawser: `https://bench:${token}@localhost:${server.endpoint.port}/git/parameters/${NAME}.git`,
  };
  return { server, admin, series, git, bare, remotes, values };
}

async function addNode({ server: { endpoint }, admin }: Site) {
  const key = await admin.post('/api/v1/admin/registration-keys', {});
  expect(key.status === 201, 'a registration key', key);
  const fqdn = `${OTHER}.example.org`;
  const identity = await makeClientCertificate({ commonName: fqdn });
  const node = makeClient(endpoint, identity);
  const registered = await node.post('/api/v1/nodes/register', { registrationKey: key.json.key, fqdn });
  expect(registered.status === 200, 'a registration', registered);
  node.close();
  const { nodeId } = registered.json;
  const assigned = await admin.put(`/api/v1/nodes/${nodeId}/configuration`, { configurationName: OTHER });
  expect(assigned.status === 204, 'an assignment', assigned);
  return { nodeId, identity };
}

function rowsOf(
  files: number,
  spans: ReadonlyMap<What, readonly Span[]>,
  polls: readonly Poll[],
): ManyFilesRow[] {
  const secondsOf = (what: What) =>
    (spans.get(what) ?? []).map(
      ({ start, end }) => ((end - start) / SECOND) * (what === 'single' ? files / SINGLE : 1),
    );
  const bare = { name: 'bare push', seconds: median(secondsOf('bare')) };
  const single = { name: `${files} single files`, seconds: median(secondsOf('single')) };
  const row = (what: What, label: string, baseline: typeof bare): ManyFilesRow => {
    const own = spans.get(what) ?? [];
    const during = summarize(
      polls.filter(({ start }) => own.some((span) => start >= span.start && start < span.end)),
    );
    const seconds = median(secondsOf(what));
    const { p99, longest, wrong } = during;
    const met = seconds <= TARGETS.seconds && p99 <= TARGETS.p99 && wrong === 0;
    const cpu = median(own.map((span) => span.cpu));
    return {
      what: label,
      files,
      seconds,
      cpu,
      baseline: baseline.name,
      ratio: seconds / baseline.seconds,
      p99,
      longest,
      met,
    };
  };
  return [
    row('drafts', 'push of drafts', bare),
    row('published', 'push with -o publish', bare),
    row('folder', 'folder, new drafts', single),
    row('folderPublished', 'folder, drafts published', single),
    row('folderAgain', 'folder, nothing new', single),
  ];
}

export function formatManyFiles({ rows, idle }: ManyFilesResults): string {
  const header = ['many files', '', 'files', 'seconds', 'at most', 'CPU s', 'baseline', 'ratio'];
  const waits = ['p99 ms', 'at most', 'longest ms'];
  const cells = rows.map((row) => [
    ...[row.what, verdict(row.met), String(row.files), row.seconds.toFixed(2), String(TARGETS.seconds)],
    ...[row.cpu.toFixed(2), row.baseline, `${row.ratio.toFixed(2)} x`],
    ...[row.p99.toFixed(1), String(TARGETS.p99), row.longest.toFixed(0)],
  ]);
  const before = `polls before: p99 ${idle.p99.toFixed(1)} ms, longest ${idle.longest.toFixed(0)} ms`;
  return [
    `many parameter files at once, and the polls of another node meanwhile; ${before}`,
    ...table([[...header, ...waits], ...cells]),
  ].join('\n');
}
