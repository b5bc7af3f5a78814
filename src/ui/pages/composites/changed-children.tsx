/** What differs between the children of two versions: those that were added, removed and modified, then the others. */

import { Mark, type Tone } from '../../components/marks.tsx';
import { Num } from '../../components/num.tsx';
import { type Column, SimpleTable } from '../../components/table.tsx';
import { links } from '../../links.ts';
import type { CompositeComparison } from '../../types.ts';
import { typedOf } from './child-fields.tsx';

type Child = CompositeComparison['children'][number];
type Side = Child['before'];

const TONES: Readonly<Record<Child['change'], Tone>> = {
  Added: 'good',
  Removed: 'bad',
  Modified: 'info',
  Unchanged: 'idle',
};

const COLUMNS: readonly Column<Child>[] = [
  {
    label: 'Configuration',
    isName: true,
    isLong: true,
    cell: ({ childConfigurationName: name }) => <a href={links.named('configurations', name)}>{name}</a>,
  },
  { label: 'Change', cell: ({ change }) => <Mark word={change} tone={TONES[change]} /> },
  { label: 'Before', cell: ({ before, after }) => <SideOf side={before} other={after} as="del" /> },
  { label: 'After', cell: ({ before, after }) => <SideOf side={after} other={before} as="ins" /> },
];

/** What is marked is what the other side has not. */
function SideOf({ side, other, as: Changed }: { side: Side; other: Side; as: 'ins' | 'del' }) {
  if (side === null) return <span class="muted">none</span>;
  const version = versionOf(side);
  const order = `order ${side.order}`;
  const isSameVersion = other !== null && versionOf(other) === version;
  const isSameOrder = other !== null && other.order === side.order;
  return (
    <span class="child-side">
      {isSameVersion ? version : <Changed>{version}</Changed>},{' '}
      {isSameOrder ? order : <Changed>{order}</Changed>}
    </span>
  );
}

function versionOf({ activeVersion, majorVersion }: NonNullable<Side>): string {
  const typed = typedOf({ activeVersion, majorVersion: majorVersion ?? null });
  return activeVersion ?? `follows ${typed}`.trim();
}

export function ChangedChildren({ comparison }: { comparison: CompositeComparison }) {
  const { from, children, entryPoint } = comparison;
  const changed = children.filter(({ change }) => change !== 'Unchanged');
  const same = children.filter(({ change }) => change === 'Unchanged');
  return (
    <>
      <p>
        {from === null ? (
          'There is no version below, so all children are new.'
        ) : (
          <>
            Children compared with {from.version}: <Totals changed={changed} />
          </>
        )}
      </p>
      <EntryPoint {...entryPoint} />
      {changed.length > 0 && <Table name="Children" rows={changed} />}
      {same.length > 0 && (
        <details>
          <summary>
            <Num value={same.length} /> {same.length === 1 ? 'child is' : 'children are'} the same
          </summary>
          <Table name="Unchanged children" rows={same} />
        </details>
      )}
    </>
  );
}

function Table({ name, rows }: { name: string; rows: readonly Child[] }) {
  return (
    <SimpleTable
      name={name}
      rows={rows}
      columns={COLUMNS}
      keyOf={({ childConfigurationName }) => childConfigurationName}
    />
  );
}

function Totals({ changed }: { changed: readonly Child[] }) {
  if (changed.length === 0) return <>they are the same.</>;
  const kinds = (['Added', 'Removed', 'Modified'] as const).flatMap((kind) => {
    const count = changed.filter(({ change }) => change === kind).length;
    return count === 0 ? [] : [`${count} ${kind.toLowerCase()}`];
  });
  return <>{kinds.join(', ')}.</>;
}

function EntryPoint({ before, after }: CompositeComparison['entryPoint']) {
  return (
    <dl class="facts">
      <dt>Entry point</dt>
      <dd>
        {before === null || before === after ? (
          <code>{after}</code>
        ) : (
          <>
            <del>{before}</del> <ins>{after}</ins>
          </>
        )}
      </dd>
    </dl>
  );
}
