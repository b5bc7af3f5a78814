/** The list of all configurations that the user may read. */

import { useState } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { Num } from '../../components/num.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { Configuration, FleetSummary } from '../../types.ts';
import { NewConfigurationDialog } from './new-configuration.tsx';

/** The summary of the fleet names so many configurations and composites at most. */
const SUMMED = 100;

export function ConfigurationsPage() {
  const list = useList<Configuration>('/configurations', { sorts: false });
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
        columns={columnsOf(summary.data)}
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

function columnsOf(summary: FleetSummary | null): Column<Configuration>[] {
  const columns: Column<Configuration>[] = [
    {
      label: 'Name',
      isName: true,
      cell: ({ name }) => <a href={links.named('configurations', name)}>{name}</a>,
    },
    {
      label: 'Description',
      isLong: true,
      cell: ({ description }) => <p class="message short">{description}</p>,
    },
    {
      label: 'Latest published',
      cell: ({ name, latestPublishedVersion: version }) =>
        version === null ? (
          <span class="muted">none</span>
        ) : (
          <a href={links.version('configurations', name, version)}>{version}</a>
        ),
    },
    {
      label: 'Latest',
      cell: ({ latestVersion }) => latestVersion ?? <span class="muted">none</span>,
    },
    {
      label: 'Versions',
      isNumber: true,
      cell: ({ versionCount }) =>
        versionCount === null ? <span class="muted">unknown</span> : <Num value={versionCount} />,
    },
  ];
  if (summary !== null)
    columns.push({ label: 'Nodes', isNumber: true, cell: ({ name }) => <Nodes name={name} of={summary} /> });
  columns.push(
    { label: 'Access', cell: ({ access }) => access ?? <span class="muted">none</span> },
    { label: 'Updated', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
  );
  return columns;
}

function Nodes({ name, of: { configurations } }: { name: string; of: FleetSummary }) {
  const found = configurations.find((each) => each.name === name && !each.isComposite);
  if (found !== undefined)
    return (
      <a href={links.nodes({ configurationName: name })}>
        <Num value={found.nodes} />
      </a>
    );
  if (configurations.length < SUMMED) return <Num value={0} />;
  return <span class="muted">at most {configurations.at(-1)?.nodes}</span>;
}
