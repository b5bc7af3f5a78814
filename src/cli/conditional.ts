/** Changes that are made only if what was read is still so, where the ETag is that of another path. */

import type { Api } from '../client/api.ts';
import type { Schemas } from '../client/api-types.ts';

/** What has roles or members of its own. Its ETag covers them. */
interface Holders {
  '/api/v1/groups/{id}': Schemas['GroupDetails'];
  '/api/v1/users/{id}': Schemas['UserDetails'];
}

/** @returns what was read, and its ETag */
export async function readWithTag<P extends keyof Holders>(
  api: Api,
  path: P,
  id: string,
): Promise<{ details: Holders[P]; etag: string | undefined }> {
  // Both take an id, but a union of paths has no call of its own.
  const group = path as '/api/v1/groups/{id}';
  const { headers, body } = await api.download(group, { path: { id } }, 'application/json');
  return { details: JSON.parse(body.toString('utf8')), etag: headers.etag };
}

/** Sends JSON by PUT. @param etag of what was read; undefined where it must not matter @returns the answer */
export async function putIfUnchanged(
  api: Api,
  path: string,
  etag: string | undefined,
  json: object,
): Promise<unknown> {
  const received = await api.raw('PUT', path, {
    headers: {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      ...(etag !== undefined && { 'If-Match': etag }),
    },
    body: Buffer.from(JSON.stringify(json)),
  });
  return JSON.parse(received.body.toString('utf8'));
}
