/** What happened to a node's state: a timeline, and the same events as a table. */

import { Empty } from '../../components/empty.tsx';
import { type FilterField, Filters } from '../../components/filters.tsx';
import { Mark } from '../../components/marks.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { exactTime, Time } from '../../components/time.tsx';
import { apiPath, links } from '../../links.ts';
import { useList } from '../../list.ts';
import type { StatusEvent } from '../../types.ts';
import { NodeFrame, useNode } from './frame.tsx';
import { Timeline, toneOf } from './timeline.tsx';

const FILTERS: readonly FilterField[] = [
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
];

const COLUMNS: readonly Column<StatusEvent>[] = [
  {
    label: 'Time',
    isName: true,
    cell: ({ timestamp }) => <time dateTime={timestamp}>{exactTime(timestamp)}</time>,
  },
  { label: 'Ago', cell: ({ timestamp }) => <Time at={timestamp} /> },
  { label: 'What', cell: ({ status }) => (status === null ? 'LCM' : 'Status') },
  { label: 'State', cell: (event) => <State {...event} /> },
];

function State({ status, lcmStatus }: StatusEvent) {
  const word = status ?? lcmStatus ?? 'Unknown';
  return <Mark word={word} tone={toneOf(word)} />;
}

export function NodeHistoryPage({ id }: { id: string }) {
  const node = useNode(id);
  const list = useList<StatusEvent>(`/nodes${apiPath(id)}/status-history`, {
    filters: FILTERS.map(({ name }) => name),
    sorts: false,
  });
  return (
    <NodeFrame
      id={id}
      tab="History"
      node={node}
      of={[list.resource]}
      isBusy={list.isBusy}
      isEmpty={list.total === 0}
      tools={<Filters list={list} fields={FILTERS} />}
    >
      {() => (
        <>
          {list.rows.length > 1 && (
            <Timeline events={list.rows} isNewest={list.page === 1 && !list.query['to']} />
          )}
          <DataTable
            name="Events"
            list={list}
            columns={COLUMNS}
            keyOf={({ id: key }) => String(key)}
            none={
              <Empty>
                {list.isFiltered ? (
                  <>
                    <p>Nothing happened in this time.</p>
                    <a href={links.node(id, 'history')}>Show all events</a>
                  </>
                ) : (
                  <p>The state of this node has not changed yet. Its first report or call will be here.</p>
                )}
              </Empty>
            }
          />
        </>
      )}
    </NodeFrame>
  );
}
