/** What was reported in the last 24 hours: a bar for each hour, and the same figures as a table. */

import { useId } from 'preact/hooks';
import { Num } from '../../components/num.tsx';
import { Part } from '../../components/page.tsx';
import { SimpleTable } from '../../components/table.tsx';
import { exactTime } from '../../components/time.tsx';
import { links, withQuery } from '../../links.ts';
import { useResource } from '../../resource.ts';
import type { ReportBucket } from '../../types.ts';

const HOUR = 3_600_000;
const HOURS = 24;

const SERIES = [
  { member: 'compliant', label: 'Compliant', tone: 'good' },
  { member: 'nonCompliant', label: 'NonCompliant', tone: 'warn' },
  { member: 'errors', label: 'Error', tone: 'bad' },
  { member: 'unknown', label: 'Unknown', tone: 'idle' },
] as const;

/** The path is the same for an hour, so that it is polled and not asked anew. */
function pathNow(): string {
  const end = Math.floor(Date.now() / HOUR) * HOUR + HOUR;
  const [from, to] = [end - HOURS * HOUR, end].map((time) => new Date(time).toISOString());
  return withQuery('/fleet/reports', { from, to, bucket: '01:00:00' });
}

export function ReportChart() {
  const buckets = useResource<ReportBucket[]>(pathNow());
  return (
    <Part of={buckets} heading="Reports of the last 24 hours">
      {(data) => <Chart buckets={data} />}
    </Part>
  );
}

const totalOf = (bucket: ReportBucket) => SERIES.reduce((sum, { member }) => sum + bucket[member], 0);
const HEIGHT = 120;
const STEP = 30;

function Chart({ buckets }: { buckets: readonly ReportBucket[] }) {
  const id = useId();
  const most = Math.max(1, ...buckets.map(totalOf));
  const all = SERIES.map(({ member, label, tone }) => ({
    label,
    tone,
    count: buckets.reduce((sum, bucket) => sum + bucket[member], 0),
  }));
  return (
    <div class="card chart">
      <ul class="legend" id={id}>
        {all.map(({ label, tone, count }) => (
          <li key={label} class={`legend-${tone}`}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect class={`bar-${tone}`} width="10" height="10" rx="2" />
            </svg>
            {label} <Num value={count} />
          </li>
        ))}
      </ul>
      <div class="plot">
        <span class="plot-most num" aria-hidden="true">
          {most}
        </span>
        <svg
          role="img"
          aria-label="Reports"
          aria-describedby={id}
          viewBox={`0 0 ${STEP * buckets.length} ${HEIGHT}`}
          preserveAspectRatio="none"
        >
          {buckets.map((bucket, index) => (
            <Bar key={bucket.from} bucket={bucket} x={index * STEP} most={most} />
          ))}
        </svg>
      </div>
      <p class="plot-ends muted" aria-hidden="true">
        <span>{hourOf(buckets[0]?.from)}</span>
        <span>{hourOf(buckets[Math.floor(buckets.length / 2)]?.from)}</span>
        <span>{hourOf(buckets.at(-1)?.from)}</span>
      </p>
      <details>
        <summary>Figures</summary>
        <Figures buckets={buckets} />
      </details>
    </div>
  );
}

function Bar({ bucket, x, most }: { bucket: ReportBucket; x: number; most: number }) {
  let top = HEIGHT;
  return (
    <>
      {SERIES.map(({ member, tone }) => {
        const count = bucket[member];
        if (count === 0) return null;
        // A single report among many is still seen.
        const height = Math.max(2, (count / most) * (HEIGHT - 6));
        top -= height;
        return <rect key={member} class={`bar-${tone}`} x={x + 3} y={top} width={STEP - 6} height={height} />;
      })}
    </>
  );
}

function hourOf(at: string | undefined): string {
  return at === undefined ? '' : exactTime(at).slice(5, 16);
}

function Figures({ buckets }: { buckets: readonly ReportBucket[] }) {
  return (
    <SimpleTable
      name="Reports by hour"
      rows={buckets.toReversed()}
      keyOf={({ from }) => from}
      columns={[
        {
          label: 'Hour',
          isName: true,
          cell: ({ from, to }) => <a href={links.reports({ from, to })}>{exactTime(from).slice(0, 16)}</a>,
        },
        ...SERIES.map(({ member, label }) => ({
          label,
          isNumber: true,
          cell: (bucket: ReportBucket) => <Num value={bucket[member]} />,
        })),
      ]}
    />
  );
}
