/** Short calls of the routes of composites and grants, groups, and requests whose body comes late. */

import { request } from 'node:https';
import { newId } from '../../src/lib/ids.ts';
import type { Client, Reply } from './client.ts';
import { withDatabase } from './database.ts';
import type { Hawser } from './hawser.ts';
import type { Person } from './people.ts';
import { ok } from './replies.ts';

export const COMPOSITES = '/api/v1/composite-configurations';
export const compositeOf = (name: string) => `${COMPOSITES}/${name}`;
export const compositeVersionsOf = (name: string) => `${COMPOSITES}/${name}/versions`;
export const compositeVersionOf = (name: string, version: string) =>
  `${COMPOSITES}/${name}/versions/${version}`;
export const childrenOf = (name: string, version: string) =>
  `${COMPOSITES}/${name}/versions/${version}/children`;

type More = Record<string, unknown>;

export function createComposite(client: Client, name: string, more: More = {}): Promise<Reply> {
  return client.post(COMPOSITES, { name, ...more });
}

export function addCompositeDraft(
  client: Client,
  name: string,
  version: string,
  more: More = {},
): Promise<Reply> {
  return client.post(compositeVersionsOf(name), { version, ...more });
}

export function addChild(
  client: Client,
  name: string,
  version: string,
  childConfigurationName: string,
  more: More = {},
): Promise<Reply> {
  return client.post(childrenOf(name, version), { childConfigurationName, ...more });
}

export function publishComposite(client: Client, name: string, version: string): Promise<Reply> {
  return client.put(`${compositeVersionOf(name, version)}/publish`);
}

/** A child by its name, or with a pin or order of its own. */
export type Wish = string | { name: string; activeVersion?: string; majorVersion?: number; order?: number };

/** Publishes a version with these children. Makes the composite if it does not exist. */
export async function publishWithChildren(
  client: Client,
  name: string,
  version: string,
  children: readonly Wish[],
  more: More = {},
): Promise<void> {
  const there = await client.get(compositeOf(name));
  if (there.status === 404) await ok(201, createComposite(client, name, more));
  await ok(201, addCompositeDraft(client, name, version));
  for (const wish of children) {
    const { name: child, ...rest } = typeof wish === 'string' ? { name: wish } : wish;
    await ok(201, addChild(client, name, version, child, rest));
  }
  await ok(200, publishComposite(client, name, version));
}

/** Makes a group with these people as members. */
export async function addGroup(hawser: Hawser, name: string, ...members: Person[]): Promise<string> {
  const now = Date.now();
  const group = { id: newId(), name, name_key: name.toLowerCase(), description: null };
  await withDatabase(hawser, async ({ write }) => {
    await write
      .insertInto('groups')
      .values({ ...group, created_at: now, modified_at: now })
      .execute();
    for (const { userId } of members) {
      await write.insertInto('group_members').values({ group_id: group.id, user_id: userId }).execute();
    }
  });
  return group.id;
}

export interface SlowCall {
  /**
   * Sends the body.
   * @returns the status and code of the answer
   */
  finish(): Promise<string>;
}

/** Sends the head of a request with a JSON body at once, and the body only when `finish` is called. */
export async function slowCall(
  hawser: Hawser,
  method: string,
  path: string,
  { headers, json }: { headers: Record<string, string>; json: unknown },
): Promise<SlowCall> {
  const body = JSON.stringify(json);
  const { port, ca } = hawser.target();
  const type = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
  const outgoing = request({ host: 'localhost', port, ca, method, path, headers: { ...headers, ...type } });
  const answered = new Promise<string>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      incoming.on('end', () =>
        resolve(`${incoming.statusCode} ${JSON.parse(text || '{}').code ?? ''}`.trim()),
      );
    });
  });
  answered.catch(() => undefined);
  outgoing.flushHeaders();
  outgoing.write(body.slice(0, 1));
  // After this time the server has processed the head.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return {
    finish: () => {
      outgoing.end(body.slice(1));
      return answered;
    },
  };
}
