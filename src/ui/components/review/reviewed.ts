/** Which state of a draft a person reviews. What changes meanwhile is not published unseen. */

import { useRef } from 'preact/hooks';
import type { Resource } from '../../resource.ts';

export interface Reviewed {
  /** The ETag for If-Match of publishing: that of the draft whose changes are shown; null until both are there. */
  etag: string | null;
  /** The draft is another one now than the one whose changes are shown. */
  isOld: boolean;
  /** Shows the draft as it is now. */
  showNow(): Promise<void>;
}

interface ReviewedOptions {
  /** It is read again and again, so that the page can say that it has changed. */
  draft: Resource<{ commit: string }>;
  /** The commit whose changes are shown. They are read only when somebody asks for it (`poll: false`). */
  shown: string | null;
  /** What is read anew to show the draft as it is now. */
  of: readonly Resource<unknown>[];
}

export function useReviewed({ draft, shown, of }: ReviewedOptions): Reviewed {
  const { data, etag } = draft;
  const kept = useRef<{ commit: string; etag: string | null } | null>(null);
  if (data !== null && data.commit === shown) kept.current = { commit: shown, etag };
  return {
    etag: kept.current !== null && kept.current.commit === shown ? kept.current.etag : null,
    isOld: data !== null && shown !== null && data.commit !== shown,
    showNow: async () => void (await Promise.all([draft, ...of].map((resource) => resource.reload()))),
  };
}
