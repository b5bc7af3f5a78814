/** Short messages on what was done. They stay until the next deed, the next page or a click, so that nobody misses one. */

import { signal } from '@preact/signals';

interface Notice {
  text: string;
  /** The page that shows it; null while it is not known whether the deed leads to another page. */
  path: string | null;
}

const notice = signal<Notice | null>(null);

/** Shows what was done. It is announced to screen readers. */
export function notify(text: string): void {
  const said: Notice = { text, path: null };
  notice.value = said;
  // A deed goes to another page at once, or not at all. One that stays says nothing on the pages that come later.
  setTimeout(() => {
    if (notice.peek() === said) notice.value = { text, path: location.pathname.replace(/\/+$/, '') };
  });
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
