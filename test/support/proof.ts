/** Nodes that poll, pull and report, and what the server then says about who runs what. */

import { expect } from 'chai';
import type { Client } from './client.ts';
import { testedService, testOutput } from './dsc-results.ts';
import { eventually } from './eventually.ts';
import type { NodeUnderTest } from './hawser.ts';
import { configurationPath, poll } from './parameter-files.ts';
import { ok } from './replies.ts';

export const manifestPath = (checksum: string) => `/api/v1/manifests/${checksum}`;
export const proofPath = (name: string, version: string, kind = 'configurations') =>
  `/api/v1/${kind}/${name}/versions/${version}/proof`;

/** @returns the checksum that the node is told */
export async function told(node: NodeUnderTest): Promise<string> {
  return (await ok(200, poll(node))).checksum;
}

/** Polls and downloads the bundle whole. @returns the checksum, and the digest of the bundle in base64 */
export async function pulled(node: NodeUnderTest): Promise<{ checksum: string; digest: string }> {
  const checksum = await told(node);
  const reply = await node.client.get(`${configurationPath(node)}/bundle`);
  expect(reply.status, reply.text.slice(0, 200)).to.equal(200);
  const digest = /^sha-256=:(.+):$/.exec(String(reply.headers['repr-digest']))?.[1] ?? '';
  return { checksum, digest };
}

/** Sends a report of a test that names the checksum. */
export async function reported(node: NodeUnderTest, configurationChecksum: string): Promise<void> {
  const result = testOutput([testedService(true)]);
  const body = { operation: 'Test', result, configurationChecksum };
  await ok(201, node.client.post(`/api/v1/nodes/${node.nodeId}/reports/`, body));
}

/** Polls, downloads the bundle, and reports it. @returns the checksum */
export async function ran(node: NodeUnderTest): Promise<string> {
  const { checksum } = await pulled(node);
  await reported(node, checksum);
  return checksum;
}

export interface ProofSummary {
  /** `declared/served/told/others of offered`. */
  nodes: string;
  /** The number of nodes by reason. */
  reasons: Record<string, number>;
}

export async function readProof(client: Client, path: string): Promise<ProofSummary> {
  const { nodes, reasons } = await ok(200, client.get(path));
  const { offered, declared, served, told, others } = nodes;
  return {
    nodes: `${declared}/${served}/${told}/${others} of ${offered}`,
    reasons: Object.fromEntries(
      reasons.map((each: { reason: string; nodes: number }) => [each.reason, each.nodes]),
    ),
  };
}

/** Waits until the proof says this; evidence of a poll or a download may be written two seconds late. */
export function expectProof(client: Client, path: string, expected: ProofSummary): Promise<void> {
  return eventually(async () => {
    expect(await readProof(client, path)).to.deep.equal(expected);
  });
}
