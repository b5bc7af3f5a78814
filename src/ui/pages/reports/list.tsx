/** The reports of all nodes, newest first. */

import { Empty } from '../../components/empty.tsx';
import { ExportCsv } from '../../components/export-csv.tsx';
import { Filters } from '../../components/filters.tsx';
import { Page } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import { useList } from '../../list.ts';
import type { ReportSummary } from '../../types.ts';
import { COLUMNS_OF_ALL, FILTERS } from './shared.tsx';

export function ReportsPage() {
  const names = [...FILTERS.map(({ name }) => name), 'nodeId'];
  const list = useList<ReportSummary>('/reports', { filters: names });
  return (
    <Page
      heading="Reports"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      tools={<Filters list={list} fields={FILTERS} />}
      actions={<ExportCsv path={list.wholePath} file="reports.csv" total={list.total} />}
    >
      <DataTable
        name="Reports"
        list={list}
        columns={COLUMNS_OF_ALL}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>{list.isFiltered ? 'No report meets these filters.' : 'No node has sent a report yet.'}</p>
          </Empty>
        }
      />
    </Page>
  );
}
