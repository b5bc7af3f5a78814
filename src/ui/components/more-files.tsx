/** The button that shows further files, and how many are left. It is gone when all are shown. */

import { Num } from './num.tsx';

export function MoreFiles({ left, onMore }: { left: number; onMore: () => void }) {
  if (left <= 0) return null;
  return (
    <p>
      <button type="button" onClick={onMore}>
        Show more files
      </button>{' '}
      <span class="muted">
        <Num value={left} /> are not shown yet.
      </span>
    </p>
  );
}
