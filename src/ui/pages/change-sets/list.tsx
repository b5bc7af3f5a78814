/** All change sets of which the user may read something. */

import { Empty } from '../../components/empty.tsx';
import { type FilterField, Filters } from '../../components/filters.tsx';
import { Mark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, DataTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { links } from '../../links.ts';
import { useList } from '../../list.ts';
import type { ChangeSet } from '../../types.ts';

const FILTERS: readonly FilterField[] = [
  { name: 'state', label: 'State', choices: ['Open', 'Scheduled', 'Applied', 'Discarded', 'Failed'] },
  { name: 'author', label: 'Author' },
  { name: 'configuration', label: 'Configuration' },
  { name: 'approvable', label: 'Wait for my approval', kind: 'flag' },
];

const COLUMNS: readonly Column<ChangeSet>[] = [
  {
    label: 'Title',
    isName: true,
    isLong: true,
    cell: ({ id, title }) => <a href={links.changeSet(id)}>{title}</a>,
  },
  { label: 'Change', isNumber: true, cell: ({ id }) => id },
  { label: 'State', cell: ({ state }) => <Mark word={state} /> },
  { label: 'Deeds', isNumber: true, cell: ({ deeds, hiddenDeeds }) => deeds.length + hiddenDeeds },
  { label: 'Approvals', cell: (set) => <Approvals set={set} /> },
  { label: 'Author', cell: ({ createdBy }) => createdBy },
  { label: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

function Approvals({ set: { protection, approvals, state } }: { set: ChangeSet }) {
  const missing = Math.max(0, ...protection.map((each) => each.missing));
  if (missing > 0 && (state === 'Open' || state === 'Scheduled'))
    return <Mark word={`${missing} missing`} tone="warn" />;
  return approvals.length === 0 ? <span class="muted">none</span> : approvals.map(({ by }) => by).join(', ');
}

export function ChangeSetsPage() {
  const list = useList<ChangeSet>('/change-sets', {
    filters: FILTERS.map(({ name }) => name),
    sorts: false,
  });
  return (
    <Page
      heading="Change sets"
      of={[list.resource]}
      isEmpty={list.total === 0}
      isBusy={list.isBusy}
      tools={<Filters list={list} fields={FILTERS} />}
    >
      <DataTable
        name="Change sets"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => String(id)}
        none={list.isFiltered ? <NoneFound /> : <NoneYet />}
      />
    </Page>
  );
}

function NoneFound() {
  return (
    <Empty>
      <p>No change set meets these filters.</p>
      <a href={links.changeSets()}>Show all change sets</a>
    </Empty>
  );
}

function NoneYet() {
  return (
    <Empty>
      <p>
        There is no change set yet. A change set does many things as one step, and others can look at it and
        approve it before. Begin one with <q>Add to a change</q>: it stands where a draft is reviewed, and
        where nodes are assigned and tagged.
      </p>
    </Empty>
  );
}
