/** `/api/v1/groups/external-mappings`: which groups of an identity provider stand for which groups here. */

import { orConflict } from '../../db/errors.ts';
import type { Database } from '../../db/open.ts';
import { created, noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { newId } from '../../lib/ids.ts';
import { type Actor, recordAudit } from '../../security/audit.ts';
import { requireOwnGroup } from '../../security/delegation.ts';
import type { UserPrincipal } from '../../security/principal.ts';
import { requireGroup } from './change.ts';
import {
  deleteMapping,
  findMapping,
  insertMapping,
  listMappings,
  type MappingRow,
} from './mapping-queries.ts';
import { ExternalMapping, NewExternalMapping } from './schemas.ts';
import { toExternalMapping } from './views.ts';

const MAPPINGS = '/api/v1/groups/external-mappings';

const COMMON = {
  tags: ['Groups'],
  access: { kind: 'permission', permission: 'groups.manage' },
} as const;

export function mappingRoutes(database: Database): Route[] {
  return [listRoute(database), createRoute(database), deleteRoute(database)];
}

function listRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'listExternalMappings',
    method: 'GET',
    path: MAPPINGS,
    summary: 'List the external mappings, by provider and external id',
    query: Paging,
    answers: { 200: { description: 'The mappings', schema: ExternalMapping.array() } },
    async handle({ query }) {
      const { rows, total } = await listMappings(database.read, query);
      return page(rows.map(toExternalMapping), total, query);
    },
  });
}

function createRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'createExternalMapping',
    method: 'POST',
    path: MAPPINGS,
    summary: 'Map a group of an identity provider to a group here',
    description:
      'Its members would get the roles and grants of the group, none of which may go beyond what the caller holds.',
    body: { kind: 'json', schema: NewExternalMapping },
    answers: { 201: { description: 'The mapping', schema: ExternalMapping } },
    problems: ['not_found', 'beyond_own_permissions', 'mapping_exists'],
    async handle({ principal, body, facts }) {
      const mapping = await createMapping(database, { principal, actor: facts.actor }, body);
      return created(`${MAPPINGS}/${mapping.id}`, toExternalMapping(mapping));
    },
  });
}

function deleteRoute(database: Database): Route {
  return route({
    ...COMMON,
    id: 'deleteExternalMapping',
    method: 'DELETE',
    path: `${MAPPINGS}/{id}`,
    summary: 'Delete an external mapping',
    params: idsInPath('id'),
    answers: { 204: { description: 'Deleted' } },
    async handle({ params, facts }) {
      await removeMapping(database, facts.actor, params.id);
      return noContent();
    },
  });
}

/** Who is mapped becomes a member, so the rule of new members holds here too. */
function createMapping(
  database: Database,
  { principal, actor }: { principal: UserPrincipal; actor: Actor },
  { provider, externalGroupId, externalGroupName, groupId }: NewExternalMapping,
): Promise<MappingRow> {
  return database.write.transaction().execute(async (trx) => {
    const group = await requireGroup(trx, groupId);
    await requireOwnGroup(trx, principal, groupId);
    const mapping = {
      ...{ id: newId(), provider, group_id: groupId, created_at: actor.at },
      ...{ external_group_id: externalGroupId, external_group_name: externalGroupName },
    };
    const taken = conflict('mapping_exists', 'This external group is mapped already');
    await orConflict('external_group_mappings.provider', taken, () => insertMapping(trx, mapping));
    const row = { ...mapping, group_name: group.name };
    const details = describe(row);
    await recordAudit(trx, actor, { action: 'external_mapping.created', resourceId: row.id, details });
    return row;
  });
}

async function removeMapping(database: Database, actor: Actor, id: string): Promise<void> {
  await database.write.transaction().execute(async (trx) => {
    const mapping = await findMapping(trx, id);
    if (!mapping) throw notFound('No such external mapping');
    await deleteMapping(trx, id);
    const details = describe(mapping);
    await recordAudit(trx, actor, { action: 'external_mapping.deleted', resourceId: id, details });
  });
}

function describe(mapping: MappingRow) {
  const { provider, externalGroupId, externalGroupName, groupId, groupName } = toExternalMapping(mapping);
  return { provider, externalGroupId, externalGroupName, groupId, groupName };
}
