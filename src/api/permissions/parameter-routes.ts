/** `/api/v1/configurations/{name}/parameters/permissions`: who holds which grant on parameters, of all scopes or of one. */

import { z } from 'zod';
import type { Database } from '../../db/database.ts';
import { pageOfList } from '../../db/rows.ts';
import { listParameterGrants, type ParameterGrantRow } from '../../db/scope-grants.ts';
import { noGrant } from '../../deeds/grant.ts';
import { grantOnParameters, revokeOnParameters } from '../../deeds/grant-on-parameters.ts';
import { reaches } from '../../domain/permissions.ts';
import type { Route } from '../../http/route.ts';
import { IdInAnyCase } from '../../http/schemas.ts';
import { grantedToUser, levelOnScope, levelWith } from '../../security/rights.ts';
import { operation, ResourceRoutes } from '../shared/routes.ts';
import { toGrant } from './routes.ts';
import { NewParameterGrant, ParameterGrant, PrincipalType } from './schemas.ts';

const PATH = '/api/v1/configurations/{name}/parameters/permissions';

export function parameterPermissionRoutes(database: Database): Route[] {
  const grants = new ResourceRoutes(database, {
    tags: ['Permissions'],
    access: { kind: 'grant', on: 'parameters', level: 'Manage', part: 'any' },
  });
  return [
    grants.list(PATH, {
      ...operation('listParameterPermissions', "List the grants on a configuration's parameters"),
      description:
        'All of them for who manages the parameters; for who manages those of some scopes alone, the grants on these.',
      answer: { description: 'The grants', schema: ParameterGrant },
      async rows({ principal, resource: { id }, query }) {
        const rows = await listParameterGrants(database.read, id);
        const granted = await grantedToUser(database.read, principal.userId, [id]);
        const manages = (row: ParameterGrantRow) =>
          row.scope !== null &&
          reaches(levelOnScope(granted, principal, row.scope, row.isRestricted), 'Manage');
        const isGeneral = reaches(levelWith(granted, principal, 'parameters', id), 'Manage');
        return pageOfList(isGeneral ? rows : rows.filter(manages), query);
      },
      show: toParameterGrant,
    }),
    grants.act(PATH, {
      ...operation(
        'grantParameterPermission',
        "Grant a user or group a level on a configuration's parameters",
      ),
      description:
        'On all of them, on those of a scope type, or of a value (of a node for the type Node). Needs Manage on the very ' +
        'thing. A value that is `restricted` in this configuration is open to grants on it alone; the mark stays until it ' +
        'is set to false.',
      method: 'PUT',
      body: { kind: 'json', schema: NewParameterGrant },
      answer: { description: 'Granted, in place of an earlier level' },
      problems: ['beyond_own_permissions', [404, 'not_found'], 'upgrade_incomplete'],
      change: (trx, { caller, resource, body }) => grantOnParameters(trx, caller, resource, body),
    }),
    grants.delete(`${PATH}/{principalType}/{principalId}`, {
      ...operation('revokeParameterPermission', "Revoke a grant on a configuration's parameters"),
      query: z.object({
        scopeTypeId: IdInAnyCase.optional(),
        scopeValueId: IdInAnyCase.optional().meta({ description: "A node's id for the scope type Node" }),
      }),
      answer: { description: 'Revoked' },
      problems: ['beyond_own_permissions'],
      change(trx, { caller, resource, params, query }) {
        const principalType = PrincipalType.safeParse(params['principalType']);
        if (!principalType.success) throw noGrant();
        const holder = { principalType: principalType.data, principalId: params['principalId'] ?? '' };
        return revokeOnParameters(trx, caller, resource, { ...holder, ...query });
      },
    }),
  ];
}

function toParameterGrant({ scope, isRestricted, scopeTypeName, scopeValue, ...row }: ParameterGrantRow) {
  const { scopeTypeId = null, scopeValueId = null } = scope ?? {};
  return { ...toGrant(row), scopeTypeId, scopeValueId, restricted: isRestricted, scopeTypeName, scopeValue };
}
