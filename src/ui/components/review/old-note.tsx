/** What stands on a review when the draft has changed since, or when something is against publishing it. */

import type { Resource } from '../../resource.ts';
import type { PublishCheck } from '../../types.ts';
import type { Reviewed } from './reviewed.ts';

/** Shown while the draft is another one than the one whose changes are shown. */
export function OldNote({ isOld, showNow }: Pick<Reviewed, 'isOld' | 'showNow'>) {
  if (!isOld) return null;
  return (
    <p class="warning" role="status">
      The draft has changed since it was read here.{' '}
      <button type="button" class="small" onClick={() => void showNow()}>
        Show the changes as they are now
      </button>
    </p>
  );
}

/** What stands in the way of publishing alone, and not of a change set that does it. */
export const OF_DEEDS_ALONE = ['change_set_required'];

/**
 * Why the check forbids to publish; null if it does not.
 * @param but the codes of what does not stand in the way of this deed
 */
export function reasonOfCheck({ data }: Resource<PublishCheck>, ...but: readonly string[]): string | null {
  const blockers = data?.blockers.filter(({ code }) => !but.includes(code)) ?? [];
  if (blockers.length === 0) return null;
  return blockers.length === 1
    ? 'One thing stands in the way: see the check.'
    : `${blockers.length} things stand in the way: see the check.`;
}
