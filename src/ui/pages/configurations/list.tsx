/** The list of all configurations that the user may read. */

import { useState } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { columnsOf } from '../../components/named-columns.tsx';
import { Page } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import { apiPath } from '../../links.ts';
import { useList } from '../../list.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { Configuration, FleetSummary } from '../../types.ts';
import { NewConfigurationDialog } from './new-configuration.tsx';

const KIND = 'configurations';

export function ConfigurationsPage() {
  const list = useList<Configuration>(apiPath(KIND), { sorts: false });
  const summary = useResource<FleetSummary>(can('nodes.read') ? '/fleet/summary' : null);
  const [isAsked, setAsked] = useState(false);
  const mayCreate = can('configurations.create');
  return (
    <Page
      heading="Configurations"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={
        mayCreate && (
          <button type="button" class="primary" onClick={() => setAsked(true)}>
            New configuration
          </button>
        )
      }
    >
      <DataTable
        name="Configurations"
        list={list}
        columns={columnsOf(KIND, summary.data)}
        keyOf={({ id }) => id}
        none={<NoConfiguration mayCreate={mayCreate} />}
      />
      {isAsked && <NewConfigurationDialog onClose={() => setAsked(false)} />}
    </Page>
  );
}

function NoConfiguration({ mayCreate }: { mayCreate: boolean }) {
  return (
    <Empty>
      {mayCreate ? (
        <>
          <p>
            A configuration is a folder of DSC documents with versions. Nodes get a published version of it.
          </p>
          <p>
            Begin with <strong>New configuration</strong>: drop a folder, or start with a small document and
            edit it here.
          </p>
        </>
      ) : (
        <p>
          There is no configuration that you may read. Somebody who manages one can grant you Read on it,
          under Permissions.
        </p>
      )}
    </Empty>
  );
}
