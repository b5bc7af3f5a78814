/** `.../versions/{version}/children`: which configurations a composite's draft consists of, at which versions. */

import type { Db } from '../../db/database.ts';
import { addChild, changeChild, removeChild } from '../../deeds/change-children.ts';
import type { ChildTarget } from '../../deeds/composite-draft.ts';
import type { CompositeTools } from '../../deeds/publish-composite.ts';
import type { CompositeChild } from '../../domain/composite-document.ts';
import { WRITING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import type { GrantedResource } from '../../security/access.ts';
import type { Caller } from '../../security/caller.ts';
import type { GitStore } from '../../versions/store.ts';
import { grantedRoutes, readableIndex } from '../shared/versioned.ts';
import { ChildChange, ItemView, NewChild } from './schemas.ts';

const VERSION = '/api/v1/composite-configurations/{name}/versions/{version}';
const CHANGING_DRAFTS = ['published_version', 'draft_changed', ...WRITING_REPOSITORIES];

interface Call {
  caller: Caller;
  resource: GrantedResource;
  params: Record<string, string>;
}

const targetOf = ({ caller, resource, params }: Call): ChildTarget => ({
  kind: 'composites',
  resource,
  ...caller,
  version: params['version'] ?? '',
});

export function childRoutes(tools: CompositeTools): Route[] {
  const { modifying } = grantedRoutes(tools.database, ['Composite versions'], { on: 'composite' });
  const show = async (child: CompositeChild) => {
    const ids = await findConfigurationIds(tools.database.read, [child.configuration]);
    return toItem(child, ids, await isPinnedToWithdrawn(tools.store, child));
  };
  return [
    modifying.create('/api/v1/composite-configurations/{name}/versions/{version}/children', {
      id: 'addCompositeChild',
      represents: VERSION,
      summary: 'Add a child to a draft',
      description: 'The caller needs Read on the configuration, which is any but a composite.',
      body: { kind: 'json', schema: NewChild },
      answer: { description: 'The item', schema: ItemView },
      problems: [
        ...CHANGING_DRAFTS,
        'nested_composite',
        'child_exists',
        'reserved_path',
        [409, 'no_eligible_version'],
      ],
      handle: async (call) => show(await addChild(tools, targetOf(call), call.body)),
    }),
    modifying.update('/api/v1/composite-configurations/{name}/versions/{version}/children/{childId}', {
      id: 'updateCompositeChild',
      represents: VERSION,
      summary: "Change a child's version or order",
      description: 'The caller needs Read on the child. A member that is left out stays.',
      body: { kind: 'json', schema: ChildChange },
      answer: { description: 'The item as it is now', schema: ItemView },
      problems: [...CHANGING_DRAFTS, [409, 'no_eligible_version']],
      handle: async (call) =>
        show(await changeChild(tools, targetOf(call), call.params['childId'] ?? '', call.body)),
    }),
    modifying.delete('/api/v1/composite-configurations/{name}/versions/{version}/children/{childId}', {
      id: 'removeCompositeChild',
      represents: VERSION,
      summary: 'Take a child out of a draft',
      answer: { description: 'The child is out' },
      problems: CHANGING_DRAFTS,
      handle: (call) => removeChild(tools, targetOf(call), call.params['childId'] ?? ''),
    }),
  ];
}

/** Whether the child names a version that is withdrawn. Of a configuration that cannot be read this is not known. */
export async function isPinnedToWithdrawn(
  store: GitStore,
  { configuration: name, version }: CompositeChild,
): Promise<boolean> {
  if (version === null) return false;
  const index = await readableIndex(store, { kind: 'configurations', name });
  return (index?.get(version)?.withdrawn ?? null) !== null;
}

/** The ids of configurations by their names. */
export async function findConfigurationIds(db: Db, names: readonly string[]): Promise<Map<string, string>> {
  // Only SQLite accepts an empty list.
  if (names.length === 0) return new Map();
  const rows = await db
    .selectFrom('configurations')
    .select(['id', 'name'])
    .where('name', 'in', [...names])
    .execute();
  return new Map(rows.map((row) => [row.name, row.id]));
}

export function toItem(
  child: CompositeChild,
  configurationIds: ReadonlyMap<string, string>,
  pinnedToWithdrawn: boolean,
) {
  return {
    id: child.id,
    childConfigurationId: configurationIds.get(child.configuration) ?? null,
    childConfigurationName: child.configuration,
    activeVersion: child.version,
    majorVersion: child.majorVersion,
    order: child.order,
    pinnedToWithdrawn,
  };
}
