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

/** A node as it is kept. */
export type KeptNode = readonly [
  nodeId: string,
  fqdn: string,
  /** Null for an unchanged node, unless the preview is narrowed. */
  groupId: number | null,
  change: PreviewChange,
  /** The place among all `ContentOfNodes`, from 0, of what the node gets before and after. */
  content: number,
];

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
  /** The line of its details. Null where they were not kept. No answer shows it. */
  details: number | null;
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

/** What is known once a preview is made. */
export interface PreviewResult {
  counts: PreviewCounts;
  groupCount: number;
  /** What its nodes get, by the numbers that nodes and groups have, as JSON. */
  contents: string;
  /** What it found, each column as compressed lines (kept-lines.ts). */
  columns: Record<KeptColumn, Uint8Array>;
}

/**
 * A line of `groups` is a `ShownGroup` and one of `nodes` a `KeptNode`, in the order of the answers. `details` has the
 * lines of preview-details.ts.
 */
export type KeptColumn = 'groups' | 'nodes' | 'details';
