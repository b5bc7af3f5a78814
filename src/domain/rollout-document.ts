/** `rollout.json`, the one file of the branch `rollout/<key>`. Whoever may push can write it, so it is read strictly. */

import { z } from 'zod';
import { isId } from '../lib/ids.ts';
import { parseDuration } from './duration.ts';
import { readJson } from './json-text.ts';
import { isPrintable } from './names.ts';
import {
  isFilesKey,
  MAX_ROLLED_FILES,
  ON_HALT,
  ROLLOUT_STATES,
  type RolloutRecord,
  STEP_STATES,
} from './rollout.ts';
import { planFaults } from './rollout-plan.ts';
import { SCOPE_NAME } from './scopes.ts';
import { isVersion, isVersionName } from './version-order.ts';

export const ROLLOUT_FILE = 'rollout.json';

/** In UTF-16 code units. A record with the most steps and files, and the longest texts in them, has about two thirds of it. */
export const MAX_ROLLOUT_LENGTH = 1024 * 1024;

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

const Version = z.string().refine((text) => isVersion(text) || isVersionName(text));
/** SHA-1 or SHA-256, by the object format of the repository. */
const ObjectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const Named = z.strictObject({ id: z.string().refine(isId), name: ScopeName });

const File = z.strictObject({
  scopeType: Named,
  scopeValue: z.strictObject({ id: z.string().refine(isId), value: Name }).nullable(),
  version: Version,
  tag: ObjectId,
  isPassthrough: z.boolean(),
  publishedBy: Name,
});

/** The order of the members is the order in which they are printed. */
const Members = z.strictObject({
  /** Left out where it is the version. */
  key: z.string().refine(isFilesKey).optional(),
  version: Version.nullable(),
  tag: ObjectId.nullable(),
  /** Left out where there are none, as in all records of earlier releases. */
  parameters: z.array(File).max(MAX_ROLLED_FILES).optional(),
  scopeType: Named,
  state: z.enum(ROLLOUT_STATES),
  step: Count,
  steps: z.array(Step),
  onHalt: z.enum(ON_HALT),
  isReverted: z.boolean(),
  approvedBy: Name.nullable(),
  createdBy: Name,
  publishedBy: Name.nullable(),
  createdAt: Time,
  since: Time,
});

type RolloutDocument = z.infer<typeof Members>;

const Document = Members.refine((document) => isOfSomething(document) && fitsTogether(document));

/**
 * The record in its stored form. Equal content has equal bytes, so that it is one Git object.
 *
 * @throws ZodError if `parseRollout` would not read it, so that no rollout is lost by a transition of its own
 */
export function printRollout({ key, parameters, ...record }: RolloutRecord): string {
  const named = { ...(record.version === null && { key }), ...(parameters.length > 0 && { parameters }) };
  return `${JSON.stringify(Document.parse({ ...record, ...named }), null, 2)}\n`;
}

/** Reads a record that `printRollout` or somebody with git has written; null if anything in it is not as it must be. */
export function parseRollout(text: string): RolloutRecord | null {
  if (text.length > MAX_ROLLOUT_LENGTH) return null;
  try {
    // It refuses what JSON.parse would pass over, such as a member that is there twice.
    readJson(text);
    const { parameters = [], ...document } = Document.parse(JSON.parse(text));
    return { ...document, key: document.version ?? document.key ?? '', parameters };
  } catch {
    return null;
  }
}

/** A version has its tag and its publisher, and files without one have a key. */
function isOfSomething({ key, version, tag, publishedBy, parameters = [] }: RolloutDocument): boolean {
  if (version !== null) return key === undefined && tag !== null && publishedBy !== null;
  return key !== undefined && tag === null && publishedBy === null && parameters.length > 0;
}

/** Whether the record is one that the machine can come to, as far as that can be seen from it alone. */
function fitsTogether({ state, step, steps, isReverted }: RolloutDocument): boolean {
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
