/** Two sides beside each other, or line by line: the choice stands in the URL. */

import { usePlace } from '../router.ts';
import type { DiffMode } from './diff-table.tsx';

/** `?view=unified`; anything else is split. */
export function useDiffMode(): DiffMode {
  return usePlace().query.get('view') === 'unified' ? 'unified' : 'split';
}

const MODES: readonly (readonly [mode: DiffMode, label: string])[] = [
  ['split', 'Split'],
  ['unified', 'Unified'],
];

export function DiffModeChoice() {
  const place = usePlace();
  const current = useDiffMode();
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, and these are buttons.
    <div role="group" aria-label="View" class="choice">
      {MODES.map(([mode, label]) => (
        <button
          key={mode}
          type="button"
          aria-pressed={mode === current}
          onClick={() => place.setQuery({ view: mode === 'split' ? null : mode })}
        >
          {label}
        </button>
      ))}
    </div>
  );
}
