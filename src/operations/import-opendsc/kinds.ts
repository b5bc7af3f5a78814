/** The kinds of things that are imported, and what is told of each. */

/** In the order in which the report lists them. They are also the names that `--skip` takes. */
export const KINDS = [
  ...(['scope types', 'scope values', 'configurations', 'versions', 'schemas', 'parameter files'] as const),
  ...(['composites', 'composite versions', 'users', 'groups', 'roles', 'memberships', 'grants'] as const),
  ...(['group mappings', 'settings', 'registration keys', 'nodes', 'tags', 'assignments'] as const),
];

export type Kind = (typeof KINDS)[number];

/** A thing that was not imported, and why, as a sentence. */
export interface Refusal {
  name: string;
  reason: string;
}

/** `found` is the sum of the others. */
export interface KindReport {
  kind: Kind;
  found: number;
  imported: number;
  alreadyThere: number;
  conflicts: Refusal[];
  leftOut: Refusal[];
}

export interface ImportReport {
  /** What people call the database of the source. It holds no password. */
  source: string;
  kinds: KindReport[];
  /** Parameter files with values that YAML readers take for different things. They come as they are. */
  ambiguous: readonly Refusal[];
  notCarried: readonly { kind: string; count: number; names: readonly string[] }[];
  /** How many nodes have not shown their certificate yet. */
  nodesAwaiting: number;
}
