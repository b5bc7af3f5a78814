/** What makes previews: the thread that knows the whole fleet, as the rest of this folder sees it. */

import type { Proposal } from '../../resolve/proposal.ts';
import type { Readable } from './named.ts';

export interface PreviewInput {
  proposal: Proposal;
  readable: Readable;
  /** Narrows the preview to these nodes, each a group of its own. */
  nodeIds: readonly string[] | null;
}

export interface PreviewCounts {
  nodes: number;
  changed: number;
  unchanged: number;
  unresolvable: number;
  notVisible: number;
}

export interface MadeNode {
  nodeId: string;
  fqdn: string;
  groupId: number | null;
  change: 'Changed' | 'Unchanged' | 'Unresolvable';
}

/** A part of a preview. Groups come in the order of their ids, which begin with 1, and nodes by fqdn. */
export type PreviewPiece =
  | { kind: 'counts'; counts: PreviewCounts }
  | {
      kind: 'groups';
      /** Of each group the JSON text as answers show it, without its id, and with `code` and `message`. */
      groups: readonly { shown: string }[];
      /** What the details of these groups are made of later. */
      packed: string;
    }
  | { kind: 'nodes'; nodes: readonly MadeNode[] }
  /** Proposed files without secure values, which the details of every group are made of too. */
  | { kind: 'files'; files: string };

export interface MadePreview {
  counts: PreviewCounts;
  groupCount: number;
}

export interface PreviewEngine {
  /**
   * @param onPiece gets the pieces in their order, before the promise resolves
   * @throws HawserError whose message says why there is no preview
   */
  make(input: PreviewInput, onPiece: (piece: PreviewPiece) => void): Promise<MadePreview>;
}

/** What the details of a group are made of: the packed groups of its piece, its place in them, and proposed files. */
export interface KeptGroup {
  piece: string;
  at: number;
  files: string;
}

/** Makes what is only made when somebody asks for it. The bytes are JSON, whose numbers are exact. */
export interface GroupExplainer {
  /** An object with `fileChanges`, `parameters` and, where asked for, `mergedParameters`. */
  details(caller: string, kept: KeptGroup, withMerged: boolean): Promise<Uint8Array>;
  /** A FileDiff; null for a path that is in neither bundle. */
  fileDiff(
    caller: string,
    kept: KeptGroup,
    file: { path: string; context: number },
  ): Promise<Uint8Array | null>;
}
