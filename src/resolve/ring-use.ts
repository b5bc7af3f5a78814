/** Finds out from all repositories whether a rollout that has not ended is by a scope type, or has a step of its value. */

import { limitLoads } from '../lib/load-limit.ts';
import { isRolling } from '../versions/rollout-rules.ts';
import type { GitStore } from '../versions/store.ts';

/** Whether a version rolls out by the scope type, or in a step of the one value if it is not null. */
export type RingLookup = (scope: { scopeTypeId: string; value: string | null }) => Promise<boolean>;

/** A repository that cannot be read fails the call, because something may roll out in it. */
export function ringLookup(store: GitStore): RingLookup {
  return async ({ scopeTypeId, value }) => {
    const loads = limitLoads();
    const isInUse = async (kind: 'configurations' | 'composites', name: string) => {
      const { versions } = await store.versions({ kind, name });
      return versions.filter(isRolling).some(({ rollout: { record } }) => {
        const { scopeType, steps } = record;
        return scopeType.id === scopeTypeId && (value === null || steps.some(({ ring }) => ring === value));
      });
    };
    const answers = (['configurations', 'composites'] as const).map(async (kind) => {
      const names = await store.list(kind);
      return Promise.all(names.map((name) => loads(() => isInUse(kind, name))));
    });
    return (await Promise.all(answers)).flat().includes(true);
  };
}
