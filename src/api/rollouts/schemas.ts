/** Shapes of rollouts: the plan that starts one, the deed that moves one, and what is shown of it. */

import { z } from 'zod';
import { NODE_STATUSES } from '../../db/node-tables.ts';
import type { WantedMove } from '../../deeds/move-rollout.ts';
import type { WantedRollout } from '../../deeds/start-rollout.ts';
import {
  NO_COUNTS,
  ON_HALT,
  ROLLOUT_CAUSES,
  ROLLOUT_STATES,
  type RolloutCounts,
  STEP_STATES,
} from '../../domain/rollout.ts';
import { OUTCOMES } from '../../domain/rollout-counts.ts';
import { MAX_STEPS } from '../../domain/rollout-plan.ts';
import { choice, Flag, given, Paging, Reason, Timestamp, wholeNumber } from '../../http/schemas.ts';
import {
  COMPOSITE_ROLLOUT,
  CONFIGURATION_ROLLOUT,
  DEFAULT_GATE,
  FileOfRollout,
  GateView,
  Ring,
  requireSomething,
} from '../shared/rollout-plan-schemas.ts';

const FILE_EXAMPLE = { scopeTypeName: 'Environment', scopeValue: 'production', version: '1.2.0' };

const EXAMPLE = {
  version: '1.4.0',
  steps: [
    { ring: 'canary', gate: { minNodes: 10 } },
    { ring: null, percent: 10, gate: { approval: true } },
    { ring: null, gate: {} },
  ],
  onHalt: 'Revert',
} as const;

export const NewRollout = z
  .strictObject(CONFIGURATION_ROLLOUT)
  .superRefine(requireSomething)
  .meta({
    id: 'NewRollout',
    examples: [{ ...EXAMPLE, parameters: [FILE_EXAMPLE] }],
  }) satisfies z.ZodType<WantedRollout>;

export const NewCompositeRollout = z
  .strictObject(COMPOSITE_ROLLOUT)
  .meta({ id: 'NewCompositeRollout', examples: [EXAMPLE] }) satisfies z.ZodType<WantedRollout>;

export const RolloutDeed = z
  .strictObject({
    reason: Reason,
    expectedState: choice(...ROLLOUT_STATES).meta({
      description: 'The state that the caller has seen; in another one nothing is done',
    }),
  })
  .meta({
    id: 'RolloutDeed',
    examples: [{ reason: 'The load balancer is being replaced', expectedState: 'Running' }],
  }) satisfies z.ZodType<WantedMove>;

const ABOUT_COUNTS: Record<keyof RolloutCounts, string> = {
  offered: 'Who would get the version, of the nodes that the step adds',
  taken: 'Those that declare it, or were served it',
  success: 'Those that are well with it',
  regression: 'Those that were well before, and are not now',
  alreadyBad: 'Those that were not well before either',
  silent: 'Those that have taken it, and have said nothing of it since',
  absent: 'Those that have not polled since it is open to them',
};
const CountsView = z.object(
  Object.fromEntries(
    Object.entries(ABOUT_COUNTS).map(([name, description]) => [name, z.int().meta({ description })]),
  ) as Record<keyof RolloutCounts, z.ZodInt>,
);

const ABOUT_OUTCOMES =
  '`Success`: it is well with the version. `Regression`: it was well before, and is not now. `AlreadyBad`: it was not ' +
  'well before either. `Silent`: it has taken the version, and has said nothing of it since. `Absent`: it has not ' +
  'polled since the step opened. `NotTaken`: it has polled, and has not taken it';

const StepView = z.object({
  ring: Ring,
  percent: z.int(),
  gate: GateView,
  state: z.enum(STEP_STATES),
  counts: CountsView.meta({
    description: 'Of the nodes that the step adds; of a step that is done as they were when it closed',
  }),
  startedAt: Timestamp.nullable(),
  endedAt: Timestamp.nullable(),
});

const State = z.enum(ROLLOUT_STATES);

const EntryView = z.object({
  at: Timestamp,
  actorName: z.string().meta({ description: '`Hawser` where the server did it by itself' }),
  from: State.nullable().meta({ description: 'Null in the first entry' }),
  to: State,
  reason: z.string(),
  counts: CountsView,
});

const Status = z.enum(NODE_STATUSES).nullable();
const OF_NODE = {
  nodeId: z.string(),
  fqdn: z.string(),
  before: Status.meta({ description: 'Its status before it took the version; null where it has not' }),
  after: Status.meta({ description: 'Its status by its last report since; null before the first one' }),
  message: z.string().nullable().meta({ description: 'What that report says is wrong' }),
};

const CauseView = z.object({
  reason: z.enum(ROLLOUT_CAUSES),
  summary: z.string(),
  nodes: z.array(z.object(OF_NODE)).meta({
    description: 'The first 10 by name: those that regressed, or those without which a deadline passed',
  }),
});

export const RolloutNodeView = z
  .object({
    ...{ nodeId: OF_NODE.nodeId, fqdn: OF_NODE.fqdn },
    step: z.int().meta({ description: 'The step that offers it the version, from 0' }),
    outcome: z.enum(OUTCOMES).meta({ description: ABOUT_OUTCOMES }),
    ...{ before: OF_NODE.before, after: OF_NODE.after, message: OF_NODE.message },
  })
  .meta({
    id: 'RolloutNode',
    examples: [
      {
        ...{ nodeId: '0b9b2f0e-6d59-4b3e-9a53-2c6f5a1d7e84', fqdn: 'web-01.example.org', step: 0 },
        ...{ outcome: 'Regression', before: 'Compliant', after: 'Error', message: 'Access is denied.' },
      },
    ],
  });

const AT = '2026-11-20T10:00:00.000Z';
const STEP = { percent: 100, gate: DEFAULT_GATE, counts: NO_COUNTS };

export const RolloutView = z
  .object({
    configurationName: z.string().meta({ description: 'Or the name of the composite' }),
    isComposite: z.boolean(),
    key: z.string().meta({
      description:
        'The version, or `parameters@<n>` for parameter files alone; it stands in routes and branches',
    }),
    version: z.string().nullable().meta({ description: 'Null where parameter files roll out alone' }),
    parameters: z.array(FileOfRollout).meta({ description: 'The parameter files; none in most rollouts' }),
    state: State,
    step: z.int().meta({ description: 'The newest step that is open, from 0' }),
    steps: z.array(StepView),
    onHalt: z.enum(ON_HALT),
    createdBy: z.string(),
    createdAt: Timestamp,
    cause: CauseView.nullable().meta({
      description: 'Why it is Halted, Paused or Superseded; null of any other',
    }),
    frozenUntil: Timestamp.nullable().meta({
      description: 'Of a Running one, while a freeze lasts: until then no further step opens',
    }),
    history: z.array(EntryView).meta({
      description: 'One entry for each commit, the oldest first; of a longer history the newest 1,000',
    }),
  })
  .meta({
    id: 'Rollout',
    examples: [
      {
        ...{ configurationName: 'web', isComposite: false, key: '1.4.0', version: '1.4.0' },
        ...{ parameters: [], state: 'Running', step: 0 },
        steps: [
          { ring: 'canary', ...STEP, state: 'Open', startedAt: AT, endedAt: null },
          { ring: null, ...STEP, state: 'Waiting', startedAt: null, endedAt: null },
        ],
        ...{ onHalt: 'Keep', createdBy: 'alice', createdAt: AT, cause: null, frozenUntil: null },
        history: [{ at: AT, actorName: 'alice', from: null, to: 'Running', reason: '', counts: NO_COUNTS }],
      },
    ],
  });

export const RolloutFilter = Paging.extend({ state: given(choice(...ROLLOUT_STATES)) });

export const RingView = z
  .object({
    ring: z
      .string()
      .nullable()
      .meta({ description: 'Null stands for the nodes without a tag of the scope type' }),
    nodes: z.int().meta({ description: 'So many of its nodes would get the version' }),
  })
  .meta({ id: 'RolloutRing', examples: [{ ring: 'canary', nodes: 12 }] });

/** A parameter file as a query names it. */
export type NamedFile = z.infer<typeof FileOfRollout>;

/** `Environment/prod@1.2.0`, or `Default@1.2.0`. */
const FILE_NAME = /^([^/@,]+)(?:\/([^/@,]+))?@([^,]+)$/;

const FileNames = z.string().transform((text, context): NamedFile[] =>
  text.split(',').map((name) => {
    const [, scopeTypeName = '', scopeValue = null, version = ''] = FILE_NAME.exec(name) ?? [];
    if (version === '')
      context.addIssue({ code: 'custom', message: 'Not files such as Default@1.2.0,Environment/prod@1.2.0' });
    return { scopeTypeName, scopeValue, version };
  }),
);

export const RingsFilter = Paging.extend({
  parameters: given(FileNames).meta({
    description:
      'Parameter files beside the version, by commas, such as `Default@1.2.0,Environment/prod@1.1.3`',
  }),
});

export const RolloutNodeFilter = Paging.extend({
  step: given(wholeNumber(0, MAX_STEPS - 1)).meta({ description: 'Those of this step, from 0' }),
  outcome: given(choice(...OUTCOMES)).meta({ description: ABOUT_OUTCOMES }),
});

export const AnyRolloutFilter = RolloutFilter.extend({
  configurationName: given(z.string()).meta({ description: 'Or the name of a composite' }),
  isComposite: given(Flag),
});
