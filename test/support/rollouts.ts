/** Rings, and short calls of the routes of rollouts. */

import type { Client, Reply } from './client.ts';
import { CONFIGURATIONS } from './configurations.ts';
import type { Hawser, NodeUnderTest } from './hawser.ts';
import { assign } from './parameter-files.ts';
import { ok } from './replies.ts';
import { createScopeType, createScopeValue, tagNode } from './scopes.ts';

export const ROLLOUTS = '/api/v1/rollouts';
export const RING_SETTING = '/api/v1/settings/rollouts';
export const rolloutsOf = (name: string, base = CONFIGURATIONS) => `${base}/${name}/rollouts`;

export interface Rings {
  type: string;
  canary: string;
  early: string;
}

/** Makes the scope type Ring with two values, and names it in the settings. @returns the ids */
export async function prepareRings(hawser: Hawser): Promise<Rings> {
  const type = await createScopeType(hawser, 'Ring', { valueMode: 'Restricted' });
  const canary = await createScopeValue(hawser, type, 'canary');
  const early = await createScopeValue(hawser, type, 'early');
  await ok(200, hawser.admin.put(RING_SETTING, { rolloutScopeType: 'Ring' }));
  return { type, canary, early };
}

/**
 * Registers a node of a ring to which this is assigned. A step that adds no node is done at once, so that a rollout that is
 * to wait needs one in each of its rings.
 * @param scopeValueId null for a node without a ring
 */
export async function nodeInRing(
  hawser: Hawser,
  scopeValueId: string | null,
  configuration: string,
  more: Record<string, unknown> = {},
): Promise<NodeUnderTest> {
  const node = await hawser.registerNode(`n${Math.random()}.example.org`);
  if (scopeValueId !== null) await tagNode(hawser, node.nodeId, scopeValueId);
  await assign(hawser, node, configuration, more);
  return node;
}

export const step = (ring: string | null, gate: object = {}, percent?: number) => ({
  ring,
  gate,
  ...(percent !== undefined && { percent }),
});

export function rollOut(
  client: Client,
  name: string,
  version: string,
  more: Record<string, unknown> = {},
  base = CONFIGURATIONS,
): Promise<Reply> {
  const plan = { version, steps: [step('canary'), step(null)], onHalt: 'Keep', ...more };
  return client.post(rolloutsOf(name, base), plan);
}

/** @param rollout the path of the rollout */
export function doDeed(
  client: Client,
  rollout: string,
  deed: string,
  expectedState = 'Running',
  reason = `${deed} it`,
): Promise<Reply> {
  return client.post(`${rollout}/${deed}`, { reason, expectedState });
}

/** Rolls a published version out, and completes the rollout at once. */
export async function rollOutToAll(
  client: Client,
  name: string,
  version: string,
  base = CONFIGURATIONS,
): Promise<void> {
  await ok(201, rollOut(client, name, version, { steps: [step(null)] }, base));
  await ok(200, doDeed(client, `${rolloutsOf(name, base)}/${version}`, 'complete'));
}
