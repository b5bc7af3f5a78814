/** `rollout.json`, the one file of the branch `rollout/<version>`. Whoever may push can write it, so it is read strictly. */

import { z } from 'zod';
import { isId } from '../lib/ids.ts';
import { parseDuration } from './duration.ts';
import { readJson } from './json-text.ts';
import { isPrintable } from './names.ts';
import { ON_HALT, ROLLOUT_STATES, type RolloutRecord, STEP_STATES } from './rollout.ts';
import { planFaults } from './rollout-plan.ts';
import { SCOPE_NAME } from './scopes.ts';
import { isVersion, isVersionName } from './version-order.ts';

export const ROLLOUT_FILE = 'rollout.json';

/** In UTF-16 code units. A record with the most steps, and the longest texts in them, has about a third of it. */
export const MAX_ROLLOUT_LENGTH = 256 * 1024;

/** Names come from accounts, or from the signatures of commits and tags. */
const MAX_NAME_LENGTH = 200;

const Count = z.int().min(0);
const Name = z.string().refine((text) => isPrintable(text, MAX_NAME_LENGTH));
const ScopeName = z.string().regex(SCOPE_NAME);
const Time = z.iso.datetime({ precision: 3 });
/** One spelling alone, as two spellings would be two documents with the same content. */
const DurationText = z.string().refine((text) => parseDuration(text)?.text === text);

const Counts = z.strictObject({
  offered: Count,
  taken: Count,
  success: Count,
  regression: Count,
  alreadyBad: Count,
  silent: Count,
  absent: Count,
});

const GateDocument = z.strictObject({
  minNodes: Count,
  successShare: z.number().min(0).max(1),
  maxRegressions: Count,
  maxSilent: Count.nullable(),
  // Records that were written before there was such a limit have none.
  maxAbsent: Count.nullable().default(null),
  bakeTime: DurationText,
  deadline: DurationText,
  approval: z.boolean(),
});

const Step = z.strictObject({
  ring: ScopeName.nullable(),
  percent: z.int(),
  gate: GateDocument,
  state: z.enum(STEP_STATES),
  counts: Counts,
  startedAt: Time.nullable(),
  endedAt: Time.nullable(),
});

/** The order of the members is the order in which they are printed. */
const Document = z
  .strictObject({
    version: z.string().refine((text) => isVersion(text) || isVersionName(text)),
    /** SHA-1 or SHA-256, by the object format of the repository. */
    tag: z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/),
    scopeType: z.strictObject({ id: z.string().refine(isId), name: ScopeName }),
    state: z.enum(ROLLOUT_STATES),
    step: Count,
    steps: z.array(Step),
    onHalt: z.enum(ON_HALT),
    isReverted: z.boolean(),
    approvedBy: Name.nullable(),
    createdBy: Name,
    publishedBy: Name,
    createdAt: Time,
    since: Time,
  })
  .refine((record) => fitsTogether(record));

/**
 * The record in its stored form. Equal content has equal bytes, so that it is one Git object.
 *
 * @throws ZodError if `parseRollout` would not read it, so that no rollout is lost by a transition of its own
 */
export function printRollout(record: RolloutRecord): string {
  return `${JSON.stringify(Document.parse(record), null, 2)}\n`;
}

/** Reads a record that `printRollout` or somebody with git has written; null if anything in it is not as it must be. */
export function parseRollout(text: string): RolloutRecord | null {
  if (text.length > MAX_ROLLOUT_LENGTH) return null;
  try {
    // It refuses what JSON.parse would pass over, such as a member that is there twice.
    readJson(text);
    return Document.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Whether the record is one that the machine can come to, as far as that can be seen from it alone. */
function fitsTogether({ state, step, steps, isReverted }: RolloutRecord): boolean {
  const current = state === 'Completed' ? 'Done' : 'Open';
  const areStepsInOrder = steps.every((one, at) => {
    const expected = at < step ? 'Done' : at === step ? current : 'Waiting';
    const hasTimes = (one.startedAt === null) === (expected === 'Waiting');
    return one.state === expected && hasTimes && (one.endedAt !== null) === (expected === 'Done');
  });
  // Which values the scope type has is not in the record.
  const rings = steps.flatMap(({ ring }) => ring ?? []);
  const isPlan = planFaults(steps, rings).length === 0;
  return step < steps.length && areStepsInOrder && isPlan && (!isReverted || state === 'Halted');
}
