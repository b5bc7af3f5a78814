/** Acts of nodes and on nodes: register, rotate, assign, tag, report, pull and delete. */

import { setTimeout as sleep } from 'node:timers/promises';
import { makeClientCertificate } from '../../client-certificates.ts';
import { unzip } from '../../unzip.ts';
import type { State } from '../model.ts';
import {
  type Act,
  asNode,
  attempt,
  type Bench,
  partsOf,
  sha256,
  UnexpectedAnswer,
  unexpected,
} from './act.ts';
import { pickConfiguration } from './configurations.ts';

const PATH = '/api/v1/nodes';
/** With this many nodes, no further certificates are made. */
const ENOUGH = 12;

export const register: Act = async (bench) => {
  const { model, registrationKey } = bench;
  if (model.keys('nodes/').length >= ENOUGH) return false;
  const fqdn = `n${model.next()}.example.org`;
  const key = `nodes/${fqdn}`;
  const thumbprint = await makeIdentity(bench, fqdn);
  const state = { thumbprint, pending: null, assigned: null, tags: [], status: 'Unknown', reports: [] };
  const reply = await attempt(bench, {
    what: 'register',
    after: { [key]: state },
    call: () => asNode(bench, thumbprint, (node) => node.post(`${PATH}/register`, { registrationKey, fqdn })),
  });
  if (reply) model.ids.set(key, reply.json.nodeId);
  return true;
};

/** A node announces the certificate that it will use next. */
export const announce: Act = (bench) =>
  onNode(bench, async ({ key, path, before }) => {
    const pending = await makeIdentity(bench, partsOf(key)[0] ?? '');
    const { cert: certificate } = bench.model.identities.get(pending) ?? { cert: '' };
    return {
      what: 'announce a certificate',
      after: { ...before, pending },
      call: () =>
        asNode(bench, before.thumbprint, (node) => node.post(`${path}/rotate-certificate`, { certificate })),
    };
  });

/** A node uses the certificate that it announced. */
export const comeWithNew: Act = (bench) =>
  onNode(bench, ({ path, before }) => {
    const { pending } = before;
    if (pending === null) return null;
    return {
      what: 'come with the new certificate',
      after: { ...before, thumbprint: pending, pending: null },
      call: () => asNode(bench, pending, (node) => node.get(`${path}/lcm-config`)),
    };
  });

export const report: Act = (bench) =>
  onNode(bench, ({ path, before }) => {
    const marker = `report ${bench.model.next()}`;
    const inDesiredState = bench.random.below(2) === 0;
    const results = [{ name: marker, type: 'Test/Thing', result: { inDesiredState } }];
    const body = { operation: 'Test', result: { metadata: { marker }, results, hadErrors: false } };
    const status = inDesiredState ? 'Compliant' : 'NonCompliant';
    return {
      what: 'report',
      after: { ...before, status, reports: [...before.reports, marker].sort() },
      call: () => asNode(bench, before.thumbprint, (node) => node.post(`${path}/reports`, body)),
    };
  });

export const assign: Act = (bench) =>
  onNode(bench, ({ path, before }) => {
    const name = pickConfiguration(bench);
    if (name === undefined) return null;
    return {
      what: 'assign a configuration',
      after: { ...before, assigned: name },
      call: () => bench.client.put(`${path}/configuration`, { configurationName: name }),
      // The configuration has no published version, or has just been deleted.
      refusals: [404, 409],
    };
  });

export const unassign: Act = (bench) =>
  onNode(bench, ({ path, before }) => ({
    what: 'take a configuration from a node',
    after: { ...before, assigned: null },
    call: () => bench.client.delete(`${path}/configuration`),
  }));

export const tag: Act = (bench) =>
  onNode(bench, ({ path, before }) => {
    const { model, random } = bench;
    const value = random.pick(model.idle('scope-values/'));
    const scopeValueId = value && model.ids.get(value);
    if (!scopeValueId || before.tags.some((known: string) => isOfType(known, value))) return null;
    return {
      what: 'tag a node',
      after: { ...before, tags: [...before.tags, partsOf(value).join('/')].sort() },
      call: () => bench.client.post(`${path}/tags`, { scopeValueId }),
    };
  });

export const deleteNode: Act = (bench) =>
  onNode(bench, ({ path }) => ({
    what: 'delete a node',
    after: null,
    call: () => bench.client.delete(path),
  }));

/** Milliseconds for which a poll may tell of an older state. The promise is one second, but not for a busy machine. */
const BEHIND = 10_000;
const PAUSE = 50;

/** Checks that the node gets a complete published version. This is no write, but it is the purpose of all writes. */
export const pull: Act = async (bench) => {
  const { model, random, isBehind } = bench;
  const key = random.pick(model.idle('nodes/').filter((one) => model.state(one).assigned !== null));
  if (key === undefined) return false;
  const end = performance.now() + (isBehind ? BEHIND : 0);
  for (;;) {
    try {
      await checkBundle(bench, key);
      return true;
    } catch (error) {
      if (!(error instanceof UnexpectedAnswer) || performance.now() >= end) throw error;
    }
    await sleep(PAUSE);
  }
};

async function checkBundle(bench: Bench, key: string): Promise<void> {
  const { model, isAway = () => false } = bench;
  const wasAway = isAway();
  const before = model.state(key);
  if (model.isBusy(key) || (before?.assigned ?? null) === null) return;
  const { thumbprint, assigned } = before;
  const path = `${PATH}/${model.ids.get(key)}/configuration/bundle`;
  const reply = await asNode(bench, thumbprint, (node) => node.get(path));
  // Another client has changed the node meanwhile.
  if (model.isBusy(key) || model.state(key) !== before) return;
  // While the database is away a node gets what its last poll got, whatever was written since: a bundle, or that there is none.
  const isKept = (wasAway || isAway()) && [200, 404].includes(reply.status);
  if (isKept) return;
  if (reply.status !== 200) {
    const start = `versions/${assigned}/`;
    const versions = model.keys(start).map((one) => `${one} ${JSON.stringify(model.state(one))}`);
    const doubts = model.inProgress(start, `rollouts/${assigned}/`);
    throw unexpected(`pull of ${assigned}, which has ${[...versions, ...doubts].join('; ')}`, reply);
  }
  const [, version] = /-v(.+)\.zip"$/.exec(String(reply.headers['content-disposition'])) ?? [];
  const entries = (await unzip(reply.bytes)).filter(({ path: file }) => file !== 'parameters.yaml');
  const files = Object.fromEntries(entries.map(({ path: file, content }) => [file, sha256(content)]));
  // A push makes a version and publishes it at once, so a node may have it before its author has the answer.
  const expected = model.stateOrWish(`versions/${assigned}/${version}`)?.files ?? {};
  const order = (record: object) => JSON.stringify(Object.entries(record).sort());
  if (order(files) === order(expected)) return;
  throw new UnexpectedAnswer(
    `pull: ${assigned} ${version} is ${order(expected)}, the bundle ${order(files)}`,
  );
}

interface NodeAct {
  what: string;
  after: State;
  call: Parameters<typeof attempt>[1]['call'];
  refusals?: readonly number[];
}

async function onNode(
  bench: Bench,
  wish: (node: { key: string; path: string; before: State }) => Promise<NodeAct | null> | NodeAct | null,
): Promise<boolean> {
  const { model, random } = bench;
  const key = random.pick(model.idle('nodes/'));
  if (key === undefined) return false;
  const before = model.state(key);
  const act = await wish({ key, path: `${PATH}/${model.ids.get(key)}`, before });
  // Another client may have chosen the node while the act was prepared.
  if (act === null || model.isBusy(key) || model.state(key) !== before) return false;
  const { after, ...rest } = act;
  await attempt(bench, { ...rest, after: { [key]: after } });
  return true;
}

async function makeIdentity({ model }: Bench, commonName: string): Promise<string> {
  const identity = await makeClientCertificate({ commonName });
  model.identities.set(identity.thumbprint, identity);
  return identity.thumbprint;
}

const isOfType = (tagged: string, value: string) => tagged.split('/')[0] === partsOf(value)[0];
