/** What the parts of a preview share. */

import type { DiffMode } from '../diff-table.tsx';

/** Which preview is shown, and how. */
export interface ResultProps {
  id: string;
  /** The button that makes it anew. */
  deed: string;
  /** The member of the URL that holds its id. Those of its pages begin with it. */
  paramName: string;
  /** It is about a few nodes that were named, each of which is a group of its own. */
  isNarrowed: boolean;
  level: 3 | 4;
  mode: DiffMode;
}

/** For example `1 node`, `63 nodes`. */
export function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}
