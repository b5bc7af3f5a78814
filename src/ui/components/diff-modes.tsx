/** The choice between the two ways to show differences. It stands in the URL. */

import { usePlace } from '../router.ts';
import type { DiffMode } from './diff-table.tsx';

/** The way that the URL says; without a word two sides beside each other. */
export function useDiffMode(): DiffMode {
  return usePlace().query.get('view') === 'unified' ? 'unified' : 'split';
}

export function DiffModes() {
  const { setQuery } = usePlace();
  const mode = useDiffMode();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset with a legend would be a frame around two buttons.
    <span role="group" aria-label="View" class="choice">
      <button type="button" aria-pressed={mode === 'split'} onClick={() => setQuery({ view: null })}>
        Split
      </button>
      <button type="button" aria-pressed={mode === 'unified'} onClick={() => setQuery({ view: 'unified' })}>
        Unified
      </button>
    </span>
  );
}
