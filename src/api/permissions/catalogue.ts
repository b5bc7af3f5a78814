/** `GET /api/v1/permissions`: what roles can hold and tokens can name, each with its description. */

import { z } from 'zod';
import { PERMISSION_NAMES, PERMISSIONS } from '../../domain/permissions.ts';
import { page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { Paging } from '../../http/schemas.ts';

const KnownPermission = z
  .object({ name: z.enum(PERMISSION_NAMES), description: z.string() })
  .meta({ id: 'Permission', examples: [{ name: 'nodes.read', description: PERMISSIONS['nodes.read'] }] });

export function permissionCatalogueRoute(): Route {
  const all = PERMISSION_NAMES.map((name) => ({ name, description: PERMISSIONS[name] }));
  return route({
    id: 'listPermissions',
    method: 'GET',
    path: '/api/v1/permissions',
    summary: 'List every permission',
    tags: ['Permissions'],
    access: { kind: 'user' },
    query: Paging,
    answers: { 200: { description: 'The permissions', schema: KnownPermission.array() } },
    handle: ({ query }) => page(all.slice(query.skip, query.skip + query.take), all.length, query),
  });
}
