/** `/api/v1/rollouts`, and `.../rollouts` of configurations and composites: versions that reach nodes ring by ring. */

import type { z } from 'zod';
import { pageOfList } from '../../db/rows.ts';
import { moveRollout, OPENING } from '../../deeds/move-rollout.ts';
import { type RolloutTools, startRollout, type WantedRollout } from '../../deeds/start-rollout.ts';
import { DEEDS, type Deed } from '../../domain/rollout-machine.ts';
import { READING_REPOSITORIES, WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import type { FleetTools } from '../../resolve/fleet-tasks.ts';
import { GRANT_KINDS, type ResourceKind } from '../../versions/rows.ts';
import { permitted } from '../shared/routes.ts';
import { type GrantedRoutes, grantedRoutes } from '../shared/versioned.ts';
import { nodeRoutes } from './node-routes.ts';
import {
  AnyRolloutFilter,
  NewCompositeRollout,
  NewRollout,
  RolloutDeed,
  RolloutFilter,
  RolloutView,
} from './schemas.ts';
import { inState, readableRollouts, requireRollout, rolloutsOf, showRollout } from './show.ts';

const TAGS = ['Rollouts'];

/** The paths of the rollouts and of a version of each kind, and what its operation ids have after the verb. */
const KINDS = {
  configurations: {
    path: '/api/v1/configurations/{name}/rollouts',
    version: '/api/v1/configurations/{name}/versions/{version}',
    noun: 'ConfigurationRollout',
  },
  composites: {
    path: '/api/v1/composite-configurations/{name}/rollouts',
    version: '/api/v1/composite-configurations/{name}/versions/{version}',
    noun: 'CompositeRollout',
  },
} as const;

const BODIES: Record<ResourceKind, z.ZodType<WantedRollout>> = {
  configurations: NewRollout,
  composites: NewCompositeRollout,
};

const SUMMARIES: Record<Deed, string> = {
  pause: 'Open no further step until the rollout is resumed',
  resume: 'Go on with a rollout that is paused; bake time and deadline begin anew',
  approve: 'Approve the open step, for a gate that asks for it; not by the one who published the version',
  halt: 'End the rollout: nobody new gets the version, and its holders keep it unless `onHalt` is Revert',
  revert: 'End the rollout, and give those who have the version what they had',
  complete: 'End the rollout: all nodes get the version',
};

type Tools = RolloutTools & Pick<FleetTools, 'questions'>;

export function rolloutRoutes(tools: Tools): Route[] {
  return [
    allRoute(tools),
    ...(['configurations', 'composites'] as const).flatMap((kind) => [
      ...readingRoutes(tools, kind),
      ...writingRoutes(tools, kind),
    ]),
  ];
}

function allRoute(tools: Tools): Route {
  return permitted(tools.database, TAGS, 'nodes.read').list('/api/v1/rollouts', {
    id: 'listRollouts',
    summary: 'List the rollouts of all that the caller may read, the newest first',
    query: AnyRolloutFilter,
    answer: { description: 'The rollouts', schema: RolloutView },
    problems: READING_REPOSITORIES,
    async rows({ principal, query: { state, ...query } }) {
      return pageOfList(inState(await readableRollouts(tools, principal, query), state), query);
    },
    show: (found, { facts }) => showRollout(tools, found, facts),
  });
}

function readingRoutes(tools: Tools, kind: ResourceKind): Route[] {
  const { path, noun } = KINDS[kind];
  const permission = 'nodes.read';
  const { reading } = grantedRoutes(tools.database, TAGS, { on: GRANT_KINDS[kind], permission });
  return [
    reading.list(path, {
      id: `list${noun}s`,
      summary: 'List rollouts, the newest first',
      query: RolloutFilter,
      answer: { description: 'The rollouts', schema: RolloutView },
      problems: READING_REPOSITORIES,
      rows: async ({ resource, query }) =>
        pageOfList(inState(await rolloutsOf(tools, { kind, resource }), query.state), query),
      show: (found, { facts }) => showRollout(tools, found, facts),
    }),
    reading.get(`${path}/{version}`, {
      id: `get${noun}`,
      summary: 'Read a rollout with its history, by its key',
      answer: { description: 'The rollout', schema: RolloutView },
      problems: READING_REPOSITORIES,
      handle: async ({ resource, params, facts }) =>
        showRollout(tools, await requireRollout(tools, { kind, resource }, params['version'] ?? ''), facts),
    }),
    ...nodeRoutes(tools, kind, { reading, ...KINDS[kind] }),
  ];
}

function writingRoutes(tools: RolloutTools, kind: ResourceKind): Route[] {
  const permission = 'rollouts.manage';
  const routes = grantedRoutes(tools.database, TAGS, { on: GRANT_KINDS[kind], permission });
  // What is asked of a configuration depends on what rolls out, so the deeds ask for the rest.
  const granted = kind === 'configurations' ? routes.reading : routes.modifying;
  return [
    startRoute(tools, kind, granted),
    ...DEEDS.map((deed) => deedRoute(tools, { kind, deed }, granted)),
  ];
}

/** What publishing a draft of each kind answers beside the rest. */
const PUBLISHING_PROBLEMS = {
  configurations: [
    ...(['document_unreadable', 'incompatible_parameters', [409, 'validation_failed']] as const),
    ...([
      [409, 'schema_unknown'],
      'scope_type_disabled',
      'secret_in_clear',
      [409, 'secret_unreadable'],
      'secret_key_missing',
      'signature_required',
      'signature_invalid',
    ] as const),
  ],
  composites: ['no_children', 'unpublished_child', 'beyond_own_permissions'],
} as const;

function startRoute(tools: RolloutTools, kind: ResourceKind, granted: GrantedRoutes): Route {
  const { path, version, noun } = KINDS[kind];
  return granted.create(path, {
    id: `start${noun}`,
    changesNodes: true,
    represents: version,
    namedInBody: (body) => ({ params: { version: body.version ?? '' }, query: {} }),
    summary:
      kind === 'configurations'
        ? 'Roll a version out, parameter files, or both, ring by ring'
        : 'Roll a version out, ring by ring',
    description:
      'A draft is published into its rollout, by the rules for publishing. Of published versions only the highest can be ' +
      'rolled out. The first step opens at once. The rollout of a lower version ends as Superseded. The rings are the ' +
      'values of the scope type that the setting `rolloutScopeType` names. If-Match takes the ETag of the version.' +
      (kind === 'configurations'
        ? ' Needs Modify on the configuration if a version is named, and on each parameter file that is.'
        : ''),
    body: { kind: 'json', schema: BODIES[kind] },
    answer: { description: 'The rollout', schema: RolloutView },
    problems: [
      ...['no_rings', 'rollout_running', 'rollout_halted', 'not_possible', 'draft_changed'],
      ...['versions_changed', 'state_changed', 'in_use', 'change_set_required'],
      ...PUBLISHING_PROBLEMS[kind],
      ...WRITING_REPOSITORIES,
    ],
    key: ({ key }) => key,
    async handle({ caller, resource, body, facts }) {
      const rollout = await startRollout(tools, { kind, resource, ...caller }, body);
      return showRollout(tools, { owner: { kind, resource }, rollout }, facts);
    },
  });
}

function deedRoute(
  tools: RolloutTools,
  { kind, deed }: { kind: ResourceKind; deed: Deed },
  granted: GrantedRoutes,
): Route {
  const { path, noun } = KINDS[kind];
  return granted.update(`${path}/{version}/${deed}`, {
    id: `${deed}${noun}`,
    method: 'POST',
    represents: `${path}/{version}`,
    // Who finds a bad version must be able to stop it at any time, also during a freeze.
    ...(OPENING.includes(deed) && { changesNodes: true }),
    summary: SUMMARIES[deed],
    body: { kind: 'json', schema: RolloutDeed },
    answer: { description: 'The rollout as it is now', schema: RolloutView },
    problems: [
      ...['state_changed', 'not_possible', 'versions_changed', 'in_use'],
      ...(deed === 'approve' ? ['same_person'] : []),
      ...(deed === 'complete' ? ['approval_pending'] : []),
      ...(OPENING.includes(deed) ? ['change_set_required'] : []),
      ...WRITING_REPOSITORIES,
    ],
    async handle({ caller, resource, params, body, facts }) {
      const key = params['version'] ?? '';
      const rollout = await moveRollout(tools, { kind, resource, ...caller }, { key, deed }, body);
      return showRollout(tools, { owner: { kind, resource }, rollout }, facts);
    },
  });
}
