/** The rules for what may roll out, and for what may be published meanwhile. */

import type { RolloutState } from '../domain/rollout.ts';
import { compareVersions, isVersion } from '../domain/version-order.ts';
import { conflict, type HawserError } from '../lib/errors.ts';
import type { RolloutRef, VersionIndex, VersionRef } from './types.ts';

export type RollingRef = VersionRef & { rollout: RolloutRef };

/** The states in which a rollout goes on, or may be resumed. */
const UNDER_WAY: readonly RolloutState[] = ['Running', 'Paused'];

/** Whether the version has a rollout that has not ended. */
export function isRolling(ref: VersionRef): ref is RollingRef {
  return ref.rollout !== null && UNDER_WAY.includes(ref.rollout.record.state);
}

/**
 * What stands in the way of publishing a version without a rollout of its own: a lower one that rolls out, as nodes would go
 * past its rings.
 * @returns conflict `rollout_running`; null where nothing does
 */
export function rolloutBlocker({ versions }: VersionIndex, version: string): HawserError | null {
  const at = versions.findIndex((ref) => ref.version === version || isBelow(ref.version, version));
  const lower = at < 0 ? undefined : versions.slice(at).find(isRolling);
  if (lower === undefined) return null;
  const message = `Version ${lower.version} rolls out. A higher one waits for the end of that, or is published into a rollout.`;
  return conflict('rollout_running', message);
}

/**
 * Looks whether a version may begin to roll out.
 * @returns the versions of which the rollouts end with it
 * @throws HawserError conflict `rollout_running`, `rollout_halted`, or `not_possible` for a version that was published
 *   before and is not the highest, is withdrawn, or has completed a rollout
 */
export function requireRollable({ versions, published }: VersionIndex, ref: VersionRef): RollingRef[] {
  if (ref.rollout !== null) throw rolledOut(ref.rollout);
  if (ref.status === 'Published' && ref !== published[0])
    throw conflict(
      'not_possible',
      'Only a draft, or the highest published version that is offered, can be rolled out.',
    );
  const higher = versions.slice(0, versions.indexOf(ref)).find(isRolling);
  if (higher) throw conflict('rollout_running', `Version ${higher.version}, which is higher, rolls out.`);
  return versions.filter(isRolling);
}

function rolledOut({ record: { version, state } }: RolloutRef): HawserError {
  if (UNDER_WAY.includes(state)) return conflict('rollout_running', `Version ${version} rolls out already.`);
  if (state === 'Completed') return conflict('not_possible', `Version ${version} has been rolled out.`);
  return conflict(
    'rollout_halted',
    `The rollout of version ${version} has ended; roll out a higher version.`,
  );
}

/** Versions that are no SemVer are below all others, and one that is new is above those. */
function isBelow(version: string, other: string): boolean {
  return isVersion(version) && isVersion(other) ? compareVersions(version, other) < 0 : !isVersion(version);
}
