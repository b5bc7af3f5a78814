/** `.../{name}/permissions`: who holds which grant on a configuration or a composite. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { grantsOn, type NamedGrantRow } from '../../db/grants.ts';
import { pageOf, pageOfList } from '../../db/rows.ts';
import { grantLevel, LABELS, noGrant, revokeGrant } from '../../deeds/grant.ts';
import { PERMISSION_NAMES, PERMISSIONS } from '../../domain/permissions.ts';
import type { Route } from '../../http/route.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { operation, ResourceRoutes } from '../shared/routes.ts';
import { Grant, NewGrant, PrincipalType } from './schemas.ts';

export const KnownPermission = z
  .object({ name: z.enum(PERMISSION_NAMES), description: z.string() })
  .meta({ id: 'Permission', examples: [{ name: 'nodes.read', description: PERMISSIONS['nodes.read'] }] });

/** `GET /api/v1/permissions`: the permissions that roles hold and tokens name, each with its description. */
export function permissionCatalogueRoute(database: Database): Route {
  const all = PERMISSION_NAMES.map((name) => ({ name, description: PERMISSIONS[name] }));
  const permissions = new ResourceRoutes(database, { tags: ['Permissions'], access: { kind: 'user' } });
  return permissions.list('/api/v1/permissions', {
    ...operation('listPermissions', 'List every permission'),
    answer: { description: 'The permissions', schema: KnownPermission },
    rows: ({ query }) => pageOfList(all, query),
    show: (permission) => permission,
  });
}

/** For each kind of grant but those on parameters: its paths, and the name of the kind in operation ids. */
const KINDS = {
  configuration: {
    path: '/api/v1/configurations/{name}/permissions',
    one: '/api/v1/configurations/{name}/permissions/{principalType}/{principalId}',
    noun: 'Configuration',
  },
  composite: {
    path: '/api/v1/composite-configurations/{name}/permissions',
    one: '/api/v1/composite-configurations/{name}/permissions/{principalType}/{principalId}',
    noun: 'Composite',
  },
} as const;

export function permissionRoutes(database: Database, on: keyof typeof KINDS): Route[] {
  const { path, one, noun } = KINDS[on];
  const label = LABELS[on];
  const grants = new ResourceRoutes(database, {
    tags: ['Permissions'],
    access: { kind: 'grant', on, level: 'Manage' },
  });
  return [
    grants.list(path, {
      ...operation(`list${noun}Permissions`, `List the grants on a ${label}`),
      answer: { description: 'The grants', schema: Grant },
      rows: ({ resource, query }) => pageOf(grantsOn(database.read, { on, resourceId: resource.id }), query),
      show: toGrant,
    }),
    grants.act(path, {
      ...operation(`grant${noun}Permission`, `Grant a user or group a level on a ${label}`),
      method: 'PUT',
      body: { kind: 'json', schema: NewGrant },
      answer: { description: 'Granted, in place of an earlier level' },
      change: (trx, { caller, resource, body }) => grantLevel(trx, caller, { on, resource }, body),
    }),
    grants.delete(one, {
      ...operation(`revoke${noun}Permission`, `Revoke a grant on a ${label}`),
      answer: { description: 'Revoked' },
      change(trx, { caller, resource, params }) {
        const principalType = PrincipalType.safeParse(params['principalType']);
        if (!principalType.success) throw noGrant();
        const holder = { principalType: principalType.data, principalId: params['principalId'] ?? '' };
        return revokeGrant(trx, caller, { on, resource }, holder);
      },
    }),
  ];
}

export function toGrant(row: NamedGrantRow) {
  return {
    principalType: row.principal_type,
    principalId: row.principal_id,
    principalName: row.principal_name,
    level: row.level,
    grantedAt: toTimestamp(row.granted_at),
    grantedByUserId: row.granted_by,
  };
}
