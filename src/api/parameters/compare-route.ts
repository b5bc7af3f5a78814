/** `/api/v1/parameters/{scopeTypeId}/{configurationId}/compare`: how two versions of a scope's file differ. */

import type { ParameterTools } from '../../deeds/parameter-checks.ts';
import { findVersions } from '../../deeds/put-parameters.ts';
import { PARAMETERS_FILE } from '../../domain/bundle-paths.ts';
import type { ListedFile } from '../../domain/file-changes.ts';
import type { FileDiffHead } from '../../domain/file-diff.ts';
import { writtenJson } from '../../http/answer.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import type { Comparer } from '../../resolve/comparer.ts';
import { seriesOf } from '../../versions/parameter-files.ts';
import {
  Context,
  comparedFiles,
  FileDiffView,
  findTwoVersions,
  TwoVersions,
  unlessHeld,
  validatorOf,
} from '../shared/comparing.ts';
import { grantedRoutes, SERIES } from '../shared/versioned.ts';
import { InSet, OfScope } from './schemas.ts';

export function compareRoute({
  database,
  store,
  comparer,
}: Pick<ParameterTools, 'database' | 'store'> & { comparer: Comparer }): Route {
  const { reading } = grantedRoutes(database, ['Parameters'], SERIES);
  return reading.own('GET', '/api/v1/parameters/{scopeTypeId}/{configurationId}/compare', {
    id: 'compareParameterVersions',
    summary: "Compare two versions of a scope's file line by line",
    description: 'Drafts too, in either order. A passthrough has no content, as if there were no file.',
    params: InSet,
    query: TwoVersions.extend({ ...OfScope.shape, context: Context }),
    problems: READING_REPOSITORIES,
    answers: { 200: { description: 'What is different in `to`', schema: FileDiffView } },
    async handle({ params, query, resource, principal, facts }) {
      const named = { type: { id: params.scopeTypeId }, scopeValue: query.scopeValue };
      const { scope, index } = await findVersions({ database, store }, { resource, principal }, named);
      const versions = findTwoVersions(index, query);
      return unlessHeld(facts, validatorOf(versions, seriesOf(scope), query.context), {}, async () => {
        const repository = { kind: 'parameters', name: resource.name } as const;
        const from = versions.from && (await store.details(repository, versions.from));
        const to = await store.details(repository, versions.to);
        const file = { before: from?.files[0] ?? null, after: to.files[0] ?? null };
        const wanted = { file, head: headOf(file.before, file.after), context: query.context };
        const caller = { id: principal.userId, gone: facts.over };
        const before = comparedFiles(store, repository, from);
        const after = comparedFiles(store, repository, to);
        return writtenJson(await comparer.fileDiff(caller, before, after, wanted));
      });
    },
  });
}

/** A version has one file at most, whose name follows from its type. */
function headOf(before: ListedFile | null, after: ListedFile | null): FileDiffHead {
  const path = (after ?? before)?.path ?? PARAMETERS_FILE;
  const previousPath = before && before.path !== path ? before.path : null;
  if (before === null || after === null) {
    const change = after ? 'Added' : before ? 'Removed' : 'Unchanged';
    return { path, previousPath, change };
  }
  if (before.oid !== after.oid) return { path, previousPath, change: 'Modified' };
  return { path, previousPath, change: previousPath === null ? 'Unchanged' : 'Renamed' };
}
