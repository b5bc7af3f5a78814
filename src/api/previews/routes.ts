/** `/api/v1/previews`: what some changes would do, group by group and node by node, without making them. */

import { z } from 'zod';
import {
  makePreview,
  noPreview,
  type PreviewMakers,
  type SeenPreview,
  tryChanges,
} from '../../deeds/make-preview.ts';
import { mayRead, type Named } from '../../deeds/named-changes.ts';
import { findPreview, type PreviewRow } from '../../deeds/preview-rows.ts';
import { VisiblePart } from '../../deeds/preview-visible.ts';
import { type Answer, writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { idsInPath } from '../../http/schemas.ts';
import { notFound } from '../../lib/errors.ts';
import type { Threads } from '../../lib/threads.ts';
import { toBuffer } from '../../resolve/compare-weight.ts';
import type { FleetTasks } from '../../resolve/fleet-tasks.ts';
import { type FoundGroup, narrowPreview } from '../../resolve/preview-questions.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { existingPath } from '../../versions/draft-edits.ts';
import { NewPreview } from '../shared/change-schemas.ts';
import { Context, FileDiffView } from '../shared/comparing.ts';
import {
  answerOf,
  CHANGE_REFUSALS,
  MADE_PREVIEW,
  PreviewView,
  toPreview,
} from '../shared/preview-answers.ts';
import { type PermittedRoutes, permitted } from '../shared/routes.ts';
import { GroupDetailsView, GroupView, NodesOfPreview, PreviewNodeView } from './schemas.ts';

const TAGS = ['Previews'];
const PREVIEW = '/api/v1/previews/{id}';
const GROUP = idsInPath('id').extend({ groupId: z.string() });

/** A thread reads so many nodes at once for a whole list. */
const NODES_AT_ONCE = 2_000;

const KEPT =
  'Kept for the first 200 groups, as far as there is room. Those of others are 409 `narrow_preview`: ask for a preview of the ' +
  'same changes with `nodeIds`.';

export interface PreviewTools extends PreviewMakers {
  /** The threads for questions, whose callers wait for no preview. */
  questions: Threads<FleetTasks>;
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
  return routes.own('POST', '/api/v1/previews', {
    id: 'createPreview',
    summary: 'See what some changes would do, without making them',
    description:
      'The caller needs Read on everything that the changes name. The changes act together, in their order; the first ' +
      'that could not be carried out is answered as the deed itself would be, its errors behind `/changes/<index>`. At ' +
      'most two previews are made at a time, and up to 20 wait.',
    body: { kind: 'json', schema: NewPreview },
    answers: MADE_PREVIEW,
    problems: [...CHANGE_REFUSALS, 'rate_limited', ...READING_REPOSITORIES],
    async handle({ principal, body: { changes, nodeIds = null } }): Promise<Answer> {
      const tried = await tryChanges(tools, principal, changes, { member: 'changes' });
      return answerOf(await makePreview(tools, principal, tried, nodeIds));
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
): Promise<SeenPreview> {
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

/** Joins the group with its details, whose text is not parsed: that would change numbers. */
function joined(group: FoundGroup, details: Uint8Array, hasMerged: boolean): Answer {
  const merged = hasMerged ? '' : '"mergedParameters":null,';
  const { content: _content, details: _details, ...shown } = group;
  const head = `${JSON.stringify(shown).slice(0, -1)},${merged}`;
  return writtenJson(Buffer.concat([Buffer.from(head), details.subarray(1)]));
}
