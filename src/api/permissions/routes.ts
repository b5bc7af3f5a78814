/** `.../{name}/permissions`: who holds which grant on a configuration, a composite or a parameter set. */

import { z } from 'zod';
import type { Database, Db } from '../../db/database.ts';
import {
  deleteGrant,
  findGrantedLevel,
  type GrantHolder,
  grantsOn,
  type NamedGrantRow,
  principalExists,
  saveGrant,
  targetExists,
} from '../../db/grants.ts';
import { pageOf, pageOfList } from '../../db/rows.ts';
import { type GrantKind, type GrantLevel, PERMISSION_NAMES, PERMISSIONS } from '../../domain/permissions.ts';
import type { Route } from '../../http/route.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import type { GrantedResource } from '../../security/access.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import type { Caller } from '../../security/caller.ts';
import { operation, ResourceRoutes } from '../crud/routes.ts';
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

/** For each kind of grant: its paths, and the names of the kind in operation ids and in sentences. */
const KINDS = {
  configuration: {
    path: '/api/v1/configurations/{name}/permissions',
    one: '/api/v1/configurations/{name}/permissions/{principalType}/{principalId}',
    noun: 'Configuration',
    label: 'configuration',
  },
  composite: {
    path: '/api/v1/composite-configurations/{name}/permissions',
    one: '/api/v1/composite-configurations/{name}/permissions/{principalType}/{principalId}',
    noun: 'Composite',
    label: 'composite configuration',
  },
  parameters: {
    path: '/api/v1/configurations/{name}/parameters/permissions',
    one: '/api/v1/configurations/{name}/parameters/permissions/{principalType}/{principalId}',
    noun: 'Parameter',
    label: "configuration's parameters",
  },
} as const;

export function permissionRoutes(database: Database, on: GrantKind): Route[] {
  const { path, one, noun, label } = KINDS[on];
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

/** The thing that a grant is on. The access check has found it. */
interface Target {
  on: GrantKind;
  resource: Pick<GrantedResource, 'id' | 'name'>;
}

/** Who grants. No user does it where the id is null. */
interface Granter {
  principal: { userId: string | null };
  actor: Actor;
}

/**
 * Grants the level in place of an earlier one. To grant the same level again changes nothing.
 * @throws HawserError not_found for the principal, or when the resource has been deleted meanwhile
 */
export async function grantLevel(
  trx: Db,
  caller: Granter,
  { on, resource }: Target,
  { level, ...holder }: z.output<typeof NewGrant>,
): Promise<void> {
  const target = { on, resourceId: resource.id };
  // The resource may have been deleted while the body was read. The grant on it would stay for ever.
  if (!(await targetExists(trx, target))) throw notFound(`No ${KINDS[on].label} of this name`);
  if (!(await principalExists(trx, holder))) throw notFound('No such user or group');
  const before = (await findGrantedLevel(trx, target, holder)) ?? null;
  if (before === level) return;
  const { principal, actor } = caller;
  await saveGrant(trx, target, holder, { level, grantedBy: principal.userId, now: actor.at });
  await recordChange(trx, caller, { on, resource }, { ...holder, level, before });
}

/** @throws HawserError not_found where there is no such grant */
async function revokeGrant(
  trx: Db,
  caller: Caller,
  { on, resource }: Target,
  holder: GrantHolder,
): Promise<void> {
  const target = { on, resourceId: resource.id };
  const before = await findGrantedLevel(trx, target, holder);
  if (before === undefined) throw noGrant();
  await deleteGrant(trx, target, holder);
  await recordChange(trx, caller, { on, resource }, { ...holder, level: null, before });
}

const noGrant = () => notFound('No such grant');

function recordChange(
  trx: Db,
  { actor }: Pick<Caller, 'actor'>,
  { on, resource }: Target,
  change: GrantHolder & { level: GrantLevel | null; before: GrantLevel | null },
): Promise<void> {
  const action = change.level === null ? 'grant_revoked' : 'granted';
  const details = { name: resource.name, ...change };
  return recordAudit(trx, actor, { action: `${on}.${action}`, resourceId: resource.id, details });
}

function toGrant(row: NamedGrantRow) {
  return {
    principalType: row.principal_type,
    principalId: row.principal_id,
    principalName: row.principal_name,
    level: row.level,
    grantedAt: toTimestamp(row.granted_at),
    grantedByUserId: row.granted_by,
  };
}
