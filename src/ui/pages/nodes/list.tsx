/** The list of all nodes: filters, export, and deeds on the chosen ones. */

import { useState } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { ExportCsv } from '../../components/export-csv.tsx';
import { type FilterField, Filters } from '../../components/filters.tsx';
import { EvidenceMark, Mark, StatusMark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import { useSelection } from '../../selection.ts';
import { can } from '../../session.ts';
import type { NodeSummary } from '../../types.ts';
import { KeyWithLine } from '../keys/key-with-line.tsx';
import { allowedDeeds, BulkBar, Failures, type Outcome } from './bulk.tsx';
import { useScopeValues } from './scope-values.ts';

const LCM_STATUSES = ['Idle', 'Downloading', 'Testing', 'Remediating', 'Error', 'Unknown'];

const FILTERS: readonly FilterField[] = [
  { name: 'fqdn', label: 'Name' },
  { name: 'status', label: 'Status', choices: ['Compliant', 'NonCompliant', 'Error', 'Unknown'] },
  { name: 'lcmStatus', label: 'LCM', choices: LCM_STATUSES },
  { name: 'configurationName', label: 'Configuration' },
  { name: 'version', label: 'Offered' },
  { name: 'evidence', label: 'Evidence', choices: ['Declared', 'Served', 'Told'] },
  { name: 'scopeValueId', label: 'Scope value', choices: [] },
  { name: 'stale', label: 'Stale', kind: 'flag' },
  { name: 'unassigned', label: 'Unassigned', kind: 'flag' },
  { name: 'certificateExpiring', label: 'Certificate expiring', kind: 'flag' },
  { name: 'hasParameterProblems', label: 'Parameter problems', kind: 'flag' },
];
const NAMES = FILTERS.map(({ name }) => name);

const COLUMNS: readonly Column<NodeSummary>[] = [
  {
    label: 'Name',
    isName: true,
    sort: 'fqdn',
    cell: ({ id, fqdn }) => <a href={links.node(id)}>{fqdn}</a>,
  },
  { label: 'Status', sort: 'status', cell: (node) => <Marks node={node} /> },
  {
    label: 'Configuration',
    cell: ({ configurationName }) => <Name text={configurationName} />,
  },
  { label: 'Offered', cell: ({ offeredVersion }) => <Name text={offeredVersion} /> },
  { label: 'Running', cell: (node) => <RunningVersion node={node} /> },
  { label: 'Evidence', cell: ({ running }) => <EvidenceMark evidence={running?.evidence ?? null} /> },
  { label: 'Last check-in', sort: 'lastCheckIn', cell: ({ lastCheckIn }) => <Time at={lastCheckIn} /> },
];

function Name({ text }: { text: string | null }) {
  return text === null ? <span class="muted">none</span> : <span class="name-text">{text}</span>;
}

function Marks({ node }: { node: NodeSummary }) {
  const { status, statusReason, isStale, parameterProblems } = node;
  const problems = parameterProblems ?? 0;
  return (
    <>
      <span class="node-marks">
        <StatusMark status={status} />
        {isStale && <Mark word="Stale" tone="warn" />}
        {problems > 0 && (
          <Mark word="problems" tone="bad">
            {problems} parameter {problems === 1 ? 'problem' : 'problems'}
          </Mark>
        )}
      </span>
      {statusReason !== null && <p class="hint node-reason">{statusReason}</p>}
    </>
  );
}

/** The version that a node runs, with the name of what it is of where that is not what is assigned. */
function RunningVersion({
  node: { running, offeredVersion, configurationName: assigned },
}: {
  node: NodeSummary;
}) {
  if (running === null) return <span class="muted">unknown</span>;
  const { version, configurationName: name } = running;
  if (version === null) return <span class="muted">not known any more</span>;
  if (name !== assigned) return <Mark word={`${name} ${version}`} tone="warn" />;
  const isOther = offeredVersion !== null && version !== offeredVersion;
  return isOther ? <Mark word={version} tone="warn" /> : version;
}

/** The filters. Where the scope values may not be read, the node list cannot be filtered by them. */
function useFilters(): readonly FilterField[] {
  const values = useScopeValues();
  return FILTERS.flatMap((field) => {
    if (field.name !== 'scopeValueId') return [field];
    return values === null || values.length === 0 ? [] : [{ ...field, choices: values }];
  });
}

export function NodesPage() {
  const list = useList<NodeSummary>('/nodes', { filters: NAMES });
  const selection = useSelection(
    list,
    ({ id }) => id,
    ({ fqdn }) => fqdn,
  );
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const fields = useFilters();
  const hasDeeds = allowedDeeds().length > 0;
  return (
    <Page
      heading="Nodes"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={list.total > 0 && <ExportCsv path={list.wholePath} file="nodes.csv" total={list.total} />}
      tools={
        <>
          <Filters list={list} fields={fields} />
          {outcome !== null && outcome.result.failed.length > 0 && (
            <Failures outcome={outcome} onDismiss={() => setOutcome(null)} />
          )}
          {hasDeeds && list.total > 0 && <BulkBar list={list} selection={selection} onDone={setOutcome} />}
        </>
      }
    >
      <DataTable
        name="Nodes"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        {...(hasDeeds && { selection })}
        none={list.isFiltered ? <NoneFound /> : <NoneYet />}
      />
    </Page>
  );
}

function NoneFound() {
  return (
    <Empty>
      <p>No node meets these filters.</p>
      <a href={links.nodes()}>Show all nodes</a>
    </Empty>
  );
}

function NoneYet() {
  return (
    <Empty>
      <p>
        No node has registered yet. A machine joins with a registration key, which comes with the line to run
        on the machine.
      </p>
      {can('registration-keys.manage') ? (
        <KeyWithLine />
      ) : (
        <p>Ask somebody who manages registration keys for one.</p>
      )}
    </Empty>
  );
}
