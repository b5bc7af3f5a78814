/** The variables that texts in parameter files may have, whatever the node. */

import type { Db } from '../db/database.ts';
import { listScopeTypes } from '../db/scope-types.ts';
import { anyValues, type VariableValues } from '../domain/variables.ts';

/** Something for each of them; null where they are texts as any other, as the settings of the configuration say. */
export async function variablesKnownTo(db: Db, configurationName: string): Promise<VariableValues | null> {
  const row = await db
    .selectFrom('configurations as c')
    .innerJoin('configuration_settings as s', 's.configuration_id', 'c.id')
    .select('s.variables')
    .where('c.name', '=', configurationName)
    .executeTakeFirst();
  return row?.variables === 'On' ? allVariables(db) : null;
}

/** Scope types of the system have no tags. */
export async function allVariables(db: Db): Promise<VariableValues> {
  const types = await listScopeTypes(db);
  return anyValues(types.filter(({ is_system }) => is_system === 0).map(({ name }) => name));
}
