/** `.../{name}/permissions`: who holds which grant on a configuration, a composite or a parameter set. */

import type { Database } from '../../db/open.ts';
import type { GrantKind } from '../../domain/permissions.ts';
import { noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { grantLevel, LABELS, noGrant, revokeGrant } from './change.ts';
import { listGrants } from './queries.ts';
import { Grant, NewGrant, PrincipalType } from './schemas.ts';

/** Where each kind's grants have their address. */
const PATHS: Record<GrantKind, string> = {
  configuration: '/api/v1/configurations/{name}/permissions',
  composite: '/api/v1/composite-configurations/{name}/permissions',
  parameters: '/api/v1/configurations/{name}/parameters/permissions',
};

/** As the kinds stand in operation ids. */
const NOUNS: Record<GrantKind, string> = {
  configuration: 'Configuration',
  composite: 'Composite',
  parameters: 'Parameter',
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
    id: `list${NOUNS[on]}Permissions`,
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
    id: `grant${NOUNS[on]}Permission`,
    method: 'PUT',
    path: PATHS[on],
    summary: `Grant a user or group a level on a ${LABELS[on]}`,
    body: { kind: 'json', schema: NewGrant },
    answers: { 204: { description: 'Granted, in place of an earlier level' } },
    async handle({ principal, resource, body, facts }) {
      const { level, ...holder } = body;
      const grant = { level, grantedBy: principal.userId };
      await grantLevel(database, { on, resource, actor: facts.actor }, holder, grant);
      return noContent();
    },
  });
}

function revokeRoute(database: Database, on: GrantKind, common: Common): Route {
  return route({
    ...common,
    id: `revoke${NOUNS[on]}Permission`,
    method: 'DELETE',
    path: `${PATHS[on]}/{principalType}/{principalId}`,
    summary: `Revoke a grant on a ${LABELS[on]}`,
    answers: { 204: { description: 'Revoked' } },
    async handle({ resource, params, facts }) {
      const principalType = PrincipalType.safeParse(params['principalType']);
      if (!principalType.success) throw noGrant();
      const holder = { principalType: principalType.data, principalId: params['principalId'] ?? '' };
      await revokeGrant(database, { on, resource, actor: facts.actor }, holder);
      return noContent();
    },
  });
}

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
