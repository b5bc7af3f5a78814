/** The scope values that there are, for filters and tags. Every user reads them. */

import type { Choice } from '../../components/field.tsx';
import { apiPath } from '../../links.ts';
import { useResource, useResources } from '../../resource.ts';
import type { ScopeType, ScopeValue } from '../../types.ts';

/** All values of all types, by precedence, such as `Environment: prod`. Null while they are on their way. */
export function useScopeValues(): Choice[] | null {
  const types = useResource<ScopeType[]>('/scope-types?take=1000', { poll: false });
  // Default and Node have no values of their own.
  const own = types.data?.filter(({ isSystem }) => !isSystem) ?? [];
  const paths = own.map(({ id }) => `/scope-types${apiPath(id)}/values?take=1000`);
  const values = useResources<ScopeValue[]>(paths, { poll: false });
  if (types.data === null || values.some(({ data }) => data === null)) return null;
  return own.flatMap(({ name }, at) =>
    (values[at]?.data ?? []).map(({ id, value }) => ({ value: id, label: `${name}: ${value}` })),
  );
}
