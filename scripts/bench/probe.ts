/**
 * Sends each connecting node's requests once and checks the answers, before they are sent thousands of times. It
 * records the answers, and the generator compares later answers with them.
 */

import { createHash } from 'node:crypto';
import { type Client, makeUncheckedClient, type Reply } from '../../test/support/client.ts';
import { type ConnectingNode, type Fleet, NEWEST_VERSION } from './fleet.ts';
import type { CannedAnswer, Endpoint, LoadClient } from './messages.ts';
import { ADMIN_PASSWORD } from './processes.ts';
import type { Scenario } from './scenarios.ts';

/** Headers that Node adds to every answer, so the bare server sends them as well. */
const ADDED_BY_NODE = new Set(['date', 'connection', 'keep-alive']);

export interface Probed {
  clients: LoadClient[];
  /** One of the answers, which the bare server repeats. */
  answer: CannedAnswer;
}

/** @throws Error if an answer does not agree with the fleet's data */
export async function probe(endpoint: Endpoint, fleet: Fleet, scenario: Scenario): Promise<Probed> {
  const clients: LoadClient[] = [];
  let answer: CannedAnswer | undefined;
  for (const node of fleet.connecting) {
    const client = makeUncheckedClient(endpoint, node.identity);
    const asked = await askFor(client, node, scenario);
    client.close();
    clients.push({
      identity: node.identity,
      request: requestText(asked.path, asked.headers),
      status: asked.reply.status,
      body: asked.reply.status === 304 ? null : asked.reply.bytes,
    });
    answer ??= cannedFrom(asked.reply);
  }
  if (answer === undefined) throw new Error('no node of the fleet can connect');
  return { clients, answer };
}

/** The nodes send the same requests to every server. The bare server gives all of them the same answer. */
export function clientsOfBare({ clients, answer }: Probed): LoadClient[] {
  return clients.map((client) => ({ ...client, body: answer.body }));
}

/** A client with the session of a user; by default the first administrator. */
export async function signIn(
  endpoint: Endpoint,
  { username, password } = { username: 'admin', password: ADMIN_PASSWORD },
): Promise<Client> {
  const client = makeUncheckedClient(endpoint);
  return client.with({ Cookie: await cookieOf(client, username, password) });
}

/** The cookie of a new session of the first administrator, for a browser. */
export async function sessionCookie(endpoint: Endpoint): Promise<string> {
  const client = makeUncheckedClient(endpoint);
  const cookie = await cookieOf(client, 'admin', ADMIN_PASSWORD);
  client.close();
  return cookie;
}

async function cookieOf(client: Client, username: string, password: string): Promise<string> {
  const login = await client.post('/api/v1/auth/login', { username, password });
  expect(login.status === 200, 'a sign-in', login);
  return String(login.headers['set-cookie']).split(';', 1)[0] ?? '';
}

/** Polls once for each configuration, so that all of them are in the server's memory, as in normal use. */
export async function visitAll(endpoint: Endpoint, fleet: Fleet): Promise<void> {
  const client = await signIn(endpoint);
  for (const nodeId of fleet.oneNodeEach) {
    const reply = await client.get(`/api/v1/nodes/${nodeId}/configuration/checksum`);
    expect(
      reply.status === 200 && reply.json.version === NEWEST_VERSION,
      'a poll on behalf of a node',
      reply,
    );
  }
  client.close();
}

async function askFor(client: Client, node: ConnectingNode, { resource, known }: Scenario) {
  const base = `/api/v1/nodes/${node.nodeId}/configuration`;
  const poll = await client.get(`${base}/checksum`);
  const { configurationName, version, checksum } = poll.status === 200 ? poll.json : {};
  expect(configurationName === node.configurationName && version === NEWEST_VERSION, 'a poll', poll);
  expect(poll.headers['etag'] === `"${checksum}"`, 'a poll', poll);
  // The request has only the headers that agents send (.NET's HttpClient): the host, and the ETag that they have.
  const headers: Record<string, string> = known ? { 'If-None-Match': `"${checksum}"` } : {};
  const path = `${base}/${resource}`;
  const reply = await client.get(path, headers);
  expect(reply.status === (known ? 304 : 200), 'the measured request', reply);
  if (resource === 'bundle') {
    const digest = createHash('sha256').update(reply.bytes).digest('base64');
    expect(reply.headers['repr-digest'] === `sha-256=:${digest}:`, 'the digest of a bundle', reply);
    expect(reply.bytes.length > 19_000 && reply.bytes.length < 22_000, 'the size of a bundle', reply);
  }
  return { path, headers, reply };
}

/** @throws Error if the condition does not hold */
export function expect(holds: boolean, what: string, reply: Reply): void {
  if (!holds)
    throw new Error(`wrong answer, ${what}: ${reply.status} ${reply.bytes.toString('latin1', 0, 400)}`);
}

export function requestText(path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ Host: 'localhost', ...headers });
  return `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

function cannedFrom({ status, headers, bytes }: Reply): CannedAnswer {
  const kept = Object.entries(headers).filter(([name]) => !ADDED_BY_NODE.has(name));
  const texts = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
  return { status, headers: texts, body: status === 304 ? null : bytes };
}
