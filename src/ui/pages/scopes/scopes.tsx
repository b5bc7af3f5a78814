/** The scopes of parameters: the types in the order in which they override each other, and the values of each. */

import { useState } from 'preact/hooks';
import { Page } from '../../components/page.tsx';
import { withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { usePlace } from '../../router.ts';
import { can } from '../../session.ts';
import type { ScopeType } from '../../types.ts';
import { NewTypeDialog } from './deeds.tsx';
import { TypesTable } from './types-table.tsx';
import { ValuesPart } from './values.tsx';

/** The most that one answer of the API has. */
const MOST = 1_000;

export function ScopesPage() {
  const place = usePlace();
  const types = useResource<ScopeType[]>(withQuery('/scope-types', { take: MOST }));
  const [isAsking, setAsking] = useState(false);
  const all = types.data ?? [];
  const wanted = place.query.get('scopeTypeId');
  const shown = all.find(({ id }) => id === wanted) ?? all.find(({ isSystem }) => !isSystem);
  return (
    <Page
      heading="Scopes"
      of={[types]}
      actions={
        can('scopes.admin-override') && (
          <button type="button" class="primary" onClick={() => setAsking(true)}>
            New scope type
          </button>
        )
      }
    >
      <p>
        The parameters of a node are merged from the top to the bottom: first Default, then the values that
        the node is tagged with, at last its own file. What a lower type sets overrides what the types above
        it set. Mappings are merged key by key; anything else, lists too, is replaced as a whole.
      </p>
      <TypesTable types={all} shown={shown?.id} total={types.total ?? all.length} />
      {shown !== undefined && <ValuesPart key={shown.id} type={shown} />}
      {isAsking && <NewTypeDialog onClose={() => setAsking(false)} />}
    </Page>
  );
}
