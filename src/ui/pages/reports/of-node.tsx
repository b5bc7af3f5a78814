/** The reports of one node, newest first. */

import { Empty } from '../../components/empty.tsx';
import { ExportCsv } from '../../components/export-csv.tsx';
import { Filters } from '../../components/filters.tsx';
import { DataTable } from '../../components/table.tsx';
import { apiPath } from '../../links.ts';
import { useList } from '../../list.ts';
import type { ReportSummary } from '../../types.ts';
import { NodeFrame, useNode } from '../nodes/frame.tsx';
import { COLUMNS_OF_NODE, FILTERS } from './shared.tsx';

export function NodeReportsPage({ id }: { id: string }) {
  const node = useNode(id);
  const list = useList<ReportSummary>(`/nodes${apiPath(id)}/reports`, {
    filters: FILTERS.map(({ name }) => name),
  });
  const { data } = node;
  return (
    <NodeFrame
      id={id}
      tab="Reports"
      node={node}
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      actions={
        data !== null && (
          <ExportCsv path={list.wholePath} file={`reports-${data.fqdn}.csv`} total={list.total} />
        )
      }
      tools={<Filters list={list} fields={FILTERS} />}
    >
      {() => (
        <DataTable
          name="Reports"
          list={list}
          columns={COLUMNS_OF_NODE}
          keyOf={({ id: key }) => key}
          none={
            <Empty>
              <p>
                {list.isFiltered ? 'No report meets these filters.' : 'This node has sent no report yet.'}
              </p>
            </Empty>
          }
        />
      )}
    </NodeFrame>
  );
}
