/** `/api/v1/configurations/{name}/versions/{version}/blame/{*filePath}`: who wrote which line, and in which version. */

import { pageOfList } from '../../db/rows.ts';
import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import type { GitBlame } from '../../git/blame.ts';
import { longPage } from '../../http/answer.ts';
import type { Route } from '../../http/route.ts';
import { existingPath } from '../../versions/draft-edits.ts';
import { BLAME_PROBLEMS, BlamedLinesView, blamedLines, PageOfLines } from '../shared/blaming.ts';
import { grantedRoutes } from '../shared/versioned.ts';
import { findVersion, reads } from './version-routes.ts';

const TAGS = ['Configuration versions'];

export type BlameTools = ConfigurationTools & { blame: GitBlame };

export function blameRoute(tools: BlameTools): Route {
  const { reading } = grantedRoutes(tools.database, TAGS, { on: 'configuration' });
  return reading.own('GET', '/api/v1/configurations/{name}/versions/{version}/blame/{*filePath}', {
    id: 'blameConfigurationFile',
    summary: 'Tell of each line of a file who wrote it, and in which version',
    description:
      'As `git blame` tells it, renames followed. Each line is covered once, in order; adjacent lines of one commit ' +
      'are one entry, and an empty file has none. Other than lists elsewhere, this one is answered as a whole when ' +
      '`take` is left out. Lines older than what retention has left of the history are those of its first commit.',
    query: PageOfLines,
    problems: BLAME_PROBLEMS,
    answers: { 200: { description: 'The lines', schema: BlamedLinesView.array() } },
    handle: ({ principal, resource, params, query, facts }) =>
      reads(tools, resource, async (repository) => {
        const { version = '', filePath = '' } = params as Record<string, string>;
        const details = await findVersion(tools.store, repository, version);
        const path = existingPath(filePath);
        const file = details.files.find((candidate) => candidate.path === path);
        const index = await tools.store.versions(repository);
        const caller = { caller: principal.userId, gone: facts.over };
        const lines = await blamedLines(tools, { repository, index, details, file }, caller);
        const { rows, total } = pageOfList(lines, query);
        return longPage(rows, total, query);
      }),
  });
}
