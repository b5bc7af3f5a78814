/** Which version an assignment gives, and which one the child of a composite. */

import { chooseVersion, type VersionConstraint } from '../domain/version-choice.ts';
import type { VersionIndex, VersionRef } from '../versions/store.ts';

export interface WantedVersion extends VersionConstraint {
  /** The only version that is admitted; null pins nothing. */
  version: string | null;
}

/**
 * The pinned version while it is published, even if it is withdrawn. Without a pin, the highest published version that
 * the constraint admits. Null if there is none.
 */
export function findWanted(index: VersionIndex, wanted: WantedVersion): VersionRef | null {
  if (wanted.version === null) return chooseVersion(index.published, wanted);
  const pinned = index.get(wanted.version);
  return pinned?.status === 'Published' ? pinned : null;
}

/** Whether the version is withdrawn: what is pinned to it still gets it, and nothing can be pinned to it anew. */
export function isWithdrawn(ref: VersionRef): boolean {
  return ref.withdrawn !== null;
}
