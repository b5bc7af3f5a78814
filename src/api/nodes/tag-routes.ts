/** `/api/v1/nodes/{nodeId}/tags`: which scope values a node has. */

import type { Database } from '../../db/open.ts';
import { created, noContent, page } from '../../http/answer.ts';
import { type Route, route } from '../../http/route.ts';
import { idsInPath, Paging } from '../../http/schemas.ts';
import { notFound } from '../../lib/errors.ts';
import { nodeExists } from './queries.ts';
import { NewTag, NodeTag } from './schemas.ts';
import { listTags } from './tag-queries.ts';
import { tagNode, untagNode } from './tags.ts';
import { toNodeTag } from './views.ts';

const TAGS = ['Nodes'];
const PATH = '/api/v1/nodes/{nodeId}/tags';

export function tagRoutes(database: Database): Route[] {
  return [listRoute(database), tagRoute(database), untagRoute(database)];
}

function listRoute(database: Database): Route {
  return route({
    id: 'listNodeTags',
    method: 'GET',
    path: PATH,
    summary: "List a node's tags by precedence",
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.read' },
    params: idsInPath('nodeId'),
    query: Paging,
    answers: { 200: { description: 'At most one tag of each scope type', schema: NodeTag.array() } },
    async handle({ params, query }) {
      if (!(await nodeExists(database.read, params.nodeId))) throw notFound('No such node');
      const tags = await listTags(database.read, params.nodeId);
      const shown = tags.slice(query.skip, query.skip + query.take);
      return page(shown.map(toNodeTag), tags.length, query);
    },
  });
}

function tagRoute(database: Database): Route {
  return route({
    id: 'tagNode',
    method: 'POST',
    path: PATH,
    summary: 'Tag a node with a scope value',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.write' },
    params: idsInPath('nodeId'),
    body: { kind: 'json', schema: NewTag },
    answers: { 201: { description: 'The tag', schema: NodeTag } },
    problems: ['scope_type_already_tagged'],
    async handle({ params, body, facts }) {
      const tag = await tagNode(database, facts.actor, { ...params, ...body });
      return created(`/api/v1/nodes/${tag.node_id}/tags/${tag.scope_value_id}`, toNodeTag(tag));
    },
  });
}

function untagRoute(database: Database): Route {
  return route({
    id: 'untagNode',
    method: 'DELETE',
    path: `${PATH}/{scopeValueId}`,
    summary: 'Take a tag from a node',
    tags: TAGS,
    access: { kind: 'permission', permission: 'nodes.write' },
    params: idsInPath('nodeId', 'scopeValueId'),
    answers: { 204: { description: 'The node has the tag no longer' } },
    async handle({ params, facts }) {
      await untagNode(database, facts.actor, params);
      return noContent();
    },
  });
}
