/**
 * What a rollout is: a version, parameter files, or both, which reach the nodes ring by ring. Its record is the file
 * `rollout.json` on the branch `rollout/<key>`, and whoever moves that branch makes the transition.
 */

import { hash } from 'node:crypto';
import { nameKey } from './names.ts';
import { scopeKey } from './scopes.ts';

/** Paused counts as running. The other three are ends. */
export const ROLLOUT_STATES = ['Running', 'Paused', 'Halted', 'Completed', 'Superseded'] as const;
export type RolloutState = (typeof ROLLOUT_STATES)[number];

/** Why a rollout is halted, paused or superseded. */
export const ROLLOUT_CAUSES = ['Regressions', 'Deadline', 'Person', 'Withdrawn', 'Superseded'] as const;
export type RolloutCause = (typeof ROLLOUT_CAUSES)[number];

export const STEP_STATES = ['Waiting', 'Open', 'Done'] as const;
export type StepState = (typeof STEP_STATES)[number];

/** What becomes of the nodes that have the version when the rollout halts. */
export const ON_HALT = ['Keep', 'Revert'] as const;
export type OnHalt = (typeof ON_HALT)[number];

/** What must hold of the nodes that the step adds before the next one opens. Durations are texts as `parseDuration` writes them. */
export interface Gate {
  /** So many nodes must have been judged: successes and regressions. */
  minNodes: number;
  /** The least share of successes in the nodes that have taken the version and were not bad before, from 0 to 1. */
  successShare: number;
  /** With more regressions than this, those of all steps before included, the rollout halts at once. */
  maxRegressions: number;
  /** So many nodes may have taken the version and not reported since. Null sets no limit. */
  maxSilent: number | null;
  /** So many nodes may not have polled since the step opened. Null sets no limit. */
  maxAbsent: number | null;
  /** For so long all of it must hold without a break. */
  bakeTime: string;
  /** After so long without a verdict the rollout pauses. */
  deadline: string;
  /** Whether a person must approve, who is not the one who published. */
  approval: boolean;
}

/** The nodes that a step adds, as far as this version concerns them. */
export interface RolloutCounts {
  /** To whom the version is open and who would get it. */
  offered: number;
  /** Those with evidence Served or Declared. */
  taken: number;
  success: number;
  /** Compliant (or Unknown) before, and not now. */
  regression: number;
  /** Not compliant before they took it. */
  alreadyBad: number;
  /** They have taken it, and no report since says how they are with it. */
  silent: number;
  /** They have not polled since it is open to them. */
  absent: number;
}

export const NO_COUNTS: RolloutCounts = {
  ...{ offered: 0, taken: 0, success: 0, regression: 0 },
  ...{ alreadyBad: 0, silent: 0, absent: 0 },
};

export interface RolloutStep {
  /** A value of the scope type of the rings. Null stands for the nodes without a tag of it, which are the last ring. */
  ring: string | null;
  /** The share of the ring's nodes, from 1 to 100. */
  percent: number;
  gate: Gate;
  state: StepState;
  /** As they were when the step closed, or when the record was written last. */
  counts: RolloutCounts;
  /** RFC 3339; null before it opens, or while it is open. */
  startedAt: string | null;
  endedAt: string | null;
}

/** A parameter file that rolls out. */
export interface RolledFile {
  /** The ids stay what they are when somebody gives the type or the value another name. */
  scopeType: { id: string; name: string };
  /** Null for Default; of the scope Node the id and the name of the node. */
  scopeValue: { id: string; value: string } | null;
  version: string;
  /** Its annotated tag, in the repository of the parameters. */
  tag: string;
  /** Whether it skips its scope on purpose, so that a manifest does not show it. */
  isPassthrough: boolean;
  publishedBy: string;
}

/**
 * Whether a scope counts as giving a file, for who looks at no node: what rolls out does. Once that has halted, whoever has not taken
 * it gets what is below.
 */
export const countsAsGiven = ({ state }: Pick<RolloutRecord, 'state'>) => state !== 'Halted';

/** So many files roll out together at most. */
export const MAX_ROLLED_FILES = 500;

/** The content of `rollout.json`. */
export interface RolloutRecord {
  /** The version, or `parameters@<n>` for files alone. It names the rollout in routes and branches. */
  key: string;
  /** Null where parameter files roll out alone. */
  version: string | null;
  /** The annotated tag of the version. The rollout counts for this tag alone, so not for a version that was made anew. */
  tag: string | null;
  /** In the order in which they were named. */
  parameters: readonly RolledFile[];
  /** The scope type whose values are the rings. */
  scopeType: { id: string; name: string };
  state: RolloutState;
  /** The place of the newest step that is open, from 0. */
  step: number;
  steps: readonly RolloutStep[];
  onHalt: OnHalt;
  /** Whether those who have it go back to what they had: it halted with Revert, or somebody reverted it. */
  isReverted: boolean;
  /** The name of the user who has approved the open step; null where nobody has. */
  approvedBy: string | null;
  createdBy: string;
  /** Who published the version, who may not approve, nor may those who published the files. Null without a version. */
  publishedBy: string | null;
  /** RFC 3339. */
  createdAt: string;
  /** When bake time and deadline began: with the step, or with the last resuming. RFC 3339. */
  since: string;
}

/** What decides whether a version is open to a node. */
export interface RolloutNode {
  nodeId: string;
  /** Its tag of the scope type of the rings; null without one. */
  ring: string | null;
}

/** `Holders`: to those alone that have taken the version already. */
export type Openness = 'Open' | 'Closed' | 'Holders';

/** To whom the version is open now. It looks at nothing but the record and the node. */
export function opennessFor(rollout: RolloutRecord, node: RolloutNode): Openness {
  const { state, isReverted } = rollout;
  if (state === 'Completed') return 'Open';
  if (state === 'Running' || state === 'Paused') return isInOpenStep(rollout, node) ? 'Open' : 'Closed';
  return isReverted ? 'Closed' : 'Holders';
}

/** Whether the node belongs to a step that is open or done. */
export function isInOpenStep(rollout: RolloutRecord, node: RolloutNode): boolean {
  return openStepOf(rollout, node) >= 0;
}

/** The place of the first step, open or done, to which the node belongs. It opened the version to the node. -1 if none has. */
export function openStepOf({ key, steps }: RolloutRecord, { nodeId, ring }: RolloutNode): number {
  return steps.findIndex(({ state, ring: of, percent }) => {
    if (state === 'Waiting' || of !== ring) return false;
    // Most steps take the whole ring, and a hash takes longer than all the rest.
    return percent === 100 || shareOf(nodeId, key) < percent;
  });
}

/** A number from 0 to below 100 that belongs to the node and the rollout for ever, so that a larger share only adds. */
export function shareOf(nodeId: string, key: string): number {
  const digest = hash('sha256', `${nodeId} ${key}`, 'buffer');
  return (digest.readUInt32BE(0) / 2 ** 32) * 100;
}

const FILES_KEY = /^parameters@([1-9]\d{0,9})$/;

/** Whether the text is the key of a rollout of parameter files alone. No version is named so. */
export function isFilesKey(text: string): boolean {
  return FILES_KEY.test(text);
}

/** The key of the next rollout of files alone, given all keys there are. */
export function nextFilesKey(keys: readonly string[]): string {
  const numbers = keys.map((key) => Number(FILES_KEY.exec(key)?.[1] ?? 0));
  return `parameters@${Math.max(0, ...numbers) + 1}`;
}

/** Whether this user published any of it. */
export function hasPublished({ publishedBy, parameters }: RolloutRecord, username: string): boolean {
  const publishers = [publishedBy, ...parameters.map((file) => file.publishedBy)];
  return publishers.some((name) => name !== null && nameKey(name) === nameKey(username));
}

/** A scope by its ids, the value's or the node's. Null stands for none. */
export interface ScopeIds {
  scopeTypeId: string;
  scopeValueId: string | null;
}

/** Whether the file is of this scope. */
export function isOfScope({ scopeType, scopeValue }: RolledFile, scope: ScopeIds): boolean {
  return scopeType.id === scope.scopeTypeId && (scopeValue?.id ?? null) === scope.scopeValueId;
}

/** Whether this version of the file's scope is the file. The tag of a version is another one once its scope was renamed. */
export function isFile(
  file: RolledFile,
  { version, oid }: { version: string; oid: string },
  scope: { scopeTypeName: string; scopeValue: string | null },
): boolean {
  if (file.version !== version) return false;
  return file.tag === oid || !isSameName(file, scope);
}

function isSameName(
  { scopeType, scopeValue }: RolledFile,
  scope: { scopeTypeName: string; scopeValue: string | null },
): boolean {
  const same = (a: string, b: string) => scopeKey(a) === scopeKey(b);
  if (!same(scopeType.name, scope.scopeTypeName)) return false;
  const [own, other] = [scopeValue?.value ?? null, scope.scopeValue];
  return own === null || other === null ? own === other : same(own, other);
}
