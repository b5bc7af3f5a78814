/** `/api/v1/change-sets`: many deeds as one proposal, which is seen and applied as one. */

import { z } from 'zod';
import {
  type ChangeSetFilter as Filter,
  findChangeSets,
  listApprovals,
  listChangeSets,
} from '../../db/change-sets.ts';
import type { Db } from '../../db/database.ts';
import { pageOfList } from '../../db/rows.ts';
import { type ApplyingTools, applySet } from '../../deeds/apply-change-set.ts';
import { approveSet, isApprovable, takeApprovalBack } from '../../deeds/approve-change-set.ts';
import {
  checkSet,
  DeedReader,
  keptOf,
  previewSet,
  type ReadingTools,
  requireSet,
  type SeenSet,
  type SetCheck,
  seenBy,
  stateBlocker,
} from '../../deeds/change-sets.ts';
import { toShownName } from '../../deeds/changes.ts';
import { discardSet, editSet, proposeSet } from '../../deeds/propose-change-set.ts';
import { Protections } from '../../deeds/protection.ts';
import { revertSet } from '../../deeds/revert-change-set.ts';
import { type KeptFailure, scheduleSet, unscheduleSet } from '../../deeds/schedule-change-set.ts';
import type { DraftTools } from '../../deeds/set-drafts.ts';
import { created, json } from '../../http/answer.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { toOptionalTimestamp, toTimestamp } from '../../lib/clock.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { answerOf, CHANGE_REFUSALS, MADE_PREVIEW } from '../shared/preview-answers.ts';
import { permitted, ResourceRoutes } from '../shared/routes.ts';
import {
  ChangeSetFilter,
  ChangeSetView,
  NewApplication,
  NewApproval,
  NewChangeSet,
  SET_BYTES,
} from './schemas.ts';

const TAGS = ['Change sets'];
const PATH = '/api/v1/change-sets';
const SET = `${PATH}/{id}`;

/** An id that is no number names nothing. */
const SetId = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .transform(Number)
    .meta({ published: { type: 'integer' } }),
});

const REFUSALS = [...CHANGE_REFUSALS, 'draft_exists', 'draft_changed', 'rate_limited'] as const;

export type ChangeSetTools = ReadingTools & DraftTools & ApplyingTools;

export function changeSetRoutes(tools: ChangeSetTools): Route[] {
  const { database } = tools;
  const forUsers = new ResourceRoutes(database, { tags: TAGS, access: { kind: 'user' } });
  const proposing = permitted(database, TAGS, 'nodes.read');
  const answer = { description: 'The change set', schema: ChangeSetView };
  return [
    proposing.create(PATH, {
      id: 'createChangeSet',
      summary: 'Propose many deeds as one change set, which changes nothing by itself',
      description:
        'Needs Read on everything that the deeds name, and Modify on the parameters that `SetParameters` writes. Each deed is ' +
        'judged in its order, as a preview judges changes; the errors of the first that could not be carried out stand behind ' +
        '`/deeds/<index>`. After a refusal no draft was made or changed.',
      body: { kind: 'json', schema: NewChangeSet, bytes: SET_BYTES },
      answer,
      problems: [...REFUSALS, ...WRITING_REPOSITORIES],
      key: ({ id }) => String(id),
      handle: async ({ caller, body }) =>
        showSet(tools, caller.principal, (await proposeSet(tools, caller, body)).id),
    }),
    listRoute(tools, forUsers),
    forUsers.get(SET, {
      id: 'getChangeSet',
      summary: 'Read a change set: what it proposes, and what stands in its way',
      description:
        'Deeds on what the caller may not read are left out and counted in `hiddenDeeds`. A set of which the caller may read ' +
        'nothing is 404.',
      params: SetId,
      answer,
      problems: READING_REPOSITORIES,
      handle: ({ params, principal }) => showSet(tools, principal, params.id),
    }),
    proposing.update(SET, {
      id: 'updateChangeSet',
      summary: 'Give a change set another title, description and other deeds',
      description:
        'For its authors, and for holders of Manage on all that it names; as long as it is Open or Scheduled. It ends approvals ' +
        'and the schedule, and the caller becomes an author.',
      params: SetId,
      body: { kind: 'json', schema: NewChangeSet, bytes: SET_BYTES },
      answer,
      problems: [...REFUSALS, 'not_possible', ...WRITING_REPOSITORIES],
      async handle({ caller, params, body }) {
        await editSet(tools, caller, params.id, body);
        return showSet(tools, caller.principal, params.id);
      },
    }),
    forUsers.delete(SET, {
      id: 'discardChangeSet',
      summary: 'Discard a change set for good; drafts that it names stay',
      description: 'For those who may edit it.',
      params: SetId,
      answer: { description: 'Discarded' },
      problems: ['not_possible', ...WRITING_REPOSITORIES],
      handle: ({ caller, params }) => discardSet(tools, caller, params.id),
    }),
    proposing.own('POST', `${SET}/preview`, {
      id: 'previewChangeSet',
      summary: 'See what a change set would do',
      description:
        'Needs Read on all that it names. The set remembers the preview for as long as its digest stands.',
      params: SetId,
      answers: MADE_PREVIEW,
      problems: [...CHANGE_REFUSALS, 'not_possible', 'rate_limited', ...READING_REPOSITORIES],
      handle: async ({ params, principal }) => answerOf(await previewSet(tools, principal, params.id)),
    }),
    ...applyingRoutes(tools),
  ];
}

/** Applying a set, and taking it back. */
function applyingRoutes(tools: ChangeSetTools): Route[] {
  const forUsers = new ResourceRoutes(tools.database, { tags: TAGS, access: { kind: 'user' } });
  const proposing = permitted(tools.database, TAGS, 'nodes.read');
  const answer = { description: 'The change set', schema: ChangeSetView };
  return [
    forUsers.own('POST', `${SET}/apply`, {
      id: 'applyChangeSet',
      summary: 'Do all deeds of a change set as one step',
      description:
        'Needs for every deed what the deed itself needs. Nobody sees some of the deeds without the others. It is refused, in this ' +
        'order, where the digest is not the present one (412), while what nodes get is frozen (423), with the first blocker, while ' +
        'approvals are missing, unless a holder of the overrides gives a reason in `override`, and where `expectedChanged` is not the ' +
        'number of nodes that it would change or leave without an answer now. With `applyAt` all of this is looked at now and again ' +
        'then, with the rights that the caller, or the token, has then. What stops it then makes it Failed.',
      params: SetId,
      changesNodes: true,
      body: { kind: 'json', schema: NewApplication },
      answers: { 200: answer, 202: { ...answer, description: 'It is scheduled' } },
      problems: [
        ...[...REFUSALS, 'not_possible', 'approvals_missing', 'effect_changed', 'precondition_failed'],
        'versions_changed',
        ...WRITING_REPOSITORIES,
      ],
      async handle({ principal, params, body, facts: { actor } }) {
        const { applyAt, ...asked } = body;
        const caller = { principal, actor };
        if (typeof applyAt === 'number') await scheduleSet(tools, caller, params.id, { ...asked, applyAt });
        else await applySet(tools, caller, params.id, asked);
        const shown = json(await showSet(tools, principal, params.id));
        return typeof applyAt === 'number' ? { ...shown, status: 202 } : shown;
      },
    }),
    forUsers.own('DELETE', `${SET}/apply`, {
      id: 'unscheduleChangeSet',
      summary: 'Call a scheduled change set off: it is open again, and its approvals stay',
      description: 'For those who may edit it.',
      params: SetId,
      answers: { 200: answer },
      problems: ['not_possible', ...WRITING_REPOSITORIES],
      async handle({ principal, params, facts: { actor } }) {
        await unscheduleSet(tools, { principal, actor }, params.id);
        return json(await showSet(tools, principal, params.id));
      },
    }),
    forUsers.own('POST', `${SET}/approve`, {
      id: 'approveChangeSet',
      summary: 'Approve a change set as it is',
      description:
        'For people with `nodes.read` who hold Modify on what a protection covers in the set, and are in the group that it names ' +
        'since before the set was made; where nothing protects the set, Modify on something that it names. Not for its authors, nor ' +
        'for those who made or edited a draft in it. It counts for this digest alone.',
      params: SetId,
      body: { kind: 'json', schema: NewApproval },
      answers: { 200: answer },
      problems: ['not_possible', 'same_person', 'precondition_failed', ...WRITING_REPOSITORIES],
      async handle({ principal, params, body, facts: { actor } }) {
        await approveSet(tools, { principal, actor }, params.id, body.digest);
        return json(await showSet(tools, principal, params.id));
      },
    }),
    forUsers.own('DELETE', `${SET}/approve`, {
      id: 'takeBackApproval',
      summary: 'Take back your own approval of a change set',
      params: SetId,
      answers: { 200: answer },
      problems: ['not_possible', ...WRITING_REPOSITORIES],
      async handle({ principal, params, facts: { actor } }) {
        await takeApprovalBack(tools, { principal, actor }, params.id);
        return json(await showSet(tools, principal, params.id));
      },
    }),
    proposing.own('POST', `${SET}/revert`, {
      id: 'revertChangeSet',
      summary: 'Propose the change set that takes an applied one back',
      description:
        'It undoes the deeds, last first, from the state before them. What was changed again since stays as it is, and is a ' +
        'finding `changed_since` of the new set.',
      params: SetId,
      answers: { 201: { ...answer, headers: { Location: 'The path of the new set' } } },
      problems: [...REFUSALS, 'not_possible', 'nothing_to_revert', ...WRITING_REPOSITORIES],
      async handle({ principal, params, facts: { actor } }) {
        const { id } = await revertSet(tools, { principal, actor }, params.id);
        return created(`${PATH}/${id}`, await showSet(tools, principal, id));
      },
    }),
  ];
}

function listRoute(tools: ChangeSetTools, forUsers: ResourceRoutes<{ kind: 'user' }>): Route {
  const { read } = tools.database;
  return forUsers.list(PATH, {
    id: 'listChangeSets',
    summary: 'List change sets, newest first',
    description: 'Those of which the caller may read something. `check` is null.',
    query: ChangeSetFilter,
    answer: { description: 'The change sets', schema: ChangeSetView },
    problems: READING_REPOSITORIES,
    async rows({ query, principal }) {
      const { take, skip, state, author, configuration, approvable } = query;
      const reader = await DeedReader.of(read, principal);
      const protections = await Protections.of(tools);
      const filter = { state, ...(await namedIn(read, { author, configuration })) };
      const all = await listChangeSets(read, filter);
      const visible = all.filter((row) => reader.seesAny(keptOf(row)));
      const readSets = async (ids: readonly number[]) => {
        const approvals = await listApprovals(read, ids);
        const sets: SeenSet[] = [];
        for (const row of await findChangeSets(read, ids)) {
          const own = approvals.filter((each) => each.set_id === row.id);
          sets.push(await seenBy(tools, { reader, protections }, row, own));
        }
        return sets;
      };
      if (approvable !== true) {
        const page = pageOfList(visible, { take, skip });
        return { rows: await readSets(page.rows.map(({ id }) => id)), total: page.total };
      }
      const sets: SeenSet[] = [];
      // Where nothing is protected, no approval counts.
      const open = protections.things.length === 0 ? [] : visible.filter((row) => stateBlocker(row) === null);
      for (const set of await readSets(open.map(({ id }) => id)))
        if (await isApprovable(tools, principal, set)) sets.push(set);
      return pageOfList(sets, { take, skip });
    },
    show: (set) => toChangeSet(set, null),
  });
}

/** The ids of what a query names. */
async function namedIn(
  db: Db,
  { author, configuration }: { author?: string | undefined; configuration?: string | undefined },
): Promise<Pick<Filter, 'author' | 'namesOneOf'>> {
  const filter: Pick<Filter, 'author' | 'namesOneOf'> = {};
  if (author !== undefined) {
    const key = author.toLowerCase();
    const user = db.selectFrom('users').select('id').where('username_key', '=', key);
    filter.author = (await user.executeTakeFirst()) ?? { name: author };
  }
  if (configuration !== undefined) {
    const key = configuration.toLowerCase();
    const ids: string[] = [];
    for (const table of ['configurations', 'composites'] as const) {
      const row = await db.selectFrom(table).select('id').where('name_key', '=', key).executeTakeFirst();
      if (row) ids.push(row.id);
    }
    filter.namesOneOf = ids;
  }
  return filter;
}

/** What stopped a scheduled set. Of a deed that the reader may not see it says no more than its code. */
function shownFailure({ failure }: SeenSet['row'], places: ReadonlyMap<number, number>) {
  if (failure === null) return null;
  const { code, message, deed }: KeptFailure = JSON.parse(failure);
  const isSeen = deed === null || places.has(deed);
  return { code, message: isSeen ? message : 'A deed that you may not see could not be carried out' };
}

async function showSet(tools: ChangeSetTools, principal: UserPrincipal, id: number) {
  const set = await requireSet(tools, principal, id);
  return toChangeSet(set, await checkSet(tools, principal, set));
}

/** A set as its reader sees it. Deeds that the reader may not see are nowhere but in their number. */
function toChangeSet(set: SeenSet, check: SetCheck | null) {
  const { row, kept, seen, digest, approvals, previewId } = set;
  const { id, title, description, state, tip } = row;
  const deeds = kept.deeds.filter((_, at) => seen[at]);
  const places = new Map([...seen.keys()].filter((at) => seen[at]).map((at, place) => [at, place]));
  const shown = (said: SetCheck['blockers']) =>
    said.flatMap(({ deed, ...rest }) => {
      const place = deed === null ? null : places.get(deed);
      return place === undefined ? [] : [{ ...rest, deed: place }];
    });
  const override: { by: string; at: number; reason: string } | null = JSON.parse(row.override ?? 'null');
  return {
    ...{ id, title, description, state, deeds, hiddenDeeds: kept.deeds.length - deeds.length },
    ...{ createdBy: row.created_by, createdAt: toTimestamp(row.created_at), tip, digest },
    protection: set.protection.flatMap(({ isSeen, by, approvals: wanted, group, missing }) =>
      isSeen ? [{ by: toShownName(by), approvals: wanted, group, missing }] : [],
    ),
    approvals: approvals.map(({ username: by, at, digest }) => ({ by, at: toTimestamp(at), digest })),
    applyAt: toOptionalTimestamp(row.apply_at),
    appliedAt: toOptionalTimestamp(row.applied_at),
    appliedBy: row.applied_by,
    override: override && { ...override, at: toTimestamp(override.at) },
    failure: shownFailure(row, places),
    ...{ revertOf: row.revert_of, revertedBy: row.reverted_by, previewId },
    check: check && {
      canApply: check.blockers.length === 0,
      blockers: shown(check.blockers),
      findings: shown(check.findings),
    },
  };
}
