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
import type { Threads } from '../../lib/threads.ts';
import { toBuffer } from '../../resolve/compare-weight.ts';
import type { FleetTasks } from '../../resolve/fleet-tasks.ts';
import { type FoundGroup, narrowPreview } from '../../resolve/preview-questions.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { readableResources } from '../../security/rights.ts';
import { existingPath } from '../../versions/draft-edits.ts';
import { Context, FileDiffView } from '../shared/comparing.ts';
import { type PermittedRoutes, permitted } from '../shared/routes.ts';
import { NewPreview } from './change-schemas.ts';
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
/** A thread reads so many nodes at once for a whole list. */
const NODES_AT_ONCE = 2_000;

const KEPT =
  'Kept for the first 200 groups, as far as there is room. Those of others are 409 `narrow_preview`: ask for a preview of the ' +
  'same changes with `nodeIds`.';

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
  ...[[400, 'secret_unreadable'] as const, [409, 'secret_unreadable'] as const, 'secret_in_clear'],
  ...['secret_key_missing', 'upgrade_incomplete'],
];

export interface PreviewTools extends ProposingTools {
  runs: PreviewRuns;
  /** The threads for questions, whose callers wait for no preview. */
  questions: Threads<FleetTasks>;
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
  const { questions } = tools;
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
        const { take, skip } = query;
        const asked = { id: row.id, visible: visible.flags, take, skip };
        const rows = await questions.run(call.principal.userId, 'previewGroups', asked);
        return { rows, total: visible.groupCount };
      },
      show: ({ code: _code, message: _message, content: _content, details: _details, ...group }) => group,
    }),
    routes.own('GET', `${PREVIEW}/groups/{groupId}`, {
      id: 'getPreviewGroup',
      summary: 'Read what changes for a group of nodes',
      description: KEPT,
      params: GROUP,
      answers: { 200: { description: 'The group', schema: GroupDetailsView } },
      problems: ['narrow_preview', 'parameter_merge_failed', 'shutting_down'],
      async handle(call) {
        const { row, group, line } = await requireGroup(tools, call);
        const asked = { id: row.id, line };
        const details = await questions.run(call.principal.userId, 'previewDetails', asked);
        return joined(group, details, row.is_narrowed === 1);
      },
    }),
    routes.own('GET', `${PREVIEW}/groups/{groupId}/files/{*filePath}`, {
      id: 'comparePreviewFile',
      summary: 'Compare one file of the two bundles of a group line by line',
      description: `Also \`parameters.yaml\`, without the values of secure parameters. ${KEPT}`,
      params: GROUP.extend({ filePath: z.string() }),
      query: z.object({ context: Context }),
      answers: { 200: { description: 'What is different afterwards', schema: FileDiffView } },
      problems: ['narrow_preview', 'parameter_merge_failed', 'shutting_down'],
      async handle(call) {
        const { row, line } = await requireGroup(tools, call);
        const path = existingPath(call.params.filePath);
        const asked = { id: row.id, line, path, context: call.query.context };
        const diff = await questions.run(call.principal.userId, 'previewFile', asked);
        if (diff === null) throw notFound('Neither bundle has such a file');
        return writtenJson(toBuffer(diff));
      },
    }),
  ];
}

function nodesRoute(tools: PreviewTools, routes: PermittedRoutes): Route {
  const { questions } = tools;
  return routes.list(`${PREVIEW}/nodes`, {
    id: 'listPreviewNodes',
    summary: 'List the nodes that the caller may see, by name, and whether they change',
    description: 'Empty until the preview is Done.',
    params: idsInPath('id'),
    query: NodesOfPreview,
    answer: { description: 'The nodes that match', schema: PreviewNodeView },
    async rows({ query, ...call }) {
      const { row, visible } = await requirePreview(tools, call);
      const { take, skip, ...filter } = query;
      if (row.state !== 'Done') return { rows: [], total: 0 };
      const asked = { id: row.id, visible: visible.flags, filter, take, skip };
      return questions.run(call.principal.userId, 'previewNodes', asked);
    },
    async whole({ query: { change, groupId }, ...call }) {
      const { row, visible } = await requirePreview(tools, call);
      const asked = { id: row.id, visible: visible.flags, filter: { change, groupId } };
      return inSlices(async (skip) => {
        if (row.state !== 'Done') return [];
        const slice = { ...asked, take: NODES_AT_ONCE, skip };
        return (await questions.run(call.principal.userId, 'previewNodes', slice)).rows;
      });
    },
    show: (node) => node,
  });
}

/** Reads slice by slice, until there is no more. */
async function* inSlices<T>(read: (skip: number) => Promise<T[]>): AsyncGenerator<T[]> {
  for (let skip = 0; ; ) {
    const slice = await read(skip);
    if (slice.length === 0) return;
    yield slice;
    skip += slice.length;
  }
}

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

/**
 * A group with the line of its details, if the caller may see it.
 * @throws HawserError not_found; conflict `narrow_preview`
 */
async function requireGroup(
  tools: PreviewTools,
  call: Call & { params: { groupId: string } },
): Promise<{ row: PreviewRow; group: FoundGroup; line: number }> {
  const { row, visible } = await requirePreview(tools, call);
  const asked = { id: row.id, visible: visible.flags, groupId: call.params.groupId };
  const isDone = row.state === 'Done';
  const group = isDone ? await tools.questions.run(call.principal.userId, 'previewGroup', asked) : undefined;
  if (group === undefined) throw notFound('The preview has no such group');
  if (group.details === null) throw narrowPreview();
  return { row, group, line: group.details };
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
  const { content: _content, details: _details, ...shown } = group;
  const head = `${JSON.stringify(shown).slice(0, -1)},${merged}`;
  return writtenJson(Buffer.concat([Buffer.from(head), details.subarray(1)]));
}

async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  await Promise.race([work, sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)]);
  over.abort();
}
