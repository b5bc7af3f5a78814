/** The nodes that a deed is done to, and how it is done to all of them in one request. */

import { get, send } from '../../client.ts';
import { withQuery } from '../../links.ts';
import type { BulkResult, NodeSummary } from '../../types.ts';

export type Action = 'Assign' | 'Unassign' | 'Tag' | 'Untag' | 'Delete';

/** The API takes so many nodes in one deed. */
export const MOST_NODES = 10_000;

export interface Targets {
  /** Null: those that the filter meets. */
  ids: readonly string[] | null;
  filter: Readonly<Record<string, string>>;
  count: number;
  /** Some of their names. */
  names: readonly string[];
}

/** For headings: `1 node`, `250 nodes`, or the name of the one node of a page. */
export function nameOf({ count, names }: Targets, isByName = false): string {
  if (isByName && count === 1) return names[0] ?? '1 node';
  return countOf(count);
}

export function countOf(count: number): string {
  return `${count} ${count === 1 ? 'node' : 'nodes'}`;
}

/** @throws ApiProblem, such as `count_changed` where the filter meets other nodes by now */
export async function doToNodes(
  { ids, filter, count }: Targets,
  action: Action,
  members: Readonly<Record<string, unknown>>,
): Promise<BulkResult> {
  const nodes = ids === null ? { filter: filterOf(filter), expectedCount: count } : { nodeIds: ids };
  return (await send<BulkResult>('POST', '/nodes/bulk', { action, ...nodes, ...members })).data;
}

/** The members of a query as a body has them: flags are booleans there. */
function filterOf(query: Readonly<Record<string, string>>): Record<string, unknown> {
  const isFlag = (value: string) => value === 'true' || value === 'false';
  const isText = new Set(['fqdn', 'version', 'configurationName']);
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [
      name,
      !isText.has(name) && isFlag(value) ? value === 'true' : value,
    ]),
  );
}

/** So many nodes are in one answer of the API. */
const AT_ONCE = 1_000;

/** The ids of the nodes. Those of a filter are asked for. @throws ApiProblem */
export async function idsOf({ ids, filter }: Targets): Promise<readonly string[]> {
  if (ids !== null) return ids;
  const found: string[] = [];
  for (let total = 1; found.length < total; ) {
    const page = { ...filter, sort: 'fqdn', take: AT_ONCE, skip: found.length || null };
    const reply = await get<NodeSummary[]>(withQuery('/nodes', page));
    if (reply === null || reply.data.length === 0) break;
    found.push(...reply.data.map(({ id }) => id));
    total = reply.total ?? 0;
  }
  return found;
}

/** The same filter with the number of nodes that it meets now. */
export async function countAnew(targets: Targets): Promise<Targets> {
  const reply = await get<unknown[]>(withQuery('/nodes', { ...targets.filter, take: 1 }));
  return { ...targets, count: reply?.total ?? targets.count };
}

const DONE: Record<Action, string> = {
  Assign: 'Assigned',
  Unassign: 'Unassigned',
  Tag: 'Tagged',
  Untag: 'Untagged',
  Delete: 'Deleted',
};

/** What the API said it did, in one sentence. */
export function sentenceOf(action: Action, { done, unchanged, failed }: BulkResult): string {
  return `${DONE[action]} ${countOf(done)}; ${unchanged} unchanged, ${failed.length} failed.`;
}
