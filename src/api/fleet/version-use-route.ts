/** `/api/v1/fleet/configurations/{name}/versions`: how many nodes are offered, and run, each version. */

import { pageOfList } from '../../db/rows.ts';
import { READING_REPOSITORIES } from '../../http/problem-codes.ts';
import type { Route } from '../../http/route.ts';
import { Flag, given, Paging } from '../../http/schemas.ts';
import { NO_USE } from '../../resolve/proof-table.ts';
import { grantedResource } from '../../security/authorize.ts';
import { GRANT_KINDS, notFoundIfDeleted } from '../../versions/rows.ts';
import type { ProofTools } from '../shared/proof-routes.ts';
import { VersionUseView } from '../shared/proof-schemas.ts';
import { permitted } from '../shared/routes.ts';

export function versionUseRoute({ database, store, questions, caughtUp }: ProofTools): Route {
  return permitted(database, ['Proof'], 'nodes.read').list('/api/v1/fleet/configurations/{name}/versions', {
    id: 'listVersionUse',
    summary: 'The published versions, highest first, and how many nodes are offered and run each',
    description:
      'The caller also needs Read on it. Nodes that get it by a composite, or by a pin, are counted too. `declared`, ' +
      '`served` and `told` count the nodes that get this name by the version in what they run, whatever they are ' +
      'offered.',
    query: Paging.extend({
      isComposite: given(Flag).meta({
        description: 'Whether it is a composite configuration; default false',
      }),
    }),
    answer: { description: 'The versions', schema: VersionUseView },
    problems: READING_REPOSITORIES,
    async rows({ principal, params, query }) {
      const kind = query.isComposite ? 'composites' : 'configurations';
      const name = params['name'] ?? '';
      const { id } = await grantedResource(database.read, principal, GRANT_KINDS[kind], 'Read', { name });
      const { versions } = await notFoundIfDeleted(database, kind, id, () => store.versions({ kind, name }));
      await caughtUp();
      const use = await questions.run(principal.userId, 'versionUse', { kind, id, name });
      const published = versions.filter(({ status }) => status === 'Published');
      return pageOfList(
        published.map(({ version }) => ({ version, ...(use.get(version) ?? NO_USE) })),
        query,
      );
    },
    show: (row) => row,
  });
}
