/** Short calls for single files of drafts. */

import type { Client, Reply } from './client.ts';
import { fileOf, versionsOf } from './configurations.ts';
import type { Hawser } from './hawser.ts';

export const versionOf = (name: string, version: string) => `${versionsOf(name)}/${version}`;

/** Saves a file of the draft. @param headers such as `If-Match`; there is no Content-Type unless it is given */
export function save(
  client: Client,
  [name, version, path]: readonly [name: string, version: string, path: string],
  content: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return client.call('PUT', fileOf(name, version, path), { body: content, headers });
}

export function remove(
  client: Client,
  [name, version, path]: readonly [name: string, version: string, path: string],
  headers: Record<string, string> = {},
): Promise<Reply> {
  return client.call('DELETE', fileOf(name, version, path), { headers });
}

/** All refs of a configuration's repository, with what they lead to. */
export const refsOf = (hawser: Hawser, name: string, kind = 'configurations') =>
  hawser.git(`${kind}/${name}.git`, 'for-each-ref');
