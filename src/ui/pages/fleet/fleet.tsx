/** The start page: whether the fleet is well, what has reported, who runs which version, and what happened last. */

import { useState } from 'preact/hooks';
import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { ActivityEntry, FleetSummary } from '../../types.ts';
import { ActivityTable } from './activity.tsx';
import { ConfigurationsTable } from './configurations.tsx';
import { FirstSteps, needsFirstSteps, openFirstSteps, pauseOf } from './first-steps.tsx';
import { ReportChart } from './report-chart.tsx';
import { FleetRollouts } from './rollouts.tsx';
import { Tiles } from './tiles.tsx';

/** So many entries are shown, and so many more with each click. */
const ACTIVITY_STEP = 20;

export function FleetPage() {
  const seesNodes = can('nodes.read');
  const [count, setCount] = useState(ACTIVITY_STEP);
  const summary = useResource<FleetSummary>(seesNodes ? '/fleet/summary' : null, { pause: pauseOf });
  const activity = useResource<ActivityEntry[]>(`/activity?take=${count}`);
  const hasHappened = activity.data !== null && activity.data.length > 0;
  const isNew = summary.data?.nodes === 0 && activity.data?.length === 0;
  // The list of first steps stands there instead of boxes with nothing in them.
  const isBare = summary.data?.nodes === 0 && needsFirstSteps(summary.data);
  return (
    <Page
      heading="Fleet"
      of={seesNodes ? [summary] : [activity]}
      isEmpty={isNew}
      beside={summary.data !== null && <Verdict summary={summary.data} />}
    >
      {summary.data !== null && <FirstSteps summary={summary.data} />}
      {!isBare && <Counts summary={summary.data} />}
      {(!isBare || hasHappened) && (
        <ActivityTable activity={activity} onMore={() => setCount(count + ACTIVITY_STEP)} />
      )}
    </Page>
  );
}

/** @param summary null for somebody who may not see nodes */
function Counts({ summary }: { summary: FleetSummary | null }) {
  return (
    <>
      {summary !== null && <Tiles summary={summary} />}
      {summary?.nodes === 0 && <NoNode />}
      {summary !== null && <FleetRollouts />}
      {can('reports.read-all') && <ReportChart />}
      {summary !== null && <ConfigurationsTable summary={summary} />}
    </>
  );
}

/** The answer in one line to what an operator asks first. */
function Verdict({ summary }: { summary: FleetSummary }) {
  const { nodes, byStatus, stale } = summary;
  const errors = byStatus['Error'] ?? 0;
  const drifted = byStatus['NonCompliant'] ?? 0;
  if (nodes === 0) return null;
  if (errors > 0) return <Mark word={`${countOf(errors, 'node')} in error`} tone="bad" />;
  if (drifted > 0) return <Mark word={`${countOf(drifted, 'node')} not compliant`} tone="warn" />;
  if (stale > 0) return <Mark word={`${countOf(stale, 'node')} stale`} tone="warn" />;
  return <Mark word="No node reports a fault" tone="good" />;
}

function countOf(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** There is nothing to count. The list of first steps has been closed. */
function NoNode() {
  return (
    <Empty>
      <p>
        No node has registered yet. A machine joins by one line, which comes with a registration key. What it
        should get is published under <a href={links.list('configurations')}>Configurations</a>.
      </p>
      <button type="button" onClick={openFirstSteps}>
        Show the first steps
      </button>
    </Empty>
  );
}
