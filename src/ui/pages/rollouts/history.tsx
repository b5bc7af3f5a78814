/** Who moved a rollout, when and why: one row for each commit of its branch, the oldest first. */

import { SimpleTable } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { barsOf, type Counts, deedsDone } from '../../rollouts.ts';
import type { Rollout } from '../../types.ts';

export function HistoryPart({ rollout: { history } }: { rollout: Rollout }) {
  const done = deedsDone(history);
  const rows = history.map((entry, at) => ({ ...entry, place: String(at), deed: done[at] }));
  return (
    <section class="part">
      <h2>History</h2>
      <SimpleTable
        name="History"
        rows={rows}
        keyOf={({ place }) => place}
        columns={[
          { label: 'What', isName: true, cell: ({ deed }) => deed },
          { label: 'When', cell: ({ at }) => <Time at={at} exact /> },
          { label: 'Who', cell: ({ actorName }) => actorName },
          { label: 'Why', isLong: true, cell: ({ reason }) => reason },
          { label: 'Nodes', isLong: true, cell: ({ counts }) => countsText(counts) },
        ]}
      />
    </section>
  );
}

/** Only what there is any of. */
function countsText(counts: Counts): string {
  const some = barsOf(counts).filter(({ count }) => count > 0);
  return some.map(({ label, count }) => `${label} ${count}`).join(', ');
}
