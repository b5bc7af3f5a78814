/** Asks for previews, and reads what they say. */

import { expect } from 'chai';
import type { Client, Reply } from './client.ts';
import { eventually } from './eventually.ts';
import { ok } from './replies.ts';

export const PREVIEWS = '/api/v1/previews';

/** A change as a request names it. */
export type Wish = { kind: string } & Record<string, unknown>;

export const publishing = (configurationName: string, version: string): Wish => ({
  ...{ kind: 'PublishConfiguration', configurationName, version },
});

/** A document for a scope, Default unless it is named. */
export const setting = (
  configurationName: string,
  version: string,
  content: string,
  scope: { scopeTypeName?: string; scopeValue?: string } = {},
): Wish => ({
  ...{ kind: 'SetParameters', configurationName, version, content },
  ...{ scopeTypeName: 'Default', ...scope },
});

export const askFor = (
  client: Client,
  changes: readonly Wish[],
  nodeIds?: readonly string[],
): Promise<Reply> => client.post(PREVIEWS, { changes, ...(nodeIds && { nodeIds }) });

/** A preview that is Done. */
export async function preview(
  client: Client,
  changes: readonly Wish[],
  nodeIds?: readonly string[],
): Promise<Reply['json']> {
  const reply = await askFor(client, changes, nodeIds);
  expect(reply.status, reply.text).to.be.oneOf([201, 202]);
  const done = await eventually(async () => {
    const now = await ok(200, client.get(`${PREVIEWS}/${reply.json.id}`));
    expect(now.state).to.not.equal('Running');
    return now;
  });
  expect(done.error).to.equal(null);
  expect(done.state).to.equal('Done');
  return done;
}

export const groupsOf = (client: Client, { id }: { id: string }, query = '') =>
  ok(200, client.get(`${PREVIEWS}/${id}/groups${query}`));

export const groupOf = (client: Client, { id }: { id: string }, groupId: string) =>
  ok(200, client.get(`${PREVIEWS}/${id}/groups/${groupId}`));

export const nodesOf = (client: Client, { id }: { id: string }, query = '') =>
  ok(200, client.get(`${PREVIEWS}/${id}/nodes${query}`));

/**
 * Makes a preview of assigning a configuration to a node.
 * @returns the path parameters that name it and its only group
 */
export async function preparePreview(
  client: Client,
  nodeId: string,
  configurationName: string,
): Promise<Record<string, string>> {
  const { id } = await preview(client, [{ kind: 'Assign', nodeIds: [nodeId], configurationName }], [nodeId]);
  return { [`${PREVIEWS}/{id}`]: id, groupId: '1' };
}
