/** The cleanups that ran, by schedule or by hand. */

import { Empty } from '../../components/empty.tsx';
import { Filters } from '../../components/filters.tsx';
import { Mark } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { PartTable } from '../../components/part-table.tsx';
import type { Column } from '../../components/table.tsx';
import { exactTime, Time } from '../../components/time.tsx';
import { useList } from '../../list.ts';
import type { RetentionRun } from '../../types.ts';

const FILTERS = [
  { name: 'from', label: 'Started from', kind: 'time' },
  { name: 'to', label: 'Started until', kind: 'time' },
] as const;

const COLUMNS: readonly Column<RetentionRun>[] = [
  { label: 'Started', isName: true, cell: ({ startedAt }) => exactTime(startedAt) },
  { label: 'State', cell: (run) => <RunState of={run} /> },
  { label: 'Type', cell: ({ versionType }) => versionType },
  { label: 'Kind', cell: ({ isDryRun }) => (isDryRun ? 'dry run' : 'cleanup') },
  { label: 'Started by', cell: ({ isScheduled }) => (isScheduled ? 'schedule' : 'a person') },
  { label: 'Deleted', isNumber: true, cell: ({ deletedCount }) => <Num value={deletedCount} /> },
  { label: 'Kept', isNumber: true, cell: ({ keptCount }) => <Num value={keptCount} /> },
  { label: 'Completed', cell: ({ completedAt }) => <Time at={completedAt} none="not yet" /> },
  { label: 'Error', isLong: true, cell: ({ error }) => error },
];

function RunState({ of: { completedAt, error } }: { of: RetentionRun }) {
  if (completedAt === null) return <Mark word="Running" />;
  return error === null ? <Mark word="Done" /> : <Mark word="With an error" tone="warn" />;
}

export function Runs() {
  const list = useList<RetentionRun>('/retention/runs', { filters: FILTERS.map(({ name }) => name) });
  return (
    <section class="part" aria-busy={list.resource.state === 'loading'}>
      <h2>Runs</h2>
      <Filters list={list} fields={FILTERS} />
      <PartTable
        name="Runs"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        none={
          <Empty>
            <p>
              {list.isFiltered ? 'No run began in this time.' : 'No cleanup ran yet. Begin with a dry run.'}
            </p>
          </Empty>
        }
      />
    </section>
  );
}
