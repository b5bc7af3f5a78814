/** Looks whether a scope type may give the rings of rollouts. Those that run keep the one that they began with. */

import type { z } from 'zod';
import type { Db } from '../../db/database.ts';
import { findScopeTypeByName } from '../../db/scope-types.ts';
import { invalidField } from '../../lib/errors.ts';
import type { Admitted } from './rotation-interval.ts';
import type { RolloutSettingsChange } from './schemas.ts';

/** @throws HawserError invalid unless the name is that of a Restricted scope type, whose spelling is what is saved */
export async function admitRolloutSettings(
  trx: Db,
  { rolloutScopeType: name }: z.output<typeof RolloutSettingsChange>,
): Promise<Admitted> {
  if (name === undefined || name === null) return { members: { rolloutScopeType: name }, details: {} };
  const type = await findScopeTypeByName(trx, name);
  const refuse = (message: string, code: string) => invalidField('/rolloutScopeType', message, code);
  if (type === undefined) throw refuse('There is no scope type of this name', 'unknown_scope_type');
  if (type.value_mode !== 'Restricted' || type.is_system === 1)
    throw refuse('The scope type must be Restricted, so that it has values', 'not_restricted');
  return { members: { rolloutScopeType: type.name }, details: {} };
}
