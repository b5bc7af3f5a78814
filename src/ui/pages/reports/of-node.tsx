/** The reports of one node, newest first. */

import { Empty } from '../../components/empty.tsx';
import { ExportCsv } from '../../components/export-csv.tsx';
import { Filters } from '../../components/filters.tsx';
import { Page } from '../../components/page.tsx';
import { DataTable } from '../../components/table.tsx';
import { apiPath, links } from '../../links.ts';
import { useList } from '../../list.ts';
import { useResource } from '../../resource.ts';
import type { NodeDetails, ReportSummary } from '../../types.ts';
import { NodeTabs } from '../nodes/tabs.tsx';
import { COLUMNS_OF_NODE, FILTERS } from './shared.tsx';

export function NodeReportsPage({ id }: { id: string }) {
  const node = useResource<NodeDetails>(`/nodes${apiPath(id)}`);
  const list = useList<ReportSummary>(`/nodes${apiPath(id)}/reports`, {
    filters: FILTERS.map(({ name }) => name),
  });
  return (
    <Page
      heading={node.data?.fqdn ?? id}
      tab="Reports"
      of={[node, list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      crumbs={[{ href: links.nodes(), label: 'Nodes' }]}
      actions={
        <ExportCsv path={list.wholePath} file={`reports-${node.data?.fqdn ?? id}.csv`} total={list.total} />
      }
      tools={
        <>
          <NodeTabs id={id} current="Reports" />
          <Filters list={list} fields={FILTERS} />
        </>
      }
    >
      <DataTable
        name="Reports"
        list={list}
        columns={COLUMNS_OF_NODE}
        keyOf={({ id: key }) => key}
        none={
          <Empty>
            <p>{list.isFiltered ? 'No report meets these filters.' : 'This node has sent no report yet.'}</p>
          </Empty>
        }
      />
    </Page>
  );
}
