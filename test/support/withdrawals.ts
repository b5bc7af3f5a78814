/** Short calls for withdrawing versions and offering them again, by the API. */

import type { Client, Reply } from './client.ts';
import { compositeVersionOf } from './composites.ts';
import { versionsOf } from './configurations.ts';

export const versionOf = (name: string, version: string) => `${versionsOf(name)}/${version}`;

export function withdraw(client: Client, name: string, version: string, reason = 'bad'): Promise<Reply> {
  return client.put(`${versionOf(name, version)}/withdraw`, { reason });
}

export function offerAgain(client: Client, name: string, version: string): Promise<Reply> {
  return client.delete(`${versionOf(name, version)}/withdraw`);
}

export function withdrawComposite(
  client: Client,
  name: string,
  version: string,
  reason = 'bad',
): Promise<Reply> {
  return client.put(`${compositeVersionOf(name, version)}/withdraw`, { reason });
}

export function offerCompositeAgain(client: Client, name: string, version: string): Promise<Reply> {
  return client.delete(`${compositeVersionOf(name, version)}/withdraw`);
}
