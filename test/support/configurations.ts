/** Short calls of the routes of configurations, and checks that hold for every refusal. */

import type { Client, Form, Reply } from './client.ts';
import { ok } from './replies.ts';

export const CONFIGURATIONS = '/api/v1/configurations';
export const versionsOf = (name: string) => `${CONFIGURATIONS}/${name}/versions`;
export const fileOf = (name: string, version: string, path: string) =>
  `${versionsOf(name)}/${version}/files/${path}`;

export const MAIN = 'main.dsc.yaml';

/** Posts a form. Its only file is `main.dsc.yaml` unless other files are given. */
export function post(
  client: Client,
  path: string,
  fields: Record<string, string>,
  more: Omit<Form, 'fields'> = { files: { [MAIN]: '$schema: x\nresources: []\n' } },
): Promise<Reply> {
  return client.upload(path, { fields, ...more });
}

export function create(
  client: Client,
  name: string,
  fields: Record<string, string> = {},
  more?: Omit<Form, 'fields'>,
): Promise<Reply> {
  return post(client, CONFIGURATIONS, { name, ...fields }, more);
}

export function addVersion(
  client: Client,
  name: string,
  fields: Record<string, string> = {},
  more?: Omit<Form, 'fields'>,
): Promise<Reply> {
  return post(client, versionsOf(name), fields, more);
}

export function publish(client: Client, name: string, version: string): Promise<Reply> {
  return client.put(`${versionsOf(name)}/${version}/publish`);
}

/** Adds a version and publishes it. */
export async function release(
  client: Client,
  name: string,
  version: string,
  more?: Omit<Form, 'fields'>,
): Promise<void> {
  await ok(201, addVersion(client, name, { version }, more));
  await ok(200, publish(client, name, version));
}
