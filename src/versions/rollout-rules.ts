/** The rules for what may roll out, and for what may be published meanwhile. */

import type { RolledFile, RolloutRecord, RolloutState } from '../domain/rollout.ts';
import { isFile } from '../domain/rollout.ts';
import { compareVersions, isVersion, majorOf } from '../domain/version-order.ts';
import { conflict, type HawserError, notFound } from '../lib/errors.ts';
import type { RolloutRef, VersionIndex, VersionRef } from './types.ts';

export type RollingRef = VersionRef & { rollout: RolloutRef };

/** The states in which a rollout goes on, or may be resumed. */
const UNDER_WAY: readonly RolloutState[] = ['Running', 'Paused'];

export function isUnderWay({ state }: RolloutRecord): boolean {
  return UNDER_WAY.includes(state);
}

/** Whether the version has a rollout that has not ended. */
export function isRolling(ref: VersionRef): ref is RollingRef {
  return ref.rollout !== null && isUnderWay(ref.rollout.record);
}

/** The rollouts that have not ended. At most one of them has files. */
export function underWayIn({ rollouts, loose }: VersionIndex): RolloutRef[] {
  return [...rollouts, ...loose.unbegun].filter(({ record }) => isUnderWay(record));
}

/**
 * What stands in the way of publishing a version without a rollout of its own: a lower one that rolls out, as nodes would go
 * past its rings, and parameter files that roll out alone.
 * @returns conflict `rollout_running`; null where nothing does
 */
export function rolloutBlocker({ versions, loose }: VersionIndex, version: string): HawserError | null {
  const alone = loose.alone.find(({ record }) => isUnderWay(record));
  if (alone !== undefined)
    return conflict('rollout_running', `${alone.record.key} rolls out. A version waits for the end of that.`);
  const at = versions.findIndex((ref) => ref.version === version || isBelow(ref.version, version));
  const lower = at < 0 ? undefined : versions.slice(at).find(isRolling);
  if (lower === undefined) return null;
  const message = `Version ${lower.version} rolls out. A higher one waits for the end of that, or is published into a rollout.`;
  return conflict('rollout_running', message);
}

/**
 * What stands in the way of publishing a parameter file: whatever rolls out of its configuration.
 * @param index that of the configuration
 * @returns conflict `rollout_running`; null where nothing does
 */
export function fileBlocker(index: VersionIndex): HawserError | null {
  const [running] = underWayIn(index);
  if (running === undefined) return null;
  const { version, key } = running.record;
  const message = `${version === null ? key : `Version ${version}`} of the configuration rolls out. A parameter file waits for the end of that.`;
  return conflict('rollout_running', message);
}

/**
 * Looks whether a version, or parameter files alone, may begin to roll out.
 * @param ref null where files roll out alone
 * @returns the rollouts that end with it
 * @throws HawserError conflict `rollout_running`, `rollout_halted`, or `not_possible` for a version that was published
 *   before and is not the highest, is withdrawn, or has completed a rollout
 */
export function requireRollable(index: VersionIndex, ref: VersionRef | null): RolloutRef[] {
  if (ref?.rollout) throw rolledOut(ref.rollout);
  if (ref?.status === 'Published' && ref !== index.published[0])
    throw conflict(
      'not_possible',
      'Only a draft, or the highest published version that is offered, can be rolled out.',
    );
  const running = underWayIn(index);
  const lasting = running.find(({ record }) => ref === null || record.parameters.length > 0);
  if (lasting)
    throw conflict(
      'rollout_running',
      `${lasting.record.key} rolls out. What is to roll out waits for the end of that.`,
    );
  const { versions } = index;
  const higher = ref && versions.slice(0, versions.indexOf(ref)).find(isRolling);
  if (higher) throw conflict('rollout_running', `Version ${higher.version}, which is higher, rolls out.`);
  return running;
}

/**
 * Looks whether a version of a parameter file may begin to roll out.
 * @param rollouts those of the configuration
 * @param offered the published versions of its series that are offered
 * @throws HawserError not_found without such a version; conflict `rollout_halted`, or `not_possible` for one that is published and
 *   not the highest of its major, or is withdrawn
 */
export function requireRollableFile(
  rollouts: readonly RolloutRef[],
  { ref, offered, file }: { ref: VersionRef | undefined; offered: readonly VersionRef[]; file: FileScope },
): VersionRef {
  if (ref === undefined) throw notFound('The scope has no such version');
  if (ref.status === 'Draft') return ref;
  const highest = offered.find(({ version }) => majorOf(version) === majorOf(ref.version));
  if (ref !== highest)
    throw conflict(
      'not_possible',
      'Only a draft, or the highest published file of its major that is offered, can be rolled out.',
    );
  const isHalted = rollouts.some(
    ({ record }) =>
      record.state !== 'Completed' && record.parameters.some((each) => isRolledFile(each, ref, file)),
  );
  if (isHalted)
    throw conflict(
      'rollout_halted',
      `The rollout of ${ref.series} ${ref.version} has ended; roll out a higher version.`,
    );
  return ref;
}

/** A scope by its ids and its names. */
export interface FileScope {
  scopeTypeId: string;
  scopeTypeName: string;
  /** The ids of the value, or of the node; null for Default. */
  scopeValueId: string | null;
  scopeValue: string | null;
}

function isRolledFile(file: RolledFile, ref: VersionRef, scope: FileScope): boolean {
  const isOfScope =
    file.scopeType.id === scope.scopeTypeId && (file.scopeValue?.id ?? null) === scope.scopeValueId;
  return isOfScope && isFile(file, ref, scope);
}

function rolledOut({ record: { key, state } }: RolloutRef): HawserError {
  if (UNDER_WAY.includes(state)) return conflict('rollout_running', `Version ${key} rolls out already.`);
  if (state === 'Completed') return conflict('not_possible', `Version ${key} has been rolled out.`);
  return conflict('rollout_halted', `The rollout of version ${key} has ended; roll out a higher version.`);
}

/** Versions that are no SemVer are below all others, and one that is new is above those. */
function isBelow(version: string, other: string): boolean {
  return isVersion(version) && isVersion(other) ? compareVersions(version, other) < 0 : !isVersion(version);
}
