/** Change sets: proposes them, and reads what is said of them. */

import type { Client, Reply } from './client.ts';
import type { Hawser } from './hawser.ts';
import type { Wish } from './previews.ts';
import { ok } from './replies.ts';

export const SETS = '/api/v1/change-sets';

export const propose = (client: Client, deeds: readonly Wish[], more: object = {}): Promise<Reply> =>
  client.post(SETS, { title: 'a change', deeds, ...more });

/** A set that was made. */
export const proposed = (client: Client, deeds: readonly Wish[], more: object = {}) =>
  ok(201, propose(client, deeds, more));

export interface FeedEvent {
  id: string;
  type: string;
  subject: string;
  data: Record<string, unknown>;
}

/** All events that the feed has. */
export async function allEvents({ admin }: Pick<Hawser, 'admin'>): Promise<FeedEvent[]> {
  const all: FeedEvent[] = [];
  for (;;) {
    const last = all.at(-1);
    const after = last === undefined ? '' : `&after=${last.id}`;
    const found: FeedEvent[] = await ok(200, admin.get(`/api/v1/events?wait=0${after}`));
    if (found.length === 0) return all;
    all.push(...found);
  }
}

export const setOf = ({ id }: { id: number }) => `${SETS}/${id}`;

/** A protection, by default none. */
export const unprotected = (more: object = {}) => ({
  ...{ approvals: 0, groupId: null, byChangeSetOnly: false },
  ...more,
});

export const protect = (on: object, protection: object): Wish => ({ kind: 'SetProtection', on, protection });

/** What deeds on a configuration and on nodes could have changed. */
export async function changed(
  client: Client,
  configuration: string,
  nodes: readonly { nodeId: string }[],
): Promise<object> {
  const path = `/api/v1/configurations/${configuration}`;
  const { useServerManagedParameters, versionCount } = await ok(200, client.get(path));
  const versions = await ok(200, client.get(`${path}/versions`));
  const files = await ok(200, client.get(`${path}/parameter-files`));
  const assigned = [];
  for (const { nodeId } of nodes)
    assigned.push((await ok(200, client.get(`/api/v1/nodes/${nodeId}`))).assignment);
  return { useServerManagedParameters, versionCount, versions, files, assigned };
}
