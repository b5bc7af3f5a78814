/** Finds out from all repositories whether a rollout that has not ended is by a scope type or a value of it, or has a file of it. */

import { limitLoads } from '../lib/load-limit.ts';
import { underWayIn } from '../versions/rollout-rules.ts';
import type { GitStore } from '../versions/store.ts';

/** Whether anything rolls out by the scope type, or in a step of the one value if it is not null, or is a file of it. */
export type RingLookup = (scope: { scopeTypeId: string; value: string | null }) => Promise<boolean>;

/** A repository that cannot be read fails the call, because something may roll out in it. */
export function ringLookup(store: GitStore): RingLookup {
  return async ({ scopeTypeId, value }) => {
    const loads = limitLoads();
    const isInUse = async (kind: 'configurations' | 'composites', name: string) => {
      const running = underWayIn(await store.versions({ kind, name }));
      return running.some(({ record: { scopeType, steps, parameters } }) => {
        const isRing =
          scopeType.id === scopeTypeId && (value === null || steps.some(({ ring }) => ring === value));
        const isOfFile = parameters.some(
          (file) => file.scopeType.id === scopeTypeId && (value === null || file.scopeValue?.value === value),
        );
        return isRing || isOfFile;
      });
    };
    const answers = (['configurations', 'composites'] as const).map(async (kind) => {
      const names = await store.list(kind);
      return Promise.all(names.map((name) => loads(() => isInUse(kind, name))));
    });
    return (await Promise.all(answers)).flat().includes(true);
  };
}
