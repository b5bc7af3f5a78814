/** `/api/v1/parameters/{scopeTypeId}/{configurationId}/versions/{version}/blame`: who wrote which line of a scope's file. */

import { pageOfList } from '../../db/rows.ts';
import type { ParameterTools } from '../../deeds/parameter-checks.ts';
import { requireScopeType, scopeNamed } from '../../deeds/parameter-scopes.ts';
import { longPage } from '../../http/answer.ts';
import type { Route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import { requireSeries } from '../../security/series-rights.ts';
import { seriesOf } from '../../versions/parameter-files.ts';
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
      const type = await requireScopeType(database.read, { id: params.scopeTypeId });
      const scope = await scopeNamed(database.read, type, query.scopeValue);
      const index = (await store.parameters.index(resource.name)).of(seriesOf(scope));
      await requireSeries(database.read, principal, resource, scope, 'Read');
      const ref = index.get(params.version);
      if (ref === undefined) throw notFound('The scope has no such version');
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
