/** Short messages on what was done. They stay until the next deed, the next page or a click, so that nobody misses one. */

import { signal } from '@preact/signals';

interface Notice {
  text: string;
  /** Notices of a deed that leads to another page are shown there. */
  path: string | null;
}

const notice = signal<Notice | null>(null);

/** Shows what was done. It is announced to screen readers. */
export function notify(text: string): void {
  notice.value = { text, path: null };
}

/** Forgets the notice of a page that was left. Called with the path of each page that is shown. */
export function leaveNotices(path: string): void {
  const shown = notice.peek();
  if (shown === null) return;
  if (shown.path === null) notice.value = { ...shown, path };
  else if (shown.path !== path) notice.value = null;
}

export function Notices() {
  const shown = notice.value;
  return (
    <div class="notices" role="status">
      {shown !== null && (
        <p class="notice">
          <span>{shown.text}</span>
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => (notice.value = null)}>
            ×
          </button>
        </p>
      )}
    </div>
  );
}
