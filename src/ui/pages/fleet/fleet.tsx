/** The start page: whether the fleet is well, what has reported, who runs which version, and what happened last. */

import { useState } from 'preact/hooks';
import { CopyLine } from '../../components/copy-line.tsx';
import { Empty } from '../../components/empty.tsx';
import { Mark } from '../../components/marks.tsx';
import { Page } from '../../components/page.tsx';
import { links } from '../../links.ts';
import { useResource } from '../../resource.ts';
import { can } from '../../session.ts';
import type { ActivityEntry, FleetSummary } from '../../types.ts';
import { ActivityTable } from './activity.tsx';
import { ConfigurationsTable } from './configurations.tsx';
import { ReportChart } from './report-chart.tsx';
import { FleetRollouts } from './rollouts.tsx';
import { Tiles } from './tiles.tsx';

/** So many entries are shown, and so many more with each click. */
const ACTIVITY_STEP = 20;

export function FleetPage() {
  const seesNodes = can('nodes.read');
  const [count, setCount] = useState(ACTIVITY_STEP);
  const summary = useResource<FleetSummary>(seesNodes ? '/fleet/summary' : null);
  const activity = useResource<ActivityEntry[]>(`/activity?take=${count}`);
  const isNew = summary.data?.nodes === 0 && activity.data?.length === 0;
  return (
    <Page
      heading="Fleet"
      of={seesNodes ? [summary] : [activity]}
      isEmpty={isNew}
      beside={summary.data !== null && <Verdict summary={summary.data} />}
    >
      {summary.data !== null && <Tiles summary={summary.data} />}
      {summary.data?.nodes === 0 && <FirstSteps />}
      {seesNodes && <FleetRollouts />}
      {can('reports.read-all') && <ReportChart />}
      {summary.data !== null && <ConfigurationsTable summary={summary.data} />}
      <ActivityTable activity={activity} onMore={() => setCount(count + ACTIVITY_STEP)} />
    </Page>
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

function FirstSteps() {
  return (
    <Empty>
      <p>
        No node has registered yet. A node needs a registration key, which you make under{' '}
        {can('registration-keys.manage') ? (
          <a href="/ui/registration-keys">Registration keys</a>
        ) : (
          'Registration keys'
        )}
        , and what it should get, which you publish under{' '}
        <a href={links.list('configurations')}>Configurations</a>. This line on the machine registers it and
        pulls once:
      </p>
      <CopyLine label="the line that registers a node" text="hawser-agent --config settings.json --once" />
    </Empty>
  );
}
