/** Who wrote which line of a file of a version, and in which version. */

import { z } from 'zod';
import { isBinary } from '../../domain/text-lines.ts';
import type { BlameCaller, GitBlame } from '../../git/blame.ts';
import type { BlamedLines } from '../../git/blame-output.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import { Paging, Timestamp } from '../../http/schemas.ts';
import { toTimestamp } from '../../lib/clock.ts';
import { conflict, notFound } from '../../lib/errors.ts';
import { Pace } from '../../lib/pace.ts';
import { originsOf } from '../../versions/commit-origins.ts';
import type { GitStore, RepositoryRef, StoredFile, VersionIndex } from '../../versions/store.ts';

export const BLAME_PROBLEMS = [
  ...['binary_file', 'git_not_available', 'git_timeout', 'overloaded', 'rate_limited'],
  ...READING_REPOSITORIES,
];

export interface BlameTools {
  store: GitStore;
  blame: GitBlame;
}

/** A file is of one piece, so all of it is answered unless the caller asks for a page. */
export const PageOfLines = Paging.extend({
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

interface VersionFile {
  repository: RepositoryRef;
  /** The versions of its series. */
  index: VersionIndex;
  details: { version: string; commit: string };
  /** Undefined where the version has no such file. */
  file: Pick<StoredFile, 'path' | 'oid'> | undefined;
}

/** @throws HawserError not_found for no file; conflict `binary_file`; what `GitBlame` throws */
export async function blamedLines(
  { store, blame }: BlameTools,
  { repository, index, details, file }: VersionFile,
  caller: BlameCaller,
) {
  if (file === undefined) throw notFound('No such file in this version');
  const content = await store.blob(repository, file.oid);
  if (isBinary(content)) throw conflict('binary_file', 'The file is binary, and so has no lines');
  if (content.length === 0) return [];
  return blame.inTurn(caller, async () => {
    const { path } = file;
    const lines = await blame.lines({ repository, commit: details.commit, path }, caller.gone);
    const readParents = (commits: readonly string[]) => blame.parents(repository, commits);
    const origins = await originsOf(index, readParents);
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
