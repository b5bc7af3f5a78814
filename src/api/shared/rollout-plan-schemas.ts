/** Shapes of the plan of a rollout: what rolls out, in which steps, and behind which gates. */

import { z } from 'zod';
import { type Gate, MAX_ROLLED_FILES, ON_HALT } from '../../domain/rollout.ts';
import { MAX_STEPS } from '../../domain/rollout-plan.ts';
import { choice, Duration, Message, orUnchanged } from '../../http/schemas.ts';

export const DEFAULT_GATE: Gate = {
  ...{ minNodes: 1, successShare: 0.95, maxRegressions: 0, maxSilent: null, maxAbsent: null },
  ...{ bakeTime: '01:00:00', deadline: '1.00:00:00', approval: false },
};

/** A member that has this value where it is null or absent. */
const or = <T extends z.ZodType>(schema: T, value: z.output<T>, description: string) =>
  schema
    .nullish()
    .transform((said): z.output<T> => (said ?? value) as z.output<T>)
    .meta({ description: `${description}; without it, ${value}` });

const Count = z.int32().min(0);
const Limit = (what: string) =>
  Count.nullish()
    .transform((count) => count ?? null)
    .meta({ description: `So many nodes may ${what}; null sets no limit` });
const DurationText = Duration.transform(({ text }) => text);
const { minNodes, successShare, maxRegressions, bakeTime, deadline, approval } = DEFAULT_GATE;

const NewGate = z.strictObject({
  minNodes: or(Count, minNodes, 'So many nodes must have been judged, as successes or regressions'),
  successShare: or(
    z.number().min(0).max(1),
    successShare,
    'The least share of successes in the nodes that have taken the version and were not bad before',
  ),
  maxRegressions: or(
    Count,
    maxRegressions,
    'With more regressions, those of the steps before included, the rollout halts at once',
  ),
  maxSilent: Limit('have taken it and not reported since'),
  maxAbsent: Limit('not have polled since the step opened'),
  bakeTime: or(DurationText, bakeTime, 'For so long all of it must hold'),
  deadline: or(DurationText, deadline, 'After so long without a verdict the rollout pauses'),
  approval: or(z.boolean(), approval, 'Whether somebody must approve who is not the one who published'),
});

export const Ring = z.string().nullable().meta({
  description: 'A value of the scope type of the rings; null stands for the nodes without a tag of it',
});
const Percent = z.int().min(1).max(100);

export const FileOfRollout = z.strictObject({
  scopeTypeName: z.string(),
  scopeValue: z.string().nullable().meta({ description: 'Null for Default' }),
  version: z.string(),
});

const PLAN = {
  steps: z
    .array(
      z.strictObject({
        ring: Ring,
        percent: or(Percent, 100, 'The share of the nodes of the ring'),
        gate: NewGate,
      }),
    )
    .min(1)
    .max(MAX_STEPS)
    .meta({ description: 'In any order of the rings; a ring may come again with a larger share' }),
  onHalt: choice(...ON_HALT).meta({
    description: 'What the nodes that have it get when it halts: with Revert what they had',
  }),
  message: orUnchanged(Message),
};

/** A draft, or the highest published version. */
const Version = z.string().meta({ description: 'A draft, which is published; or the highest published one' });

const FilesOfRollout = orUnchanged(
  z
    .array(FileOfRollout.extend({ scopeValue: z.string().nullish() }))
    .min(1)
    .max(MAX_ROLLED_FILES),
).meta({
  description:
    'Parameter files that go with the version, or alone: drafts, which are published, or the highest published file of a ' +
    'major in its scope. A scope is named once',
});

/** What rolls out of a configuration, and how; with `requireSomething`. */
export const CONFIGURATION_ROLLOUT = { version: orUnchanged(Version), parameters: FilesOfRollout, ...PLAN };
/** The same of a composite. */
export const COMPOSITE_ROLLOUT = { version: Version, ...PLAN };

/** Refuses a rollout of nothing. */
export function requireSomething(
  { version, parameters }: { version?: unknown; parameters?: unknown },
  context: z.RefinementCtx,
): void {
  if (version !== undefined || parameters !== undefined) return;
  const message = 'A version is required, or parameters, or both';
  context.addIssue({ code: 'custom', path: ['version'], message, params: { code: 'required' } });
}

export const GateView = z.object({
  ...{ minNodes: z.int(), successShare: z.number(), maxRegressions: z.int() },
  ...{ maxSilent: z.int().nullable(), maxAbsent: z.int().nullable() },
  ...{ bakeTime: z.string(), deadline: z.string(), approval: z.boolean() },
});
