/** `/api/v1/configurations/{name}/compare`: what a version changes, file by file, line by line, or as a patch. */

import { Readable } from 'node:stream';
import { z } from 'zod';
import type { LargeFiles } from '../../bundles/large-files.ts';
import type { ConfigurationTools } from '../../deeds/create-draft.ts';
import { findOnBothSides } from '../../domain/file-changes.ts';
import { jsonWithList, writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { notFound } from '../../lib/errors.ts';
import type { Comparer, FileChange, KeepUntilRead } from '../../resolve/comparer.ts';
import { existingPath } from '../../versions/draft-edits.ts';
import type { RepositoryRef, VersionDetails } from '../../versions/store.ts';
import {
  ComparedVersionView,
  Context,
  comparedFiles,
  FILE_CHANGE,
  FileChangeView,
  FileDiffView,
  findTwoVersions,
  TwoVersions,
  toComparedVersion,
  unlessHeld,
  validatorOf,
} from '../shared/comparing.ts';
import { grantedRoutes } from '../shared/versioned.ts';
import { reads } from './version-routes.ts';

const TAGS = ['Configuration versions'];
const PATCH = 'text/x-diff';
/** So many bytes of a patch are handed to the connection at once. */
const PIECE = 64 * 1024;

type CompareTools = Pick<ConfigurationTools, 'database' | 'store'> & {
  comparer: Comparer;
  largeFiles: LargeFiles;
};

export const ComparisonView = z
  .object({
    from: ComparedVersionView.nullable(),
    to: ComparedVersionView,
    totals: z.object({
      added: z.int(),
      removed: z.int(),
      modified: z.int(),
      renamed: z.int(),
      additions: z.int(),
      deletions: z.int(),
    }),
    files: z.array(FileChangeView).meta({ description: 'By path; those that are the same are left out' }),
  })
  .meta({
    id: 'Comparison',
    examples: [
      {
        from: { version: '1.0.0', status: 'Published', commit: '8c1f0d5a6b7e4c39a2d1f0e9b8c7d6a5f4e3d2c1' },
        to: { version: '1.1.0', status: 'Draft', commit: '0a1b2c3d4e5f60718293a4b5c6d7e8f901234567' },
        totals: { added: 0, removed: 0, modified: 1, renamed: 0, additions: 1, deletions: 1 },
        files: [FILE_CHANGE],
      },
    ],
  });

export function compareRoutes(tools: CompareTools): Route[] {
  return [compareRoute(tools), fileDiffRoute(tools)];
}

function compareRoute(tools: CompareTools): Route {
  const { reading } = grantedRoutes(tools.database, TAGS, { on: 'configuration' });
  return reading.own('GET', '/api/v1/configurations/{name}/compare', {
    id: 'compareConfigurationVersions',
    bound: 'user',
    summary: 'Compare two versions, drafts too, in either order',
    description:
      'A file is renamed where its bytes are the same and its path is not. As `text/x-diff` it is one patch for all ' +
      'files, which `git apply` takes. Files that take too long to compare count as changed from the first changed ' +
      'line to the last.',
    query: TwoVersions,
    problems: ['overloaded', ...READING_REPOSITORIES],
    answers: {
      200: {
        description: 'What is different in `to`',
        schema: ComparisonView,
        alternatives: [PATCH],
        headers: { Vary: '`Accept`' },
      },
    },
    handle: (call) =>
      reads(tools, call.resource, async (repository) => {
        const { facts, principal, query } = call;
        const type = facts.preferred('application/json', PATCH);
        const versions = findTwoVersions(await tools.store.versions(repository), query);
        return unlessHeld(facts, validatorOf(versions, type), { Vary: 'Accept' }, async () => {
          const caller = { id: principal.userId, gone: facts.over };
          const { before, after, from, to } = await sidesOf(tools, repository, versions);
          if (type === PATCH) {
            const keep: KeepUntilRead = (make) => tools.largeFiles.keepUntilRead(make);
            const open = () => Readable.from(piecesOf(tools.comparer.patch(caller, before, after, keep)));
            return { status: 200, headers: { 'Content-Type': PATCH }, body: { length: null, open } };
          }
          const files = await tools.comparer.changes(caller, before, after);
          const head = { from: from && toComparedVersion(from), to: toComparedVersion(to) };
          return jsonWithList({ ...head, totals: totalsOf(files) }, 'files', files);
        });
      }),
  });
}

function fileDiffRoute(tools: CompareTools): Route {
  const { reading } = grantedRoutes(tools.database, TAGS, { on: 'configuration' });
  return reading.own('GET', '/api/v1/configurations/{name}/compare/files/{*filePath}', {
    id: 'compareConfigurationFile',
    summary: 'Compare one file of two versions line by line',
    description: 'A renamed file is found by either of its paths.',
    query: TwoVersions.extend({ context: Context }),
    problems: READING_REPOSITORIES,
    answers: { 200: { description: 'What is different in `to`', schema: FileDiffView } },
    async handle({ resource, principal, params, query, facts }) {
      const path = existingPath(params['filePath'] ?? '');
      return reads(tools, resource, async (repository) => {
        const versions = findTwoVersions(await tools.store.versions(repository), query);
        const { before, after } = await sidesOf(tools, repository, versions);
        const file = findOnBothSides(path, before.files, after.files);
        if (file === null) throw notFound('Neither version has such a file');
        const validator = validatorOf(versions, path, query.context);
        return unlessHeld(facts, validator, {}, async () => {
          const caller = { id: principal.userId, gone: facts.over };
          const wanted = { file, head: file, context: query.context };
          return writtenJson(await tools.comparer.fileDiff(caller, before, after, wanted));
        });
      });
    },
  });
}

async function sidesOf(
  { store }: CompareTools,
  repository: RepositoryRef,
  versions: ReturnType<typeof findTwoVersions>,
) {
  const from = versions.from && (await store.details(repository, versions.from));
  const to = await store.details(repository, versions.to);
  const side = (details: VersionDetails | null) => comparedFiles(store, repository, details);
  return { from, to, before: side(from), after: side(to) };
}

function totalsOf(files: readonly FileChange[]) {
  const count = (change: FileChange['change']) => files.filter((file) => file.change === change).length;
  const sum = (name: 'additions' | 'deletions') => files.reduce((all, file) => all + (file[name] ?? 0), 0);
  return {
    added: count('Added'),
    removed: count('Removed'),
    modified: count('Modified'),
    renamed: count('Renamed'),
    additions: sum('additions'),
    deletions: sum('deletions'),
  };
}

/** Cuts large parts, which would be encrypted at once otherwise, and gathers small ones, each of which would be sent alone. */
async function* piecesOf(parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let gathered: Buffer = Buffer.alloc(0);
  for await (const part of parts) {
    const all = gathered.length === 0 ? part : Buffer.concat([gathered, part]);
    let at = 0;
    for (; at + PIECE <= all.length; at += PIECE) yield all.subarray(at, at + PIECE);
    gathered = all.subarray(at);
  }
  if (gathered.length > 0) yield gathered;
}
