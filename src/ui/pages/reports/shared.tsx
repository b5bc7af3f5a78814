/** What lists of reports have in common. */

import type { FilterField } from '../../components/filters.tsx';
import { Mark } from '../../components/marks.tsx';
import type { Column } from '../../components/table.tsx';
import { exactTime, Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import type { ReportSummary } from '../../types.ts';

export const FILTERS: readonly FilterField[] = [
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
  { name: 'operation', label: 'Operation', choices: ['Get', 'Set', 'Test', 'Export'] },
  {
    name: 'inDesiredState',
    label: 'In desired state',
    choices: [
      { value: 'true', label: 'yes' },
      { value: 'false', label: 'no' },
      { value: 'null', label: 'not said' },
    ],
  },
  {
    name: 'hadErrors',
    label: 'Errors',
    choices: [
      { value: 'true', label: 'yes' },
      { value: 'false', label: 'no' },
    ],
  },
];

/** What a report says in one mark. */
export function Verdict({ report }: { report: Pick<ReportSummary, 'inDesiredState' | 'hadErrors'> }) {
  if (report.hadErrors) return <Mark word="Errors" tone="bad" />;
  return <StateMark isAsDesired={report.inDesiredState} />;
}

/** @param isAsDesired null: nothing says it */
export function StateMark({ isAsDesired }: { isAsDesired: boolean | null }) {
  if (isAsDesired === null) return <Mark word="Not said" tone="idle" />;
  return isAsDesired ? (
    <Mark word="In desired state" tone="good" />
  ) : (
    <Mark word="Not in desired state" tone="warn" />
  );
}

const REPORT: Column<ReportSummary> = {
  label: 'Report',
  isName: true,
  cell: ({ id, timestamp }) => <a href={links.report(id)}>{exactTime(timestamp)}</a>,
};

const NODE: Column<ReportSummary> = {
  label: 'Node',
  cell: ({ nodeId, nodeFqdn }) => <a href={links.node(nodeId)}>{nodeFqdn}</a>,
};

const OTHERS: readonly Column<ReportSummary>[] = [
  { label: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { label: 'Operation', cell: ({ operation }) => operation },
  { label: 'Verdict', cell: (report) => <Verdict report={report} /> },
  {
    label: 'Of checksum',
    cell: ({ configurationChecksum, checksumSource }) =>
      configurationChecksum === null ? (
        <span class="muted">not known</span>
      ) : (
        <>
          <code title={configurationChecksum}>{configurationChecksum.slice(0, 12)}</code> {checksumSource}
        </>
      ),
  },
];

export const COLUMNS_OF_ALL = [REPORT, NODE, ...OTHERS];
export const COLUMNS_OF_NODE = [REPORT, ...OTHERS];
