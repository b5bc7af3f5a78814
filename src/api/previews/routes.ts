/** `/api/v1/previews`: what some changes would do, group by group and node by node, without making them. */

import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { freezeBlocker } from '../../db/freeze.ts';
import { type Answer, created, writtenJson } from '../../http/answer.ts';
import { NOT_FOUND, READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { type Clock, SECOND, toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import type { KeptText } from '../../resolve/group-details.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableResources } from '../../security/rights.ts';
import { existingPath } from '../configurations/version-routes.ts';
import { Context, FileDiffView } from '../crud/comparing.ts';
import { type PermittedRoutes, permitted } from '../crud/routes.ts';
import { NewPreview } from './change-schemas.ts';
import type { GroupExplainer } from './engine.ts';
import { type FoundGroup, FoundGroups, FoundNodes } from './found.ts';
import { judgeChanges, requireWatched } from './judging.ts';
import { mayRead, type Named, notFoundIfGone, requireNamed } from './named.ts';
import { Proposing, type ProposingTools } from './proposing.ts';
import { findPreview, type PreviewRow } from './queries.ts';
import type { PreviewRuns } from './runs.ts';
import { GroupDetailsView, GroupView, NodesOfPreview, PreviewNodeView, PreviewView } from './schemas.ts';
import { VisiblePart } from './visible.ts';

const TAGS = ['Previews'];
const PREVIEW = '/api/v1/previews/{id}';
const GROUP = idsInPath('id').extend({ groupId: z.string() });

/** A preview that is made within this time is answered as it is then. */
const PATIENCE = 2 * SECOND;

/** What a change can be refused with, beside what every route that reads repositories answers. */
const REFUSALS = [
  ...[NOT_FOUND, [409, 'not_found'] as const, [409, 'validation_failed'] as const],
  ...['already_published', 'document_unreadable', 'incompatible_parameters', 'no_children'],
  ...['unpublished_child', [409, 'schema_unknown'] as const],
  ...['published_version', 'version_exists', 'scope_type_disabled', 'scope_type_already_tagged'],
  ...[
    'not_published',
    'not_a_system_scope_type',
    [409, 'in_use'] as const,
    [409, 'rollout_running'] as const,
  ],
  ...['unknown_node', 'unknown_scope_value', 'too_complex', [409, 'no_eligible_version'] as const],
];

export interface PreviewTools extends ProposingTools {
  runs: PreviewRuns;
  groups: GroupExplainer;
  clock: Clock;
}

export function previewRoutes(tools: PreviewTools): Route[] {
  const routes = permitted(tools.database, TAGS, 'nodes.read');
  return [
    createRoute(tools, routes),
    routes.get(PREVIEW, {
      id: 'getPreview',
      summary: 'Read how far a preview is, and how many nodes it concerns',
      description:
        'It is there for the one who made it, and for holders of users.manage, for an hour. Each reader sees the groups ' +
        'and nodes of which they may read all, with this token and now; the others are in `notVisible` alone.',
      params: idsInPath('id'),
      answer: { description: 'The preview', schema: PreviewView },
      handle: async (call) => toPreview(await requirePreview(tools, call)),
    }),
    ...groupRoutes(tools, routes),
    nodesRoute(tools, routes),
  ];
}

function createRoute(tools: PreviewTools, routes: PermittedRoutes): Route {
  const { runs, database, clock } = tools;
  const answer = { schema: PreviewView, headers: { Location: 'The path of the preview' } };
  return routes.own('POST', '/api/v1/previews', {
    id: 'createPreview',
    summary: 'See what some changes would do, without making them',
    description:
      'The caller needs Read on everything that the changes name. The changes act together, in their order; the first ' +
      'that could not be carried out is answered as the deed itself would be, its errors behind `/changes/<index>`. At ' +
      'most two previews are made at a time, and up to 20 wait.',
    body: { kind: 'json', schema: NewPreview },
    answers: {
      201: { description: 'The preview, which is made', ...answer },
      202: { description: 'The preview, which is still being made or waits for that', ...answer },
    },
    problems: [...REFUSALS, 'rate_limited', ...READING_REPOSITORIES],
    async handle({ principal, body: { changes, nodeIds = null } }): Promise<Answer> {
      const { named, resources } = await requireNamed(database.read, principal, changes);
      const frozen = await freezeBlocker(database.read, clock.now());
      const proposing = new Proposing(tools, { principal, resources, frozen });
      const judge = () => judgeChanges(proposing, changes);
      const proposal = await notFoundIfGone(database.read, named, judge);
      if (nodeIds !== null) await requireWatched(database.read, nodeIds);
      const readable = await readableResources(database.read, principal);
      const input = { proposal, readable, nodeIds };
      const { findings, warnings } = proposing;
      const found = { findings, warnings };
      const { id, made } = await runs.begin({ userId: principal.userId, changes, named, found, input });
      await within(PATIENCE, made);
      const row = await findPreview(database.read, id, clock.now());
      if (row === undefined) throw noPreview();
      const visible = await VisiblePart.of(database.read, principal, row);
      const shown = created(`/api/v1/previews/${id}`, toPreview({ row, visible }));
      return row.state === 'Running' ? { ...shown, status: 202 } : shown;
    },
  });
}

function groupRoutes(tools: PreviewTools, routes: PermittedRoutes): Route[] {
  const { database, groups } = tools;
  return [
    routes.list(`${PREVIEW}/groups`, {
      id: 'listPreviewGroups',
      summary: 'List the groups of nodes that change alike, the largest first',
      description: 'Empty until the preview is Done.',
      params: idsInPath('id'),
      answer: { description: 'The groups', schema: GroupView },
      async rows({ query, ...call }) {
        const { row, visible } = await requirePreview(tools, call);
        if (row.state !== 'Done') return { rows: [], total: 0 };
        const groups = new FoundGroups(database.read, row.id, visible);
        return { rows: await groups.page(query), total: visible.groupCount };
      },
      show: ({ code: _code, message: _message, content: _content, ...group }) => group,
    }),
    routes.own('GET', `${PREVIEW}/groups/{groupId}`, {
      id: 'getPreviewGroup',
      summary: 'Read what changes for a group of nodes',
      params: GROUP,
      answers: { 200: { description: 'The group', schema: GroupDetailsView } },
      problems: ['content_gone', ...READING_REPOSITORIES],
      async handle(call) {
        const { row, group, kept } = await requireGroup(tools, call);
        const isNarrowed = row.is_narrowed === 1;
        return joined(group, await groups.details(call.principal.userId, kept, isNarrowed), isNarrowed);
      },
    }),
    routes.own('GET', `${PREVIEW}/groups/{groupId}/files/{*filePath}`, {
      id: 'comparePreviewFile',
      summary: 'Compare one file of the two bundles of a group line by line',
      description: 'Also `parameters.yaml`, without the values of secure parameters.',
      params: GROUP.extend({ filePath: z.string() }),
      query: z.object({ context: Context }),
      answers: { 200: { description: 'What is different afterwards', schema: FileDiffView } },
      problems: ['content_gone', ...READING_REPOSITORIES],
      async handle(call) {
        const { kept } = await requireGroup(tools, call);
        const path = existingPath(call.params.filePath);
        const { context } = call.query;
        const diff = await groups.fileDiff(call.principal.userId, kept, { path, context });
        if (diff === null) throw notFound('Neither bundle has such a file');
        return writtenJson(toBuffer(diff));
      },
    }),
  ];
}

function nodesRoute(tools: PreviewTools, routes: PermittedRoutes): Route {
  const { database } = tools;
  return routes.list(`${PREVIEW}/nodes`, {
    id: 'listPreviewNodes',
    summary: 'List the nodes that the caller may see, by name, and whether they change',
    description: 'Empty until the preview is Done.',
    params: idsInPath('id'),
    query: NodesOfPreview,
    answer: { description: 'The nodes that match', schema: PreviewNodeView },
    async rows({ query, ...call }) {
      const { row, visible } = await requirePreview(tools, call);
      if (row.state !== 'Done') return { rows: [], total: 0 };
      return new FoundNodes(database.read, row.id, query, visible).page(query);
    },
    async whole({ query, ...call }) {
      const { row, visible } = await requirePreview(tools, call);
      return row.state === 'Done' ? new FoundNodes(database.read, row.id, query, visible).whole() : nothing();
    },
    show: (node) => node,
  });
}

async function* nothing(): AsyncGenerator<never> {}

/** A preview, and what the caller sees of it. */
interface Seen {
  row: PreviewRow;
  visible: VisiblePart;
}

interface Call {
  principal: UserPrincipal;
  params: { id: string };
}

/**
 * The preview, for whoever may read it. One that nobody goes on with any more is ended by that.
 * @throws HawserError not_found
 */
async function requirePreview(
  { database: { read }, runs, clock }: PreviewTools,
  { principal, params: { id } }: Call,
): Promise<Seen> {
  const found = await findPreview(read, id, clock.now());
  if (found === undefined) throw noPreview();
  if (found.user_id !== principal.userId && !principal.permissions.has('users.manage')) throw noPreview();
  const named: Named[] = JSON.parse(found.named);
  if (!(await mayRead(read, principal, named))) throw noPreview();
  let row = found;
  if (found.state === 'Running') {
    await runs.endOrphans();
    row = (await findPreview(read, id, clock.now())) ?? found;
  }
  return { row, visible: await VisiblePart.of(read, principal, row) };
}

/** @throws HawserError not_found */
async function requireGroup(
  tools: PreviewTools,
  call: Call & { params: { groupId: string } },
): Promise<{ row: PreviewRow; group: FoundGroup; kept: KeptText }> {
  const { row, visible } = await requirePreview(tools, call);
  const groups = new FoundGroups(tools.database.read, row.id, visible);
  const group = row.state === 'Done' ? await groups.find(call.params.groupId) : undefined;
  if (group === undefined) throw notFound('The preview has no such group');
  return { row, group, kept: await groups.keptText(group) };
}

const noPreview = () => notFound('No such preview');

/** While it is made, its counts are those of its maker. */
function toPreview({ row, visible }: Seen) {
  const { nodes, changed, unchanged, unresolvable, not_visible: notVisible } = row;
  const isDone = row.state === 'Done';
  return {
    id: row.id,
    state: row.state,
    createdAt: toTimestamp(row.created_at),
    completedAt: toOptionalTimestamp(row.completed_at),
    expiresAt: toTimestamp(row.expires_at),
    changes: JSON.parse(row.changes),
    counts: isDone ? visible.counts : { nodes, changed, unchanged, unresolvable, notVisible },
    groupCount: isDone ? visible.groupCount : row.group_count,
    findings: JSON.parse(row.findings),
    warnings: JSON.parse(row.warnings),
    error: row.error,
  };
}

/** Joins the group with its details, whose text is not parsed: that would change numbers. */
function joined(group: FoundGroup, details: Uint8Array, hasMerged: boolean): Answer {
  const merged = hasMerged ? '' : '"mergedParameters":null,';
  const { content: _content, ...shown } = group;
  const head = `${JSON.stringify(shown).slice(0, -1)},${merged}`;
  return writtenJson(Buffer.concat([Buffer.from(head), details.subarray(1)]));
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([work, sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)]);
  over.abort();
}
