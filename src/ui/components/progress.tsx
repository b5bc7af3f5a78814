/** How far long work has come, as a bar and in figures. */

import { Num } from './num.tsx';

/** @param max null while nobody knows how much there is to do */
export function Progress({ label, value, max }: { label: string; value: number; max: number | null }) {
  return (
    <div class="progress">
      <progress aria-label={label} value={max === null ? undefined : value} max={max ?? undefined} />
      <span>
        {label}: <Num value={value} />
        {max !== null && (
          <>
            {' '}
            of <Num value={max} />
          </>
        )}
      </span>
    </div>
  );
}
