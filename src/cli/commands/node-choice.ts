/** Which nodes a command is about: those that are named, or those that a filter meets. The server looks for them. */

import type { Api } from '../../client/api.ts';
import type { Schemas } from '../../client/api-types.ts';
import { normalizeHostName } from '../../domain/names.ts';
import { Failure, UsageError } from '../errors.ts';
import { applyFilters, readPair } from '../filters.ts';
import { isId } from '../names.ts';
import { findScopeValue } from '../scopes.ts';
import { unlessMissing } from './config-kinds.ts';

export type Node = Schemas['NodeSummary'];
export type ChosenNode = Pick<Node, 'id' | 'fqdn'>;
type Queries = Schemas['BulkFilter'];
/** What the server is asked; tags may be several. */
type Query = Partial<Record<Exclude<keyof Queries, 'scopeValueId'>, string>> & { scopeValueId?: string[] };

export const NODE_FILTER = {
  filter: {
    value: 'MEMBER=VALUE',
    isRepeatable: true,
    summary: 'nodes with this value, such as fqdn=web* or tag=Environment/prod; several must all hold',
  },
} as const;

export const NODES = [
  { name: 'node', summary: 'names (fqdn) or ids; or say --filter', isOptional: true, isVariadic: true },
] as const;

/** What the server filters by, so that a fleet of any size is not read for a few of its nodes. */
const QUERIES = [
  ...[
    'fqdn',
    'status',
    'lcmStatus',
    'configurationName',
    'stale',
    'scopeValueId',
    'withoutScopeTypeId',
    'unassigned',
  ],
  ...['version', 'evidence', 'certificateExpiring', 'hasParameterProblems', 'registrationKeyId', 'awaiting'],
] as const satisfies readonly (keyof Queries)[];

/** Members of the list, of which some have a query with another name. The others are looked at here. */
const SAME_AS: Readonly<Record<string, keyof Queries>> = { isStale: 'stale', offeredVersion: 'version' };
const MEMBERS = [
  ...['id', 'fqdn', 'configurationName', 'status', 'lcmStatus', 'isStale', 'lastCheckIn', 'createdAt'],
  ...['configurationSource', 'configurationMode', 'configurationModeInterval', 'reportCompliance'],
  ...['desiredConfigurationMode', 'desiredConfigurationModeInterval', 'desiredReportCompliance'],
  ...['offeredVersion', 'parameterProblems'],
] as const satisfies readonly (keyof Node)[];

export const FILTER_HELP =
  `--filter takes ${[...new Set(['tag', ...QUERIES, ...MEMBERS])].join(', ')}. ` +
  'In members of the list * stands for any text and null for none; fqdn without * is the whole name.';

/** @param sort as the API takes it @throws UsageError for what cannot be filtered by */
export async function listNodes(api: Api, filters: readonly string[], sort?: string): Promise<Node[]> {
  const { query, rest } = await readFilters(api, filters);
  const nodes = await api.all('/api/v1/nodes', { query: { ...query, sort } as object });
  return rest.length === 0 ? nodes : applyFilters(nodes, rest);
}

/** @returns what the server filters by, and the filters that are left to do here */
async function readFilters(api: Api, filters: readonly string[]): Promise<{ query: Query; rest: string[] }> {
  const query: Query = {};
  const rest: string[] = [];
  for (const filter of filters) {
    const [name, value] = readPair(filter, '--filter');
    const isMember = includes(MEMBERS, name);
    const key = name === 'tag' ? 'scopeValueId' : includes(QUERIES, name) ? name : SAME_AS[name];
    if (key === undefined && !isMember)
      throw new UsageError(`--filter: nodes have no member "${name}". ${FILTER_HELP}`);
    const isLeft = isMember && (/^null$|\*/i.test(value) || key === undefined || key in query);
    // The server looks for a part of the name, which narrows what is looked through here.
    if (name === 'fqdn') query.fqdn ??= longest(value.split('*'));
    if (isLeft || name === 'fqdn') rest.push(filter);
    else if (key === 'scopeValueId')
      query[key] = [
        ...(query[key] ?? []),
        name === 'tag' ? (await findScopeValue(api, value, '--filter tag')).id : value,
      ];
    else if (key !== undefined && key in query) throw new UsageError(`--filter: say ${name} once.`);
    else if (key !== undefined) query[key] = value;
  }
  return { query, rest };
}

function includes<T extends string>(names: readonly T[], name: string): name is T {
  return (names as readonly string[]).includes(name);
}

function longest(parts: readonly string[]): string {
  return parts.reduce((best, part) => (part.length > best.length ? part : best), '');
}

/** @throws Failure where there is none */
export async function findNode(api: Api, text: string): Promise<Schemas['NodeDetails']> {
  const nodeId = isId(text) ? text.toLowerCase() : normalizeHostName(text);
  const found = nodeId && (await unlessMissing(api.get('/api/v1/nodes/{nodeId}', { path: { nodeId } })));
  if (!found) throw new Failure(`not_found: There is no node "${text}".`);
  return found;
}

/** Finds all of them, each once, before anything is done to one. @throws UsageError, Failure */
export async function chooseNodes(
  api: Api,
  words: readonly string[],
  filters: readonly string[],
): Promise<ChosenNode[]> {
  if (words.length > 0 === filters.length > 0)
    throw new UsageError('Say which nodes: either by names and ids, or by --filter.');
  if (words.length === 0) return listNodes(api, filters);
  const nodes = new Map<string, ChosenNode>();
  for (const word of words) {
    const node = await findNode(api, word);
    nodes.set(node.id, node);
  }
  return [...nodes.values()];
}
