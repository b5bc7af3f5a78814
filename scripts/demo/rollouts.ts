/** The part of the story about versions that reach a first ring of nodes before all others: one halts, one completes. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Administrator, RegisteredNode } from '../support/hawser-client.ts';
import type { TemporaryServer } from '../support/temporary-server.ts';
import { check, filesOf, git, NAME, pullVersion, type Tell, unchanged } from './telling.ts';

interface Cast {
  server: TemporaryServer;
  admin: Administrator;
  canary: RegisteredNode;
  other: RegisteredNode;
}

/** Milliseconds. The server looks at what nodes report every ten seconds. */
const PATIENCE = 60_000;
const PAUSE = 200;

export async function tellRollouts(cast: Cast, tell: Tell): Promise<void> {
  const { admin, canary, other } = cast;
  await tell('The administrator makes a ring "canary" with web-01; web-02 is pinned no more', async () => {
    await admin.tag(canary, await admin.makeRing('canary'));
    await admin.assign(other, NAME);
    for (const node of [canary, other]) await node.report(false);
    return pullVersion(other, '2.0.0');
  });
  await halt(cast, tell);
  await complete(cast, tell);
}

async function halt(cast: Cast, tell: Tell): Promise<void> {
  const { canary } = cast;
  await tell('3.0.0 is rolled out: web-01 pulls it, and web-02 does not see it', () => begin(cast, '3.0.0'));
  await tell('web-01 reports an error, so the rollout halts, and web-01 gets 2.0.0 again', async () => {
    await canary.report(true);
    const proof = await end(cast, '3.0.0', 'Halted');
    const pulled = await pullVersion(canary, '2.0.0');
    await canary.report(false);
    return { result: undefined, proof: [...proof, ...pulled.proof] };
  });
}

async function complete(cast: Cast, tell: Tell): Promise<void> {
  const { canary, other } = cast;
  await tell('The author mends it as 3.0.1, which is rolled out in the same way', () => begin(cast, '3.0.1'));
  await tell('web-01 is well with it, so the rollout completes, and web-02 sees it too', async () => {
    await canary.report(false);
    const proof = await end(cast, '3.0.1', 'Completed');
    const pulled = await pullVersion(other, '3.0.1');
    return { result: undefined, proof: [...proof, ...pulled.proof] };
  });
}

/** Rolls a draft out to the ring. Whoever is in it pulls it, and nobody else. */
async function begin({ admin, canary, other }: Cast, version: string) {
  const known = await other.poll();
  await admin.createDraft(NAME, version, filesOf(version));
  const steps = [{ ring: 'canary', gate: { bakeTime: 'PT1S' } }];
  await admin.rollOut(NAME, { version, steps, onHalt: 'Revert' });
  const { proof } = await pullVersion(canary, version);
  return { result: undefined, proof: [...proof, await unchanged(other, known, 'web-02')] };
}

/** Waits until the server has ended the rollout. @returns the protocol as stock git prints it */
async function end({ server, admin }: Cast, version: string, state: string): Promise<string[]> {
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    const rollout = await admin.readRollout(NAME, version);
    if (rollout.state !== 'Running' || performance.now() > deadline) {
      check(rollout.state === state, `the rollout of ${version} is ${state}, not ${rollout.state}`);
      break;
    }
    await sleep(PAUSE);
  }
  return git(server, 'log', '--reverse', '--format=git log: %an, %s', `rollout/${version}`)
    .trim()
    .split('\n');
}
