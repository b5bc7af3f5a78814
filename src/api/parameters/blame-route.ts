/** `/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}/blame`: who wrote which line of a scope's file. */

import { pageOfList } from '../../db/rows.ts';
import type { ParameterTools } from '../../deeds/parameter-checks.ts';
import { findFile } from '../../deeds/put-parameters.ts';
import { longPage } from '../../http/answer.ts';
import type { Route } from '../../http/route.ts';
import {
  BLAME_PROBLEMS,
  BlamedLinesView,
  type BlameTools,
  blamedLines,
  PageOfLines,
} from '../shared/blaming.ts';
import { grantedRoutes, SERIES } from '../shared/versioned.ts';
import { InVersion, OfScope } from './schemas.ts';

export function blameRoute(tools: Pick<ParameterTools, 'database'> & BlameTools): Route {
  const { database, store } = tools;
  const { reading } = grantedRoutes(database, ['Parameters'], SERIES);
  const path = '/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}/blame';
  return reading.own('GET', path, {
    id: 'blameParameterFile',
    summary: "Tell of each line of a scope's file who wrote it, and in which version",
    description: 'As for a file of a configuration. A passthrough has no file, which is 404.',
    params: InVersion,
    query: PageOfLines.extend(OfScope.shape),
    problems: BLAME_PROBLEMS,
    answers: { 200: { description: 'The lines', schema: BlamedLinesView.array() } },
    async handle({ params, query, resource, principal, facts }) {
      const name = { type: { id: params.scopeTypeId }, ...query, version: params.version };
      const { index, ref } = await findFile(tools, { resource, principal }, name);
      const repository = { kind: 'parameters', name: resource.name } as const;
      const details = await store.details(repository, ref);
      const caller = { caller: principal.userId, gone: facts.over };
      const [file] = details.files;
      const lines = await blamedLines(tools, { repository, index, details, file }, caller);
      const { rows, total } = pageOfList(lines, query);
      return longPage(rows, total, query);
    },
  });
}
