/** Clients that create, draft, publish and register without a pause until the server dies under them. */

import { X509Certificate } from 'node:crypto';
import type { Client, Reply } from '../client.ts';
import type { Model, Random } from './model.ts';

export interface Workers {
  /** With a token for everything; each client of its own connections. */
  clients: readonly Client[];
  model: Model;
  random: Random;
  registrationKey: string;
  csr: string;
  /** In the names of what is made, so that later checks can ask for this round's alone. */
  round: number;
}

export interface Work {
  /** Resolves when so many writes have been acknowledged, or the work has come to a fault. */
  reached(writes: number): Promise<void>;
  /** To be called before the kill: an answer of the dying server that is no answer is no fault then. */
  stop(): void;
  /** Ends when all clients have noticed; the number of acknowledged writes. */
  done: Promise<number>;
}

export function startWork(workers: Workers): Work {
  let stopped = false;
  let acknowledged = 0;
  let awaited = { writes: Number.POSITIVE_INFINITY, tell: () => {} };
  const loop = async (client: Client): Promise<void> => {
    try {
      for (;;) {
        await doSomething(client, workers);
        acknowledged += 1;
        if (acknowledged >= awaited.writes) awaited.tell();
      }
    } catch (error) {
      awaited.tell();
      if (!stopped || error instanceof UnexpectedAnswer) throw error;
    }
  };
  const done = Promise.all(workers.clients.map(loop)).then(() => acknowledged);
  // Looked at only after the kill.
  done.catch(() => undefined);
  return {
    reached: (writes) =>
      new Promise((tell) => {
        awaited = { writes, tell };
      }),
    stop: () => {
      stopped = true;
    },
    done,
  };
}

class UnexpectedAnswer extends Error {}

function doSomething(client: Client, workers: Workers): Promise<void> {
  const dice = workers.random.below(10);
  if (dice < 3) return create(client, workers);
  if (dice < 5) return draft(client, workers);
  if (dice < 7) return publish(client, workers);
  return register(client, workers);
}

async function create(client: Client, { model, random, round }: Workers): Promise<void> {
  const name = `c${round}-${model.next()}`;
  const files = someFiles(random, name);
  const facts = model.addVersion(name, '1.0.0', files);
  expectStatus(201, await client.upload('/api/v1/configurations', { fields: { name }, files }));
  facts.drafted = 'acknowledged';
  const configuration = model.configurations.get(name);
  if (configuration) configuration.created = 'acknowledged';
}

async function draft(client: Client, workers: Workers): Promise<void> {
  const { model, random } = workers;
  const name = random.pick(model.knownNames());
  if (name === undefined) return create(client, workers);
  const version = `1.${model.next()}.0${random.pick(['', '', '-rc.1']) ?? ''}`;
  const files = someFiles(random, `${name} ${version}`);
  const facts = model.addVersion(name, version, files);
  const form = { fields: { version }, files };
  expectStatus(201, await client.upload(`/api/v1/configurations/${name}/versions`, form));
  facts.drafted = 'acknowledged';
}

async function publish(client: Client, workers: Workers): Promise<void> {
  const { model, random } = workers;
  const choice = random.pick(model.drafts());
  if (choice === undefined) return create(client, workers);
  const [name, version, facts] = choice;
  facts.published = 'sent';
  facts.isRead = false;
  model.touched.add(name);
  expectStatus(200, await client.put(`/api/v1/configurations/${name}/versions/${version}/publish`));
  facts.published = 'acknowledged';
}

async function register(client: Client, { model, registrationKey, csr, round }: Workers): Promise<void> {
  const fqdn = `r${round}-${model.next()}.example.org`;
  const facts = model.addNode(fqdn);
  const reply = await client.post('/api/v1/nodes/register', { registrationKey, fqdn, csr });
  expectStatus(200, reply);
  const certificate = new X509Certificate(reply.json.certificate);
  facts.nodeId = reply.json.nodeId;
  facts.thumbprint = certificate.fingerprint256.replaceAll(':', '');
  facts.registered = 'acknowledged';
}

/** Some shared between versions, some their own, one in a folder. */
function someFiles(random: Random, label: string): Record<string, string> {
  const own = `# ${label} ${random.below(1e9)}\n`.repeat(1 + random.below(40));
  return {
    'main.dsc.yaml': own,
    'lib/common.ps1': 'shared',
    [`lib/${random.below(3)}.txt`]: own.toUpperCase(),
  };
}

function expectStatus(status: number, reply: Reply): void {
  if (reply.status === status) return;
  throw new UnexpectedAnswer(`expected ${status}, got ${reply.status} ${reply.text}`);
}
