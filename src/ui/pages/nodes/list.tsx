/** The list of all nodes, with filters. */

import { Empty } from '../../components/empty.tsx';
import { Filters } from '../../components/filters.tsx';
import { EvidenceMark, Mark, StatusMark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import type { NodeSummary } from '../../types.ts';

const FILTERS = [
  { name: 'fqdn', label: 'Name' },
  { name: 'status', label: 'Status', choices: ['Compliant', 'NonCompliant', 'Error', 'Unknown'] },
  { name: 'configurationName', label: 'Configuration' },
  { name: 'version', label: 'Offered' },
  { name: 'evidence', label: 'Evidence', choices: ['Declared', 'Served', 'Told'] },
  { name: 'stale', label: 'Stale', kind: 'flag' },
  { name: 'unassigned', label: 'Unassigned', kind: 'flag' },
  { name: 'certificateExpiring', label: 'Certificate expiring', kind: 'flag' },
] as const;

const COLUMNS: readonly Column<NodeSummary>[] = [
  {
    label: 'Name',
    isName: true,
    sort: 'fqdn',
    cell: ({ id, fqdn }) => <a href={links.node(id)}>{fqdn}</a>,
  },
  {
    label: 'Status',
    sort: 'status',
    cell: ({ status, isStale }) => (
      <>
        <StatusMark status={status} /> {isStale && <Mark word="Stale" tone="warn" />}
      </>
    ),
  },
  {
    label: 'Configuration',
    cell: ({ configurationName }) => configurationName ?? <span class="muted">none</span>,
  },
  { label: 'Offered', cell: ({ offeredVersion }) => offeredVersion ?? <span class="muted">none</span> },
  { label: 'Running', cell: ({ running }) => running?.version ?? <span class="muted">unknown</span> },
  { label: 'Evidence', cell: ({ running }) => <EvidenceMark evidence={running?.evidence ?? null} /> },
  { label: 'Last check-in', sort: 'lastCheckIn', cell: ({ lastCheckIn }) => <Time at={lastCheckIn} /> },
];

export function NodesPage() {
  const list = useList<NodeSummary>('/nodes', { filters: FILTERS.map(({ name }) => name) });
  return (
    <Page
      heading="Nodes"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      tools={<Filters list={list} fields={FILTERS} />}
    >
      <DataTable
        name="Nodes"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        none={
          <Empty>
            {list.isFiltered ? <p>No node meets these filters.</p> : <p>No node has registered yet.</p>}
          </Empty>
        }
      />
    </Page>
  );
}
