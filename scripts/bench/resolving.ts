/**
 * Measures what resolving a node costs with few and with many scope values, and what publishing a parameter file
 * costs.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { type ParameterSite, UNUSED_VALUE } from './parameter-site.ts';
import { pollAll, publishFile } from './parameter-steps.ts';
import { type ScaleRow, scaleRow, sidesOf } from './scale.ts';
import { type Effort, GROWTH_TARGET } from './scenarios.ts';

const ROUNDS_FACTOR = 2;
const WARM_UP_POLLS = 20_000;

/** Measures polls when nothing changed, and when something changed that does not concern the node. */
export async function compareResolving(
  few: ParameterSite,
  many: ParameterSite,
  compared: string,
  effort: Effort,
): Promise<ScaleRow[]> {
  const sites = { few, many };
  const take = () => ({ few: [] as number[], many: [] as number[] });
  const [steady, anew, draft, publish] = [take(), take(), take(), take()];
  const rounds = effort.rounds * ROUNDS_FACTOR;
  for (const site of [few, many]) await warmUp(site, effort);
  for (let round = -effort.warmUpRounds; round < rounds; round += 1) {
    const sides = sidesOf(round);
    await sleep(effort.parameters.settleMs);
    for (const side of sides) {
      const { cpu } = await pollAll(sites[side], 'a', 0);
      if (round >= 0) steady[side].push(cpu);
    }
    await sleep(effort.parameters.settleMs);
    for (const side of sides) {
      const times = await publishFile(sites[side], 'Environment', UNUSED_VALUE, 'a');
      const { cpu } = await pollAll(sites[side], 'a', 0);
      if (round < 0) continue;
      anew[side].push(cpu);
      draft[side].push(times.draftMs);
      publish[side].push(times.publishMs);
    }
  }
  return [
    scaleRow('1,000 polls, CPU, nothing changed', compared, steady, GROWTH_TARGET),
    scaleRow('1,000 polls, CPU, each node resolved anew', compared, anew, GROWTH_TARGET),
    scaleRow(
      'of these the resolving alone',
      compared,
      { few: less(anew.few, steady.few), many: less(anew.many, steady.many) },
      null,
    ),
    scaleRow('new draft of a parameter file', compared, draft, null),
    scaleRow('publish a parameter file', compared, publish, null),
  ];
}

/** The first polls of a connection and of a process cost more than all later ones. */
async function warmUp(site: ParameterSite, { parameters, share }: Effort): Promise<void> {
  await pollAll(site, 'a', null);
  for (let polls = 0; polls < WARM_UP_POLLS * share; polls += parameters.compared) {
    await publishFile(site, 'Environment', UNUSED_VALUE, 'a');
    await pollAll(site, 'a', 0);
  }
}

function less(values: readonly number[], others: readonly number[]): number[] {
  return values.map((value, at) => value - (others[at] ?? Number.NaN));
}
