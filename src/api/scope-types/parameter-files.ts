/** Whether parameter files hold on to a scope type or value, asked of the repositories of all configurations. */

import pLimit from 'p-limit';
import type { GitStore, ParameterScope } from '../../git/store.ts';
import type { ParameterFileLookup } from './changes.ts';

/** After a start each repository is read from the disk; others want to be served too. */
const CONCURRENT_LOADS = 16;

/**
 * Parameters without a configuration count too: whoever brings it back wants to find them whole. A repository that
 * cannot be read fails the question, as it may hold what is asked for.
 */
export function parameterFileLookup(store: GitStore): ParameterFileLookup {
  return async ({ scopeTypeName, value }, { publishedOnly }) => {
    const loads = pLimit(CONCURRENT_LOADS);
    const isMeant = (scope: ParameterScope) => value === null || scope.value === value;
    const answers = (await store.list('parameters')).map((name) =>
      loads(async () => {
        const index = await store.parameters.index(name);
        const scopes = index.scopes(scopeTypeName).filter(isMeant);
        return publishedOnly ? scopes.some((scope) => index.published(scope).length > 0) : scopes.length > 0;
      }),
    );
    return (await Promise.all(answers)).includes(true);
  };
}
