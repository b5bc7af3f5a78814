/** What a preview is asked for, and what it says. All values are plain, so that threads can send them to each other. */

import type { FieldError } from '../lib/errors.ts';
import type { Content, Readable } from '../security/rights.ts';
import type { Proposal } from './proposal.ts';

export interface PreviewInput {
  proposal: Proposal;
  /** What the caller may read. */
  readable: Readable;
  /** Narrows the preview to these nodes, each of which is a group of its own. Null means all nodes. */
  nodeIds: readonly string[] | null;
}

export type PreviewChange = 'Changed' | 'Unchanged' | 'Unresolvable';

/** The first is the sum of the next three. Nodes that the caller may not see are in the last one alone. */
export interface PreviewCounts {
  nodes: number;
  changed: number;
  unchanged: number;
  unresolvable: number;
  notVisible: number;
}

export interface PreviewNode {
  nodeId: string;
  fqdn: string;
  /** Null for an unchanged node, unless the preview is narrowed. */
  groupId: number | null;
  change: PreviewChange;
  /** The place among all `ContentOfNodes`, from 0, of what the node gets before and after. */
  content: number;
}

/** How many nodes get the same content, before and after together, and in how many groups they are. */
export interface ContentOfNodes
  extends Content,
    Pick<PreviewCounts, 'changed' | 'unchanged' | 'unresolvable'> {
  groups: number;
}

/** What a group gets on one side. */
export interface OfferedVersion {
  configurationName: string;
  version: string;
  checksum: string;
}

/** What answers show of a group. Its id is its place among all groups, from 1. */
export interface ShownGroup {
  nodeCount: number;
  /** The first ones by fqdn. */
  sampleNodes: readonly { nodeId: string; fqdn: string }[];
  change: PreviewChange;
  /** As that of each of its nodes. No answer shows it. */
  content: number;
  /** Null where the nodes get nothing, or an error. */
  before: OfferedVersion | null;
  after: OfferedVersion | null;
  files: { added: number; removed: number; modified: number; renamed: number };
  parameterChanges: number;
  newProblems: readonly FieldError[];
  /** Why the nodes get nothing any more, in the words of their poll. Null unless the group is unresolvable. */
  code: string | null;
  message: string | null;
}

/**
 * What a preview sends while it is made. First come counts, of which all but `nodes` and `notVisible` grow. When all nodes
 * are counted, the groups come in their order, up to 500 at once, then what was kept of proposed files, then the nodes by
 * fqdn, up to 1,000 at once, and last what all of them are made of.
 */
export type PreviewPiece =
  | { kind: 'counts'; counts: PreviewCounts }
  | {
      kind: 'groups';
      /** Each is a `ShownGroup` as JSON. */
      groups: readonly { shown: string }[];
      /** What `packGroups` made of these groups. */
      packed: string;
    }
  | { kind: 'files'; files: string }
  | { kind: 'nodes'; nodes: readonly PreviewNode[] }
  | { kind: 'contents'; contents: readonly ContentOfNodes[] };

/** What is known once all pieces were sent. */
export interface PreviewResult {
  counts: PreviewCounts;
  groupCount: number;
}
