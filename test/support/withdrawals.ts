/** Short calls for withdrawing versions and offering them again, by the API. */

import type { Client, Reply } from './client.ts';
import { compositeVersionOf } from './composites.ts';
import { versionsOf } from './configurations.ts';
import { DEFAULT_ID } from './scopes.ts';

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

/** Names a version of the parameters of a scope, by the id of its type. */
export interface NamedFile {
  configurationId: string;
  scopeTypeId?: string;
  value?: string;
  version: string;
}

/** The address of the version, or of what is below it. */
export function fileVersionOf({ configurationId, ...file }: NamedFile, below = '', query = ''): string {
  const { scopeTypeId = DEFAULT_ID, value, version } = file;
  const named = [...(value === undefined ? [] : [`scopeValue=${value}`]), ...(query === '' ? [] : [query])];
  const path = `/api/v1/parameters/${scopeTypeId}/${configurationId}/versions/${version}${below}`;
  return named.length === 0 ? path : `${path}?${named.join('&')}`;
}

export function withdrawFile(client: Client, file: NamedFile, reason = 'bad'): Promise<Reply> {
  return client.put(fileVersionOf(file, '/withdraw'), { reason });
}

export function offerFileAgain(client: Client, file: NamedFile): Promise<Reply> {
  return client.delete(fileVersionOf(file, '/withdraw'));
}
