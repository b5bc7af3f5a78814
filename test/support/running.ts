/** Makes evidence of what nodes run, and reads what the server makes of it. */

import { expect } from 'chai';
import { findManifest, type KeptManifest } from '../../src/db/manifests.ts';
import type { Reply } from './client.ts';
import { withDatabase } from './database.ts';
import { testedService, testOutput } from './dsc-results.ts';
import { eventually } from './eventually.ts';
import type { Hawser, NodeUnderTest } from './hawser.ts';
import { configurationPath, poll } from './parameter-files.ts';
import { ok } from './replies.ts';
import { countRowWrites } from './triggers.ts';

type Owner = Pick<NodeUnderTest, 'nodeId'>;

/** What the node runs, as its details show it. */
export async function runningOf({ admin }: Pick<Hawser, 'admin'>, { nodeId }: Owner) {
  return (await ok(200, admin.get(`/api/v1/nodes/${nodeId}`))).running;
}

/** Waits until the node's details name this checksum and this evidence. @returns what they say */
export function expectRunning(
  hawser: Pick<Hawser, 'admin'>,
  node: Owner,
  checksum: string,
  evidence: 'Told' | 'Served' | 'Declared',
) {
  return eventually(async () => {
    const running = await runningOf(hawser, node);
    expect(running).to.include({ checksum, evidence });
    return running;
  });
}

/** What a poll without any condition is answered with. */
export async function offeredTo(node: NodeUnderTest): Promise<string> {
  return (await ok(200, poll(node))).checksum;
}

/** Polls as an agent does that has the bundle of this checksum. */
export async function declare(node: NodeUnderTest, checksum: string): Promise<void> {
  await ok(304, poll(node, checksum));
}

export async function download(node: NodeUnderTest): Promise<Reply> {
  const reply = await node.client.get(`${configurationPath(node)}/bundle`);
  expect(reply.status).to.equal(200);
  return reply;
}

/** @param more members of the report beside its operation and result */
export function sendReport(node: NodeUnderTest, more: Record<string, unknown> = {}): Promise<Reply> {
  const result = testOutput([testedService(true)]);
  return node.client.post(`/api/v1/nodes/${node.nodeId}/reports`, { operation: 'Test', result, ...more });
}

export function manifestOf(hawser: Hawser, checksum: string): Promise<KeptManifest | undefined> {
  return withDatabase(hawser, ({ read }) => findManifest(read, checksum));
}

/** Counts from now on each time that a row of what nodes run is written. @returns a function that gives the count */
export function countWrites(hawser: Hawser): Promise<() => Promise<number>> {
  return countRowWrites(hawser, 'node_running');
}
