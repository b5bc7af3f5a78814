/** Which parameter files are of nodes that were deleted. They are offered to nobody, and to no node of the same name. */

import { apiPath, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { ParameterFile } from '../../types.ts';
import { MOST } from './model.ts';

export const OF_DELETED_NODE = 'Of a deleted node';

/** @returns their ids. Nothing is asked where no file is of a node. */
export function useFilesOfDeletedNodes(name: string, files: readonly ParameterFile[]): ReadonlySet<string> {
  const isAsked = files.some((file) => file.scopeTypeName === 'Node' && file.status === 'Published');
  const query = { scopeTypeName: 'Node', ofDeletedNode: 'true', take: MOST };
  const path = withQuery(`${apiPath('configurations', name)}/parameter-files`, query);
  const { data } = useResource<ParameterFile[]>(isAsked ? path : null);
  return new Set(data?.map(({ id }) => id));
}
