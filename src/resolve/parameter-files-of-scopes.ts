/** Finds out from the repositories of all configurations whether there are parameter files of a scope type or value. */

import { limitLoads } from '../lib/load-limit.ts';
import { scopesIn, seriesOf } from '../versions/parameter-files.ts';
import type { GitStore, ParameterScope } from '../versions/store.ts';

/** Whether any configuration has parameter files of the scope type, or of the one value if it is not null. */
export type ParameterFileLookup = (
  scope: { scopeTypeId: string; scopeTypeName: string; value: string | null },
  which: { publishedOnly: boolean },
) => Promise<boolean>;

/**
 * Parameters without a configuration count too: when the configuration is restored, all its parameters must be there. A
 * repository that cannot be read fails the call, because it may hold such files.
 */
export function parameterFileLookup(store: GitStore): ParameterFileLookup {
  return async ({ scopeTypeName, value }, { publishedOnly }) => {
    const loads = limitLoads();
    const isOfScope = (scope: ParameterScope) => value === null || scope.value === value;
    const answers = (await store.list('parameters')).map((name) =>
      loads(async () => {
        const index = await store.parameters.index(name);
        const scopes = scopesIn(index, scopeTypeName).filter(isOfScope);
        return publishedOnly
          ? scopes.some((scope) => index.of(seriesOf(scope)).published.length > 0)
          : scopes.length > 0;
      }),
    );
    return (await Promise.all(answers)).includes(true);
  };
}
