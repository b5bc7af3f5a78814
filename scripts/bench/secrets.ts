/**
 * Measures what secrets cost, beside a configuration with the same parameters in the clear on the same server: a poll, publishing
 * a file with twenty of them, and the first bundle of a node after that.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SECOND } from '../../src/lib/clock.ts';
import { type Client, makeClient, type Reply } from '../../test/support/client.ts';
import { makeClientCertificate } from '../../test/support/client-certificates.ts';
import { cpuSecondsOf } from './cpu.ts';
import { manyRounds } from './list-timing.ts';
import { expect, signIn } from './probe.ts';
import type { Processes, ServerProcess } from './processes.ts';
import { formatScale, inTurn, type ScaleRow, type Side, scaleRow } from './scale.ts';
import type { Effort } from './scenarios.ts';
import { timed } from './versions.ts';

/** The most time allowed, as a multiple of what the same takes without secrets (issue 52). */
const TARGET = 1.2;
/** A poll does nothing for secrets; the rest is what the machine makes of two equal things. */
const POLL_TARGET = 1.05;
const POLLS = 200;
const LEAVES = 20;
const WARM_UP = 30;
const DEFAULT_TYPE = '00000000-0000-0000-0000-000000000001';
const TYPES = { few: 'string', many: 'secureString' };
const COMPARED = `${LEAVES} leaves`;

/** A configuration with a node. */
interface Subject {
  admin: Client;
  node: Client;
  /** The path of what the node gets. */
  offer: string;
  /** The path of the parameters of Default. */
  series: string;
  nextPatch: number;
}

/** @param progress is called with what begins */
export async function measureSecrets(
  folder: string,
  _template: string,
  processes: Processes,
  effort: Effort,
  progress: (message: string) => void,
): Promise<ScaleRow[]> {
  const home = join(folder, 'secrets');
  mkdirSync(home);
  const server = await processes.startHawser(home);
  const admin = await signIn(server.endpoint);
  const subjects = {
    few: await makeSubject(server, admin, 'few'),
    many: await makeSubject(server, admin, 'many'),
  };
  for (let round = 0; round < WARM_UP; round += 1)
    for (const subject of Object.values(subjects)) {
      await publish(subject);
      await takeBundle(subject);
    }
  progress('measuring: secrets');
  const rounds = manyRounds(effort);
  const times = { poll: empty(), publish: empty(), bundle: empty() };
  await inTurn(rounds, async (side, counts) => {
    const subject = subjects[side];
    const taken = {
      publish: await publish(subject),
      bundle: await takeBundle(subject),
      poll: await poll(subject, server.pid),
    };
    if (counts)
      for (const what of ['poll', 'publish', 'bundle'] as const) times[what][side].push(taken[what]);
  });
  for (const { node } of Object.values(subjects)) node.close();
  admin.close();
  return [
    scaleRow('poll, CPU', COMPARED, times.poll, POLL_TARGET),
    scaleRow('save and publish a file', COMPARED, times.publish, TARGET),
    scaleRow('first bundle after a publish', COMPARED, times.bundle, TARGET),
  ];
}

const empty = (): Record<Side, number[]> => ({ few: [], many: [] });

async function makeSubject({ endpoint }: ServerProcess, admin: Client, side: Side): Promise<Subject> {
  const name = `leaves-${side}`;
  const types = Array.from({ length: LEAVES }, (_, at) => `  leaf${at}: {type: ${TYPES[side]}}\n`).join('');
  const files = { 'main.dsc.yaml': `$schema: x\nparameters:\n${types}resources: []\n` };
  const made = await admin.upload('/api/v1/configurations', { fields: { name, version: '1.0.0' }, files });
  expect(made.status === 201, 'a new configuration', made);
  const published = await admin.put(`/api/v1/configurations/${name}/versions/1.0.0/publish`);
  expect(published.status === 200, 'a publishing', published);
  const key = await admin.post('/api/v1/admin/registration-keys', {});
  expect(key.status === 201, 'a registration key', key);
  const fqdn = `${name}.example.org`;
  const node = makeClient(endpoint, await makeClientCertificate({ commonName: fqdn }));
  const registered = await node.post('/api/v1/nodes/register', { registrationKey: key.json.key, fqdn });
  expect(registered.status === 200, 'a registration', registered);
  const offer = `/api/v1/nodes/${registered.json.nodeId}/configuration`;
  const assigned = await admin.put(offer, { configurationName: name });
  expect(assigned.status === 204, 'an assignment', assigned);
  const series = `/api/v1/parameters/${DEFAULT_TYPE}/${made.json.id}`;
  return { admin, node, offer, series, nextPatch: 0 };
}

/** Saves a file of which every leaf is another one than before, and publishes it. @returns milliseconds of both */
async function publish(subject: Subject): Promise<number> {
  const version = `1.0.${subject.nextPatch}`;
  subject.nextPatch += 1;
  const lines = Array.from({ length: LEAVES }, (_, at) => `  leaf${at}: the-value-${at}-of-${version}\n`);
  const content = `parameters:\n${lines.join('')}`;
  const saved = await timed(() => subject.admin.put(subject.series, { version, content }));
  expect(saved.reply.status === 201, 'a new parameter file', saved.reply);
  const published = await timed(() => subject.admin.put(`${subject.series}/versions/${version}/publish`));
  expect(published.reply.status === 200, 'the publishing of a parameter file', published.reply);
  return saved.ms + published.ms;
}

async function takeBundle({ node, offer }: Subject): Promise<number> {
  const { ms, reply } = await timed(() => node.get(`${offer}/bundle`));
  expect(reply.status === 200 && reply.bytes.length > 0, 'a bundle', reply);
  return ms;
}

/** @returns milliseconds of the server's CPU for one poll, as the mean of many in a row */
async function poll({ node, offer }: Subject, pid: number): Promise<number> {
  const first: Reply = await node.get(`${offer}/checksum`);
  expect(first.status === 200, 'a poll', first);
  const known = { 'If-None-Match': String(first.headers['etag']) };
  const start = cpuSecondsOf(pid);
  let last = first;
  for (let at = 0; at < POLLS; at += 1) last = await node.get(`${offer}/checksum`, known);
  const ms = ((cpuSecondsOf(pid) - start) * SECOND) / POLLS;
  expect(last.status === 304, 'a poll of what is known', last);
  return ms;
}

export function formatSecrets(rows: readonly ScaleRow[]): string {
  return formatScale('secrets', rows, ['in the clear', 'secret']);
}
