/** The audit trail: who changed what, and who was refused. */

import { Empty } from '../../components/empty.tsx';
import { ExportCsv } from '../../components/export-csv.tsx';
import { type FilterField, Filters } from '../../components/filters.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { exactTime, Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import type { AuditEntry } from '../../types.ts';

const FILTERS: readonly FilterField[] = [
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
  { name: 'actor', label: 'Who, by name' },
  { name: 'resource', label: 'About, by name' },
  { name: 'resourceType', label: 'Resource type' },
  { name: 'action', label: 'Action' },
];

const COLUMNS: readonly Column<AuditEntry>[] = [
  { label: 'What', isName: true, isLong: true, cell: (entry) => <What entry={entry} /> },
  { label: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { label: 'Who', cell: ({ actorName, actorType }) => actorName ?? <span class="muted">{actorType}</span> },
  { label: 'Action', cell: ({ action }) => action },
  {
    label: 'From address',
    cell: ({ ipAddress }) => ipAddress ?? <span class="muted">the server itself</span>,
  },
  { label: 'Details', isLong: true, cell: (entry) => <Details entry={entry} /> },
];

export function AuditPage() {
  const list = useList<AuditEntry>('/audit', { filters: FILTERS.map(({ name }) => name) });
  return (
    <Page
      heading="Audit"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      tools={<Filters list={list} fields={FILTERS} />}
      actions={<ExportCsv path={list.wholePath} file="audit.csv" total={list.total} />}
    >
      <DataTable
        name="Audit"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>No entry meets these filters.</p>
          </Empty>
        }
      />
    </Page>
  );
}

/** What was done, with a link to the change set that did it. */
function What({ entry: { summary, resourceType, details } }: { entry: AuditEntry }) {
  const id = resourceType === 'ChangeSet' ? details?.['id'] : details?.['changeSetId'];
  if (typeof id !== 'number') return summary;
  return (
    <>
      {summary} <a href={links.changeSet(id)}>Change {id}</a>
    </>
  );
}

/** The first facts in a line, and all of them unfolded. */
function Details({ entry }: { entry: AuditEntry }) {
  const { details, id, timestamp, actorType, actorId, resourceId, resourceName, resourceType, requestId } =
    entry;
  const facts = Object.entries(details ?? {});
  const line = facts.map(([name, value]) => `${name} ${brief(value)}`).join(', ');
  return (
    <details>
      <summary>{line === '' ? 'More' : shorten(line)}</summary>
      <dl class="facts">
        {[
          ['exact time', exactTime(timestamp)],
          ['actor', `${actorType} ${actorId ?? ''}`],
          ['resource', `${resourceType} ${resourceName ?? ''}`],
          ['resource id', resourceId],
          ['request id', requestId],
          ['entry', id],
        ].map(([name, value]) => (
          <Fact key={name} name={String(name)} value={value ?? 'none'} />
        ))}
        {facts.map(([name, value]) => (
          <Fact key={`details ${name}`} name={name} value={brief(value)} />
        ))}
      </dl>
    </details>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function brief(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function shorten(line: string): string {
  return line.length > 100 ? `${line.slice(0, 100)}...` : line;
}
