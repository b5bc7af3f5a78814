/** Joins previews with the threads that know the whole fleet. */

import type { Threads } from '../../lib/threads.ts';
import type { FleetTasks } from '../../resolve/fleet-tasks.ts';
import type { KeptText } from '../../resolve/group-details.ts';
import type { PreviewInput, PreviewPiece, PreviewResult } from '../../resolve/preview-types.ts';

export interface PreviewEngine {
  /**
   * @param id of the preview
   * @param onPiece takes the pieces in their order; the next one comes when it is done
   * @throws HawserError whose message says why there is no preview
   */
  make(
    id: string,
    input: PreviewInput,
    onPiece: (piece: PreviewPiece) => Promise<void>,
  ): Promise<PreviewResult>;
}

/** Makes what is only made when somebody asks for it. The bytes are JSON, whose numbers are exact. */
export interface GroupExplainer {
  /** An object with `fileChanges`, `parameters` and, where asked for, `mergedParameters`. */
  details(caller: string, kept: KeptText, withMerged: boolean): Promise<Uint8Array>;
  /** A FileDiff; null for a path that is in neither bundle. */
  fileDiff(
    caller: string,
    kept: KeptText,
    file: { path: string; context: number },
  ): Promise<Uint8Array | null>;
}

/** Each preview has a thread to itself. */
export function previewEngine(threads: Threads<FleetTasks>): PreviewEngine {
  return {
    make: (id, input, onPiece) =>
      threads.run(id, 'makePreview', input, { onPiece: (piece) => onPiece(piece as PreviewPiece) }),
  };
}

/** @param fleet the threads for questions, whose callers wait for no preview */
export function groupExplainer(fleet: { questions: Threads<FleetTasks> }): GroupExplainer {
  return {
    details: (caller, kept, withMerged) =>
      fleet.questions.run(caller, 'groupDetails', { caller, kept, withMerged }),
    fileDiff: (caller, kept, file) => fleet.questions.run(caller, 'groupFile', { caller, kept, file }),
  };
}
