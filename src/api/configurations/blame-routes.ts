/** `/api/v1/configurations/{name}/versions/{version}/blame/{*filePath}`: who wrote which line, and in which version. */

import { z } from 'zod';
import { isBinary } from '../../domain/text-lines.ts';
import type { BlameCaller, GitBlame } from '../../git/blame.ts';
import type { BlamedLines } from '../../git/blame-output.ts';
import { longPage } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { Paging, Timestamp } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { Pace } from '../../lib/pace.ts';
import { originsOf } from '../../versions/commit-origins.ts';
import type { RepositoryRef, VersionDetails } from '../../versions/store.ts';
import { pageOfList } from '../crud/rows.ts';
import { grantedRoutes } from '../crud/versioned.ts';
import { existingPath, findVersion, reads } from './version-routes.ts';
import type { ConfigurationTools } from './versions.ts';

const TAGS = ['Configuration versions'];

const PROBLEMS = [
  ...['binary_file', 'git_not_available', 'git_timeout', 'overloaded', 'rate_limited'],
  ...READING_REPOSITORIES,
];

export type BlameTools = ConfigurationTools & { blame: GitBlame };

/** A file is of one piece, so all of it is answered unless the caller asks for a page. */
const PageOfLines = Paging.extend({
  take: Paging.shape.take
    .unwrap()
    .optional()
    .transform((take) => take ?? Number.MAX_SAFE_INTEGER)
    .meta({ description: 'The most to answer with; left out: all' }),
});

export const BlamedLinesView = z
  .object({
    startLine: z.int().meta({ description: 'The first line of the file is 1' }),
    lineCount: z.int(),
    version: z.string().meta({
      description: 'The lowest published version that contains the commit; else the draft that was asked for',
    }),
    commit: z.string().meta({ description: 'Git commit id' }),
    author: z.string().meta({ description: 'Name of the author of the commit' }),
    authoredAt: Timestamp,
  })
  .meta({
    id: 'BlamedLines',
    examples: [
      {
        startLine: 1,
        lineCount: 12,
        version: '1.1.0',
        commit: '8c1f0d5a6b7e4c39a2d1f0e9b8c7d6a5f4e3d2c1',
        author: 'alice',
        authoredAt: '2026-11-20T09:08:00.000Z',
      },
    ],
  });

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
    problems: PROBLEMS,
    answers: { 200: { description: 'The lines', schema: BlamedLinesView.array() } },
    handle: ({ principal, resource, params, query, facts }) =>
      reads(tools, resource, async (repository) => {
        const { version = '', filePath = '' } = params as Record<string, string>;
        const details = await findVersion(tools.store, repository, version);
        const path = existingPath(filePath);
        const caller = { caller: principal.userId, gone: facts.over };
        const lines = await blamedLines(tools, { repository, details, path }, caller);
        const { rows, total } = pageOfList(lines, query);
        return longPage(rows, total, query);
      }),
  });
}

interface VersionFile {
  repository: RepositoryRef;
  details: VersionDetails;
  path: string;
}

async function blamedLines(
  { store, blame }: BlameTools,
  { repository, details, path }: VersionFile,
  caller: BlameCaller,
) {
  const file = details.files.find((candidate) => candidate.path === path);
  if (file === undefined) throw notFound('No such file in this version');
  const content = await store.blob(repository, file.oid);
  if (isBinary(content)) throw conflict('binary_file', 'The file is binary, and so has no lines');
  if (content.length === 0) return [];
  return blame.inTurn(caller, async () => {
    const lines = await blame.lines({ repository, commit: details.commit, path }, caller.gone);
    const readParents = (commits: readonly string[]) => blame.parents(repository, commits);
    const origins = await originsOf(await store.versions(repository), readParents);
    return toView(lines, (commit) => origins.get(commit) ?? details.version);
  });
}

async function toView(lines: readonly BlamedLines[], versionOf: (commit: string) => string) {
  const pace = new Pace();
  const shown = [];
  for (const { startLine, lineCount, commit, author, authoredAt } of lines) {
    const version = versionOf(commit);
    shown.push({ startLine, lineCount, version, commit, author, authoredAt: toTimestamp(authoredAt) });
    if (pace.isDue) await pace.rest();
  }
  return shown;
}
