/** What happened that explains a change of how the fleet is. */

import { type SqlBool, sql } from 'kysely';
import type { Visible } from './activity.ts';
import type { Db } from './database.ts';
import { engineOf } from './engine-of.ts';

/** The actions of the audit trail that change what many nodes get, or stop that, by the kind of event that they are. */
export const FLEET_EVENTS: Readonly<Record<string, FleetEventKind>> = {
  'configuration.version_published': 'Publish',
  'composite.version_published': 'Publish',
  'parameters.version_published': 'Publish',
  'configuration.version_withdrawn': 'Withdrawal',
  'composite.version_withdrawn': 'Withdrawal',
  'parameters.version_withdrawn': 'Withdrawal',
  'configuration.version_offered_again': 'Withdrawal',
  'composite.version_offered_again': 'Withdrawal',
  'parameters.version_offered_again': 'Withdrawal',
  'configuration.rollout_started': 'Rollout',
  'composite.rollout_started': 'Rollout',
  'configuration.rollout_moved': 'Rollout',
  'composite.rollout_moved': 'Rollout',
  'freeze.set': 'Freeze',
  'freeze.changed': 'Freeze',
  'freeze.ended': 'Freeze',
};
export const FLEET_EVENT_KINDS = ['Publish', 'Withdrawal', 'Rollout', 'Freeze'] as const;
export type FleetEventKind = (typeof FLEET_EVENT_KINDS)[number];

const RESOURCES = ['Configuration', 'Parameters', 'CompositeConfiguration'] as const;

/**
 * The newest of these entries that the user may see, up to `most`, newest first. Everybody is told of a freeze.
 * @param resourceId only those about it, and freezes
 */
export function listFleetEvents(
  db: Db,
  visible: Visible,
  { from, to, resourceId, most }: { from: number; to: number; resourceId?: string; most: number },
) {
  const { isOneOf } = engineOf(db);
  const seen = RESOURCES.flatMap((type) => {
    const ids = visible[type];
    const isOfType = sql`resource_type = ${type}`;
    if (ids === 'all') return isOfType;
    return ids.length === 0 ? [] : sql`(${isOfType} and ${isOneOf('resource_id', ids)})`;
  });
  const isSeen = sql.join([sql`resource_type = 'Settings'`, ...seen], sql` or `);
  const entries = db
    .selectFrom('audit_entries')
    .selectAll()
    .where('timestamp', '>=', from)
    .where('timestamp', '<', to)
    .where(isOneOf('action', Object.keys(FLEET_EVENTS)))
    .where(sql<SqlBool>`(${isSeen})`);
  const meant =
    resourceId === undefined
      ? entries
      : entries.where(sql<SqlBool>`(resource_type = 'Settings' or resource_id = ${resourceId})`);
  return meant.orderBy('timestamp', 'desc').orderBy('seq', 'desc').limit(most).execute();
}
