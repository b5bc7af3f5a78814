/** Whether a media query holds, and when that changes. */

import { useEffect, useState } from 'preact/hooks';

/** True while the query holds, for example `(max-width: 40rem)`. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const note = () => setHolds(list.matches);
    note();
    list.addEventListener('change', note);
    return () => list.removeEventListener('change', note);
  }, [query]);
  return holds;
}
