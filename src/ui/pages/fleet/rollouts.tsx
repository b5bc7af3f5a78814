/** The rollouts that are under way, and those that have halted lately. */

import { RolloutsTable } from '../../components/rollouts.tsx';
import { withQuery } from '../../links.ts';
import { useResources } from '../../resource.ts';
import type { Rollout } from '../../types.ts';

/** Those that somebody may have to look at stand first. */
const STATES = ['Halted', 'Paused', 'Running'] as const;
/** So many of each state are read. */
const MOST = 100;
/** In milliseconds. What has halted longer ago is found on the page of its configuration. */
const LATELY = 7 * 86_400_000;

/** Left out where there are none. */
export function FleetRollouts() {
  const paths = STATES.map((state) => withQuery('/rollouts', { state, take: MOST }));
  const lists = useResources<Rollout[]>(paths);
  const rollouts = lists.flatMap(({ data }) => data ?? []).filter(isOfNow);
  if (rollouts.length === 0) return null;
  return (
    <section class="part">
      <h2>Rollouts</h2>
      <RolloutsTable rollouts={rollouts} isNamed />
      <p class="hint">Those that run or are paused, and those that have halted in the last 7 days.</p>
    </section>
  );
}

function isOfNow({ state, history, createdAt }: Rollout): boolean {
  return state !== 'Halted' || Date.now() - Date.parse(history.at(-1)?.at ?? createdAt) < LATELY;
}
