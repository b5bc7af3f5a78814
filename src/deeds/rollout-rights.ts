/** What a person must hold to start a rollout or to move it. */

import type { Db } from '../db/database.ts';
import { reaches } from '../domain/permissions.ts';
import type { RolloutRecord } from '../domain/rollout.ts';
import { forbidden } from '../lib/errors.ts';
import { heldLevel } from '../security/rights.ts';
import { SeriesRights } from '../security/series-rights.ts';
import { GRANT_KINDS, NOUNS, type ResourceKind, type Target } from '../versions/rows.ts';

/**
 * Modify on all that rolls out.
 * @throws HawserError forbidden, and not_found for a file of which the caller may know nothing
 */
export async function requireRights(
  db: Db,
  target: Pick<Target<ResourceKind>, 'kind' | 'resource' | 'principal'>,
  { version, parameters }: Pick<RolloutRecord, 'version' | 'parameters'>,
): Promise<void> {
  if (version !== null) await requireModify(db, target);
  if (parameters.length === 0) return;
  const rights = await SeriesRights.of(db, target.principal, target.resource.id);
  for (const { scopeType, scopeValue } of parameters)
    rights.require({ scopeType: scopeType.name, value: scopeValue?.value ?? null }, 'Modify');
}

/** @throws HawserError forbidden */
export async function requireModify(
  db: Db,
  { kind, resource, principal }: Pick<Target<ResourceKind>, 'kind' | 'resource' | 'principal'>,
): Promise<void> {
  const level = await heldLevel(db, principal, GRANT_KINDS[kind], resource.id);
  if (level === null || !reaches(level, 'Modify')) throw forbidden(`This needs Modify on the ${NOUNS[kind]}`);
}
