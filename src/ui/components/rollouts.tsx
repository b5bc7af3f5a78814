/** Rollouts in a table: those of one configuration or composite, or those of the whole fleet. */

import { apiOf, type Kind, links, withQuery } from '../links.ts';
import { useResource } from '../resource.ts';
import { ringText } from '../rollouts.ts';
import { can } from '../session.ts';
import type { Rollout } from '../types.ts';
import { Mark } from './marks.tsx';
import { Num } from './num.tsx';
import { type Column, SimpleTable } from './table.tsx';
import { Time } from './time.tsx';

const COLUMNS: readonly Column<Rollout>[] = [
  { label: 'State', cell: ({ state }) => <Mark word={state} /> },
  { label: 'Step', isLong: true, cell: stepText },
  { label: 'Taken', isNumber: true, cell: (rollout) => <Figure rollout={rollout} member="taken" /> },
  {
    label: 'Regression',
    isNumber: true,
    cell: (rollout) => <Figure rollout={rollout} member="regression" />,
  },
  {
    label: 'Started',
    cell: ({ createdAt, createdBy }) => (
      <>
        <Time at={createdAt} /> <span class="muted">by {createdBy}</span>
      </>
    ),
  },
];

/** @param isNamed if true, each row says of what the rollout is */
export function RolloutsTable({ rollouts, isNamed }: { rollouts: readonly Rollout[]; isNamed: boolean }) {
  const name: Column<Rollout> = {
    label: isNamed ? 'Name' : 'Version',
    isName: true,
    cell: ({ configurationName, isComposite, key }) => (
      <a href={links.rollout(isComposite ? 'composites' : 'configurations', configurationName, key)}>
        {isNamed && `${configurationName} `}
        {key}
      </a>
    ),
  };
  return (
    <SimpleTable
      name="Rollouts"
      rows={rollouts}
      keyOf={({ configurationName, isComposite, key }) => `${isComposite} ${configurationName} ${key}`}
      columns={[name, ...COLUMNS]}
    />
  );
}

function stepText({ step, steps }: Rollout): string {
  const newest = steps[step];
  return `${step + 1} of ${steps.length}${newest === undefined ? '' : `, ${ringText(newest)}`}`;
}

function Figure({ rollout: { step, steps }, member }: { rollout: Rollout; member: 'taken' | 'regression' }) {
  return <Num value={steps[step]?.counts[member] ?? 0} />;
}

/** So many are shown on the page of a configuration. */
const SHOWN = 20;

/** The newest rollouts of a configuration or composite; left out where there are none, or where they may not be seen. */
export function RolloutsPart({ kind, name }: { kind: Kind; name: string }) {
  const path = withQuery(apiOf(kind, name, 'rollouts'), { take: SHOWN });
  const { data, total } = useResource<Rollout[]>(can('nodes.read') ? path : null);
  if (data === null || data.length === 0) return null;
  return (
    <section class="part">
      <h2>Rollouts</h2>
      <RolloutsTable rollouts={data} isNamed={false} />
      {total !== null && total > data.length && (
        <p class="hint">
          The newest {data.length} of {total} rollouts are shown. Git has them all.
        </p>
      )}
    </section>
  );
}
