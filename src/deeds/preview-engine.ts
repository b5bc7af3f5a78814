/** Joins previews with the threads that know the whole fleet. */

import type { Threads } from '../lib/threads.ts';
import type { FleetTasks } from '../resolve/fleet-tasks.ts';
import type { PreviewCounts, PreviewInput, PreviewResult } from '../resolve/preview-types.ts';

export interface PreviewEngine {
  /**
   * @param id of the preview
   * @param onCounts is told how far it is
   * @throws HawserError whose message says why there is no preview
   */
  make(
    id: string,
    input: PreviewInput,
    onCounts: (counts: PreviewCounts) => Promise<void>,
  ): Promise<PreviewResult>;
}

/** Each preview has a thread to itself. */
export function previewEngine(threads: Threads<FleetTasks>): PreviewEngine {
  return {
    make: (id, input, onCounts) =>
      threads.run(id, 'makePreview', input, { onPiece: (counts) => onCounts(counts as PreviewCounts) }),
  };
}
