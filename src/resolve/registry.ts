/** What plans need to know of the registry: the names of what is assigned, and which configurations take parameters. */

import type { Database } from '../db/database.ts';
import type { FleetSnapshot, KnownConfiguration } from '../db/fleet-snapshot.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { ResourceKind } from '../versions/rows.ts';

export interface Registry {
  /** The name of the configuration or composite of this id; null if there is none. */
  nameOf(kind: ResourceKind, id: string): Awaitable<string | null>;
  /** The configuration of this name; null if there is none. */
  configuration(name: string): Awaitable<KnownConfiguration | null>;
}

/** The registry as it is at each look. */
export function registryOf({ read }: Pick<Database, 'read'>): Registry {
  return {
    async nameOf(kind, id) {
      const row = await read.selectFrom(kind).select('name').where('id', '=', id).executeTakeFirst();
      return row?.name ?? null;
    },
    async configuration(name) {
      const row = await read
        .selectFrom('configurations')
        .leftJoin('configuration_settings as s', 's.configuration_id', 'configurations.id')
        .select(['id', 'use_server_managed_parameters', 'has_parameters', 's.variables'])
        .where('name', '=', name)
        .executeTakeFirst();
      if (row === undefined) return null;
      return {
        id: row.id,
        name,
        usesParameters: row.use_server_managed_parameters === 1,
        hasParameters: row.has_parameters === 1,
        hasVariables: row.variables === 'On',
      };
    },
  };
}

/** The registry as it was when the snapshot was made. */
export function registryAt({ registry: { configurations, composites } }: FleetSnapshot): Registry {
  const byName = new Map([...configurations.values()].map((each) => [each.name, each]));
  return {
    nameOf: (kind, id) => (kind === 'composites' ? composites.get(id) : configurations.get(id)?.name) ?? null,
    configuration: (name) => byName.get(name) ?? null,
  };
}
