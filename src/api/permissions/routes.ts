/** `.../{name}/permissions`: who holds which grant on a configuration, a composite or a parameter set. */

import type { Database } from '../../db/open.ts';
import type { GrantKind } from '../../domain/permissions.ts';
import { noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { notFound } from '../../lib/errors.ts';
import { deleteGrant, listGrants, principalExists, saveGrant, targetExists } from './queries.ts';
import { Grant, NewGrant, PrincipalType } from './schemas.ts';

/** Where each kind's grants have their address. */
const PATHS: Record<GrantKind, string> = {
  configuration: '/api/v1/configurations/{name}/permissions',
  composite: '/api/v1/composite-configurations/{name}/permissions',
  parameters: '/api/v1/configurations/{name}/parameters/permissions',
};

export function permissionRoutes(database: Database, on: GrantKind): Route[] {
  const common = { tags: ['Permissions'], access: { kind: 'grant', on, level: 'Manage' } } as const;
  return [
    listRoute(database, on, common),
    grantRoute(database, on, common),
    revokeRoute(database, on, common),
  ];
}

type Common = { tags: readonly string[]; access: { kind: 'grant'; on: GrantKind; level: 'Manage' } };

function listRoute(database: Database, on: GrantKind, common: Common): Route {
  return route({
    ...common,
    method: 'GET',
    path: PATHS[on],
    summary: `List the grants on a ${LABELS[on]}`,
    query: Paging,
    answers: { 200: { description: 'The grants', schema: Grant.array() } },
    async handle({ resource, query }) {
      const { rows, total } = await listGrants(database.read, { on, resourceId: resource.id }, query);
      return page(rows.map(toGrant), total, query);
    },
  });
}

function grantRoute(database: Database, on: GrantKind, common: Common): Route {
  return route({
    ...common,
    method: 'PUT',
    path: PATHS[on],
    summary: `Grant a user or group a level on a ${LABELS[on]}`,
    body: { kind: 'json', schema: NewGrant },
    answers: { 204: { description: 'Granted, in place of an earlier level' } },
    async handle({ principal, resource, body, facts }) {
      const { level, ...holder } = body;
      const target = { on, resourceId: resource.id };
      await database.write.transaction().execute(async (trx) => {
        // It may have been deleted while the body came in; the grant would stay for good.
        if (!(await targetExists(trx, target))) throw notFound(`No ${LABELS[on]} of this name`);
        if (!(await principalExists(trx, holder))) throw notFound('No such user or group');
        const grant = { level, grantedBy: principal.userId, now: facts.now };
        await saveGrant(trx, target, holder, grant);
      });
      return noContent();
    },
  });
}

function revokeRoute(database: Database, on: GrantKind, common: Common): Route {
  return route({
    ...common,
    method: 'DELETE',
    path: `${PATHS[on]}/{principalType}/{principalId}`,
    summary: `Revoke a grant on a ${LABELS[on]}`,
    answers: { 204: { description: 'Revoked' } },
    async handle({ resource, params }) {
      const principalType = PrincipalType.safeParse(params['principalType']);
      const holder = {
        principalType: principalType.data ?? 'User',
        principalId: params['principalId'] ?? '',
      };
      const target = { on, resourceId: resource.id };
      const found = principalType.success && (await deleteGrant(database.write, target, holder));
      if (!found) throw notFound('No such grant');
      return noContent();
    },
  });
}

const LABELS: Record<GrantKind, string> = {
  configuration: 'configuration',
  composite: 'composite configuration',
  parameters: "configuration's parameters",
};

type GrantRow = Awaited<ReturnType<typeof listGrants>>['rows'][number];

function toGrant(row: GrantRow) {
  return {
    principalType: row.principal_type,
    principalId: row.principal_id,
    principalName: row.principal_name,
    level: row.level,
    grantedAt: toTimestamp(row.granted_at),
    grantedByUserId: row.granted_by,
  };
}
