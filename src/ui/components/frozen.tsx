/** Says on every page that nobody may change what nodes get, until when and why. */

import { me } from '../session.ts';
import { exactTime } from './time.tsx';

export function Frozen() {
  const freeze = me.value?.freeze ?? null;
  return (
    <div role="status" class="away-box">
      {freeze !== null && (
        <p class="away">
          <strong>What nodes get is frozen until {exactTime(freeze.until)}.</strong> {freeze.frozenBy} says
          why: {freeze.reason}
        </p>
      )}
    </div>
  );
}
