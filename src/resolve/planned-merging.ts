/** How the parameter files of a planned version merge, for all of its nodes or for one. */

import type { ScopeLink } from '../db/node-lookup.ts';
import { type MergeWay, PLAIN_WAY } from '../domain/merge-way.ts';
import { type VariableValues, valuesOf } from '../domain/variables.ts';
import { type Declared, wayOf } from './declared.ts';

export interface PlannedMerging {
  /** Without the values of any node. */
  way: MergeWay;
  /** Whether variables are replaced, so that what files make depends on the node. */
  hasVariables: boolean;
  /** Two plans whose files merge in different ways have different keys. */
  key: string;
}

export const PLAIN_MERGING: PlannedMerging = { way: PLAIN_WAY, hasVariables: false, key: '' };

export function plannedMerging(declared: Declared, hasVariables: boolean): PlannedMerging {
  const secure = hasVariables && declared.kind === 'defined' ? declared.secure : [];
  const way = { ...wayOf(declared), secure };
  const { strategies, isDeclared } = way;
  return { way, hasVariables, key: JSON.stringify([strategies, isDeclared, hasVariables, secure]) };
}

/** @param values those of a node; null where no node is meant, so that variables stay as they are */
export function wayFor({ way, hasVariables }: PlannedMerging, values: VariableValues | null): MergeWay {
  return hasVariables ? { ...way, variables: values } : way;
}

/** A node whose scopes are known. */
export interface ScopedNode {
  nodeId: string;
  fqdn: string;
  links: readonly ScopeLink[];
}

/** The values of a node's variables; null where no part of what it gets has any. */
export function valuesFor(
  parts: readonly { merging: PlannedMerging }[],
  node: ScopedNode,
): VariableValues | null {
  return parts.some(({ merging }) => merging.hasVariables) ? valuesOfNode(node) : null;
}

/** A tag is a scope with a value of its own; Default and the node itself are none. */
function valuesOfNode({ nodeId, fqdn, links }: ScopedNode): VariableValues {
  const tags = links.flatMap(({ scopeTypeName, scopeValue, scopeValueId }) =>
    scopeValueId === null || scopeValue === null ? [] : { scopeTypeName, scopeValue },
  );
  return valuesOf({ nodeId, fqdn, tags });
}
