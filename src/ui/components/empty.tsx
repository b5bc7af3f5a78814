/** What stands where nothing is yet: a sentence on what to do next, and where it helps, a line to copy. */

import type { ComponentChildren } from 'preact';

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}
