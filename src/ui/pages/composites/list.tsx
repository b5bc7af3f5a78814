/** The list of all composites that the user may read. */

import { useState } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { columnsOf } from '../../components/named-columns.tsx';
import { Page } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import { useList } from '../../list.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { Composite, FleetSummary } from '../../types.ts';
import { NewCompositeDialog } from './new-composite.tsx';
import { KIND } from './shared.tsx';

export function CompositesPage() {
  const list = useList<Composite>('/composite-configurations', { sorts: false });
  const summary = useResource<FleetSummary>(can('nodes.read') ? '/fleet/summary' : null);
  const [isAsked, setAsked] = useState(false);
  const mayCreate = can('composite-configurations.create');
  return (
    <Page
      heading="Composites"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={
        mayCreate && (
          <button type="button" class="primary" onClick={() => setAsked(true)}>
            New composite
          </button>
        )
      }
    >
      <DataTable
        name="Composites"
        list={list}
        columns={columnsOf(KIND, summary.data)}
        keyOf={({ id }) => id}
        none={<NoComposite mayCreate={mayCreate} />}
      />
      {isAsked && <NewCompositeDialog onClose={() => setAsked(false)} />}
    </Page>
  );
}

function NoComposite({ mayCreate }: { mayCreate: boolean }) {
  if (!mayCreate)
    return (
      <Empty>
        <p>
          There is no composite that you may read. Somebody who manages one can grant you Read on it, under
          Permissions.
        </p>
      </Empty>
    );
  return (
    <Empty>
      <p>
        A composite puts several configurations together, in an order, so that a node gets all of them. Each
        child follows its configuration, or stays at one version.
      </p>
      <p>
        Begin with <strong>New composite</strong>. Its children come into a draft afterwards.
      </p>
    </Empty>
  );
}
